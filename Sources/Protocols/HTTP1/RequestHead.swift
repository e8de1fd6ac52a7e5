// HTTPFields and KnownField are part of this module's API.
@_exported import LoadingKitPrimitives

/// The request line and fields of a request (RFC 9112 §3).
public struct RequestHead: Sendable {
    /// The client's version.
    public var version: HTTPVersion
    /// The header fields, in order.
    public var fields: HTTPFields

    private let methodText: HeadText
    private let targetText: HeadText

    /// Makes a head, for ``RequestWriter`` and for tests.
    public init(version: HTTPVersion = .http1_1, method: String, target: String, fields: HTTPFields = HTTPFields()) {
        self.init(version: version, methodText: HeadText(method), targetText: HeadText(target), fields: fields)
    }

    init(version: HTTPVersion, methodText: HeadText, targetText: HeadText, fields: HTTPFields) {
        self.version = version
        self.methodText = methodText
        self.targetText = targetText
        self.fields = fields
    }

    /// The method, for example `GET`. It is case-sensitive.
    public var method: String { methodText.string }

    /// The request target in its sent form: a path with its query, an absolute URL, `host:port` or `*` (RFC 9112 §3.2).
    public var target: String { targetText.string }
}

extension RequestHead: Equatable {
    /// Whether method, target, version and fields are the same, in the same order.
    public static func == (a: RequestHead, b: RequestHead) -> Bool {
        a.version == b.version && a.methodText == b.methodText && a.targetText == b.targetText && a.fields == b.fields
    }
}

/// The version in a message's first line (RFC 9112 §2.3).
public struct HTTPVersion: Sendable, Hashable {
    /// The number before the dot.
    public var major: UInt8
    /// The number after the dot.
    public var minor: UInt8

    /// Makes a version from its two numbers.
    @inlinable
    public init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    /// HTTP/1.0.
    public static let http1_0 = HTTPVersion(major: 1, minor: 0)
    /// HTTP/1.1.
    public static let http1_1 = HTTPVersion(major: 1, minor: 1)
    /// HTTP/2, whose messages have no such line.
    public static let http2 = HTTPVersion(major: 2, minor: 0)
}

extension HTTPVersion: CustomStringConvertible {
    /// The version in the form of a start line: `HTTP/1.1`.
    public var description: String { "HTTP/\(major).\(minor)" }
}

/// A piece of a message's first line: a range of the head's bytes, which it shares with the head's fields. It is
/// converted to a `String` on access.
@usableFromInline
struct HeadText: Sendable, Equatable {
    /// The head that contains the bytes.
    private let fields: HTTPFields
    private let start: UInt32
    private let count: UInt32

    /// The bytes of `range`. Its bounds fit 32 bits, as no head is longer.
    @usableFromInline
    init(of fields: HTTPFields, _ range: Range<Int>) {
        let range = range.clamped(to: 0..<fields.byteCount)
        self.fields = fields
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.count)
    }

    init(_ text: String) {
        var (text, fields) = (text, HTTPFields())
        // Empty text, as in every HTTP/2 message, needs no memory.
        if !text.isEmpty { text.withUTF8 { fields.append(bytes: UnsafeRawBufferPointer($0)) } }
        self.init(of: fields, 0..<fields.byteCount)
    }

    var string: String { withBytes { FieldText.string($0) } }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        fields.withEntries { body(UnsafeRawBufferPointer(rebasing: $1[Int(start)..<Int(start) + Int(count)])) }
    }

    @usableFromInline
    static func == (a: HeadText, b: HeadText) -> Bool {
        a.withBytes { a in b.withBytes { b in Bytes.areEqual(a, b) } }
    }
}
