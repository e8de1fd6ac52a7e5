// HTTPFields and KnownField are part of this module's API.
@_exported import LoadingKitPrimitives

/// A decoded header list: the pseudo-header fields, and the others in order.
///
/// Names and values, also those of the pseudo-header fields, are ranges of the bytes of ``fields``.
public struct HPACKHeaderList: Sendable {
    /// Where a name or value is in the bytes of the fields.
    struct Slice: Sendable {
        var offset: UInt32
        var length: UInt32

        var range: Range<Int> { Int(offset)..<Int(offset) + Int(length) }
    }

    /// The fields that are not pseudo-header fields, in order, duplicates included.
    public internal(set) var fields = HTTPFields()

    var pseudoFields = PseudoSlices()
    /// Fields of all kinds, those left out included.
    var fieldCount = 0
    /// Whether there was a field that is no pseudo-header field, which may have been left out.
    var hasRegularField = false

    /// What is wrong with the list; empty when nothing is.
    public internal(set) var malformation: HPACKMalformation = []

    /// Whether the list is larger than ``HPACKLimits`` allow. The fields that were too many are left out then: a
    /// stream error, or status 431 (RFC 9113 §10.5.1). The decoder can go on.
    public internal(set) var exceedsLimits = false

    /// The list's size: the bytes of all names and values, and 32 for each field (RFC 9113 §6.5.2). Fields left out
    /// count.
    public internal(set) var uncompressedBytes = 0

    /// An empty list, to decode into.
    public init() {}

    /// The value of a pseudo-header field, or nil when there is none; the first value when there are several.
    public subscript(_ name: HPACKPseudoFieldName) -> String? {
        withBytes(of: name) { $0.map(FieldText.string) }
    }

    /// Whether there is a pseudo-header field of that name.
    public func contains(_ name: HPACKPseudoFieldName) -> Bool { pseudoFields[name] != nil }

    /// Whether there is any pseudo-header field of a name known here.
    public var hasPseudoFields: Bool { pseudoFields[.status] != nil || pseudoFields.hasRequests }

    /// Whether there is any pseudo-header field of a request.
    package var hasRequestPseudoFields: Bool { pseudoFields.hasRequests }

    /// Calls `body` with the bytes of the value of a pseudo-header field, or with nil when there is none.
    ///
    /// The memory is valid until `body` returns.
    public func withBytes<R>(
        of name: HPACKPseudoFieldName, _ body: (UnsafeRawBufferPointer?) throws -> R
    ) rethrows -> R {
        guard let slice = pseudoFields[name] else { return try body(nil) }
        return try fields.withEntries { try body(UnsafeRawBufferPointer(rebasing: $1[slice.range])) }
    }

    /// The status, or nil when there is no `:status` of three digits, the first of which is not 0.
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

    /// `:method`, or nil.
    public var method: String? { self[.method] }
    /// `:scheme`, or nil.
    public var scheme: String? { self[.scheme] }
    /// `:authority`, or nil.
    public var authority: String? { self[.authority] }
    /// `:path`, or nil.
    public var path: String? { self[.path] }
    /// `:protocol`, or nil.
    public var `protocol`: String? { self[.protocol] }
}

extension HPACKHeaderList {
    /// A place in the bytes for each pseudo-header field.
    struct PseudoSlices: Sendable {
        private var method: Slice?
        private var scheme: Slice?
        private var authority: Slice?
        private var path: Slice?
        private var `protocol`: Slice?
        private var status: Slice?

        /// Whether there is any but `:status`.
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

/// What makes a header list malformed (RFC 9113 §8.1.1) as far as a list alone shows it.
///
/// A malformed list is a stream error, of type PROTOCOL_ERROR. The decoder goes on, as its dynamic table must.
public struct HPACKMalformation: OptionSet, Sendable, Hashable {
    /// A bit for each kind, which may change from release to release.
    public let rawValue: UInt16

    /// The kinds of these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A name has a capital letter (RFC 9113 §8.2).
    public static let uppercaseName = HPACKMalformation(rawValue: 1 << 0)
    /// A name is empty, or has a byte that is no byte of a token (RFC 9113 §8.2.1, RFC 9110 §5.1).
    public static let invalidName = HPACKMalformation(rawValue: 1 << 1)
    /// A value has NUL, CR, LF or another control character, except HTAB (RFC 9113 §8.2.1, RFC 9110 §5.5).
    public static let invalidValue = HPACKMalformation(rawValue: 1 << 2)
    /// A value begins or ends with a space or HTAB (RFC 9113 §8.2.1).
    public static let whitespaceAroundValue = HPACKMalformation(rawValue: 1 << 3)
    /// A pseudo-header field comes after a regular one (RFC 9113 §8.3).
    public static let misplacedPseudoField = HPACKMalformation(rawValue: 1 << 4)
    /// A pseudo-header field that no specification known here defines (RFC 9113 §8.3).
    public static let unknownPseudoField = HPACKMalformation(rawValue: 1 << 5)
    /// A pseudo-header field comes twice (RFC 9113 §8.3).
    public static let duplicatePseudoField = HPACKMalformation(rawValue: 1 << 6)
    /// `Connection`, `Proxy-Connection`, `Keep-Alive`, `Transfer-Encoding`, `Upgrade`, or a `TE` other than `trailers`
    /// (RFC 9113 §8.2.2).
    public static let connectionSpecificField = HPACKMalformation(rawValue: 1 << 7)
}
