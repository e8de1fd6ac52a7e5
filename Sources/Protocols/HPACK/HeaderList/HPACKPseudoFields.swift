import LoadingKitPrimitives

/// The pseudo-header fields of a message to encode. Use the function that names the kind of message.
public struct HPACKPseudoFields: Sendable, Equatable {
    // Single properties, as an array would have to be allocated for each message.
    private var status: String?
    private var method: String?
    private var `protocol`: String?
    private var scheme: String?
    private var authority: String?
    private var path: String?

    /// Calls `body` with each name and value, in the order in which they are encoded.
    @inline(__always)
    func forEach(_ body: (HPACKPseudoFieldName, String) -> Void) {
        if let status { body(.status, status) }
        if let method { body(.method, method) }
        if let `protocol` { body(.protocol, `protocol`) }
        if let scheme { body(.scheme, scheme) }
        if let authority { body(.authority, authority) }
        if let path { body(.path, path) }
    }

    /// No fields, for a trailer section (RFC 9113 §8.1).
    public static let none = HPACKPseudoFields()

    /// The fields of a request (RFC 9113 §8.3.1). `protocol` is only for extended CONNECT (RFC 8441 §4).
    public static func request(
        method: String, scheme: String, authority: String?, path: String, protocol: String? = nil
    ) -> HPACKPseudoFields {
        HPACKPseudoFields(
            method: method, protocol: `protocol`, scheme: scheme, authority: authority, path: path)
    }

    /// The fields of a CONNECT request for a tunnel to `authority`, which is `host:port` (RFC 9113 §8.5).
    public static func connect(authority: String) -> HPACKPseudoFields {
        HPACKPseudoFields(method: "CONNECT", authority: authority)
    }

    /// The field of a response, with a status of three digits (RFC 9113 §8.3.2).
    public static func response(status: Int) -> HPACKPseudoFields { HPACKPseudoFields(status: String(status)) }
}

/// The pseudo-header fields of requests (RFC 9113 §8.3.1, RFC 8441 §4) and of responses (RFC 9113 §8.3.2).
public enum HPACKPseudoFieldName: UInt8, Sendable, CaseIterable {
    /// `:method`
    case method
    /// `:scheme`
    case scheme
    /// `:authority`
    case authority
    /// `:path`
    case path
    /// `:protocol` of extended CONNECT.
    case `protocol`
    /// `:status`
    case status

    /// The name with its colon, for example `:method`.
    public var name: String { staticName.description }

    var nameBytes: UnsafeRawBufferPointer {
        staticName.bytes
    }

    private var staticName: StaticString {
        switch self {
        case .method: ":method"
        case .scheme: ":scheme"
        case .authority: ":authority"
        case .path: ":path"
        case .protocol: ":protocol"
        case .status: ":status"
        }
    }

    /// The pseudo-header field with this name; nil if there is none.
    init?(nameBytes bytes: UnsafeRawBufferPointer) {
        guard let match = Self.allCases.first(where: { Bytes.areEqual(bytes, $0.nameBytes) }) else { return nil }
        self = match
    }
}
