// HTTPFields and KnownField are part of this module's API.
@_exported import LoadingKitPrimitives

/// A decoded header list: the pseudo-header fields, and the other fields in order.
///
/// Names and values, including those of the pseudo-header fields, are ranges of the bytes of ``fields``.
public struct HPACKHeaderList: Sendable {
    /// The range of a name or value in the bytes of the fields.
    struct Slice: Sendable {
        var offset: UInt32
        var length: UInt32

        var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
    }

    /// The fields that are not pseudo-header fields, in order, duplicates included.
    public internal(set) var fields = HTTPFields()

    var pseudoFields = PseudoSlices()
    /// The number of fields of all kinds, including those left out.
    var fieldCount = 0
    /// Whether there was a field that is not a pseudo-header field. It may have been left out.
    var hasRegularField = false

    /// The errors of the list; empty if there are none.
    public internal(set) var malformation: HPACKMalformation = []

    /// Whether the list exceeds ``HPACKLimits``. The fields beyond the limits are left out. The receiver should treat
    /// this as a stream error, or respond with status 431 (RFC 9113 §10.5.1). The decoder can continue.
    public internal(set) var exceedsLimits = false

    /// The list's size in bytes: all names and values, and 32 for each field (RFC 9113 §6.5.2). Fields that are left
    /// out count.
    public internal(set) var uncompressedBytes = 0

    /// An empty list, to decode into.
    public init() {}

    /// The value of a pseudo-header field; nil if there is none; the first value if there are several.
    public subscript(_ name: HPACKPseudoFieldName) -> String? {
        withBytes(of: name) { $0.map(FieldText.string) }
    }

    /// Whether there is a pseudo-header field with this name.
    public func contains(_ name: HPACKPseudoFieldName) -> Bool { pseudoFields[name] != nil }

    /// Whether there is any known pseudo-header field.
    public var hasPseudoFields: Bool { pseudoFields[.status] != nil || pseudoFields.hasRequests }

    /// Whether there is any pseudo-header field of a request.
    package var hasRequestPseudoFields: Bool { pseudoFields.hasRequests }

    /// Calls `body` with the bytes of the value of a pseudo-header field, or with nil if there is none.
    ///
    /// The memory is valid until `body` returns.
    public func withBytes<R>(
        of name: HPACKPseudoFieldName, _ body: (UnsafeRawBufferPointer?) throws -> R
    ) rethrows -> R {
        guard let slice = pseudoFields[name] else { return try body(nil) }
        return try fields.withEntries { try body(UnsafeRawBufferPointer(rebasing: $1[slice.range])) }
    }

    /// The status; nil unless `:status` has three digits, the first of which is not 0.
    public var status: Int? {
        withBytes(of: .status) { bytes in
            guard let bytes, bytes.count == 3 else { return nil }
            var status = 0
            for byte in bytes {
                guard byte &- UInt8(ascii: "0") <= 9 else { return nil }
                status = status * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return status >= 100 ? status : nil
        }
    }

    /// `:method`; nil if there is none.
    public var method: String? { self[.method] }
    /// `:scheme`; nil if there is none.
    public var scheme: String? { self[.scheme] }
    /// `:authority`; nil if there is none.
    public var authority: String? { self[.authority] }
    /// `:path`; nil if there is none.
    public var path: String? { self[.path] }
    /// `:protocol`; nil if there is none.
    public var `protocol`: String? { self[.protocol] }
}

extension HPACKHeaderList {
    /// The range of each pseudo-header field's value in the bytes.
    struct PseudoSlices: Sendable {
        private var method: Slice?
        private var scheme: Slice?
        private var authority: Slice?
        private var path: Slice?
        private var `protocol`: Slice?
        private var status: Slice?

        /// Whether there is any pseudo-header field other than `:status`.
        var hasRequests: Bool {
            method != nil || scheme != nil || authority != nil || path != nil || `protocol` != nil
        }

        subscript(name: HPACKPseudoFieldName) -> Slice? {
            get {
                switch name {
                case .method: method
                case .scheme: scheme
                case .authority: authority
                case .path: path
                case .protocol: `protocol`
                case .status: status
                }
            }
            set {
                switch name {
                case .method: method = newValue
                case .scheme: scheme = newValue
                case .authority: authority = newValue
                case .path: path = newValue
                case .protocol: `protocol` = newValue
                case .status: status = newValue
                }
            }
        }
    }
}

/// The errors that make a header list malformed (RFC 9113 §8.1.1), as far as the list alone shows them.
///
/// A malformed list is a stream error of type PROTOCOL_ERROR. The decoder continues, as its dynamic table must stay up
/// to date.
public struct HPACKMalformation: OptionSet, Sendable, Hashable {
    /// One bit for each kind. The bits may change between releases.
    public let rawValue: UInt16

    /// The kinds with these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A name contains a capital letter (RFC 9113 §8.2).
    public static let uppercaseName = HPACKMalformation(rawValue: 1 << 0)
    /// A name is empty, or contains a byte that is not allowed in a token (RFC 9113 §8.2.1, RFC 9110 §5.1).
    public static let invalidName = HPACKMalformation(rawValue: 1 << 1)
    /// A value contains NUL, CR, LF or another control character, except HTAB (RFC 9113 §8.2.1, RFC 9110 §5.5).
    public static let invalidValue = HPACKMalformation(rawValue: 1 << 2)
    /// A value begins or ends with a space or HTAB (RFC 9113 §8.2.1).
    public static let whitespaceAroundValue = HPACKMalformation(rawValue: 1 << 3)
    /// A pseudo-header field follows a regular one (RFC 9113 §8.3).
    public static let misplacedPseudoField = HPACKMalformation(rawValue: 1 << 4)
    /// A pseudo-header field is not defined by any specification known here (RFC 9113 §8.3).
    public static let unknownPseudoField = HPACKMalformation(rawValue: 1 << 5)
    /// A pseudo-header field occurs twice (RFC 9113 §8.3).
    public static let duplicatePseudoField = HPACKMalformation(rawValue: 1 << 6)
    /// `Connection`, `Proxy-Connection`, `Keep-Alive`, `Transfer-Encoding`, `Upgrade`, or a `TE` other than `trailers`
    /// (RFC 9113 §8.2.2).
    public static let connectionSpecificField = HPACKMalformation(rawValue: 1 << 7)
}
