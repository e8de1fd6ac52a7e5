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
    /// `:protocol`, of extended CONNECT.
    case `protocol`
    /// `:status`
    case status

    /// The name with its colon, for example `:method`.
    public var name: String { staticName.description }

    var nameBytes: UnsafeRawBufferPointer {
        let name = staticName
        return UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
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

    /// The pseudo-header field of that name, or nil.
    init?(nameBytes bytes: UnsafeRawBufferPointer) {
        guard let match = Self.allCases.first(where: { $0.nameBytes.elementsEqual(bytes) }) else { return nil }
        self = match
    }
}
