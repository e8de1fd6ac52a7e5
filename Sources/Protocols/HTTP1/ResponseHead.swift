import LoadingKitPrimitives

/// The status line and fields of a response (RFC 9112 §4).
public struct ResponseHead: Sendable {
    /// The version that the server speaks.
    public var version: HTTPVersion
    /// The status code, 100 to 999.
    public var status: Int
    /// The header fields, in order.
    public var fields: HTTPFields

    @usableFromInline let reasonText: Reason

    /// Makes a head, for ``ResponseWriter`` and for tests.
    public init(version: HTTPVersion = .http1_1, status: Int, reason: String = "", fields: HTTPFields = HTTPFields()) {
        self.init(version: version, status: status, reasonText: Reason(reason), fields: fields)
    }

    /// A head that has been read.
    @inlinable
    @inline(__always)
    init(_ line: StartLine, _ fields: HTTPFields) {
        self.init(
            version: line.version, status: line.status, reasonText: Reason(line, of: fields), fields: fields)
    }

    @inlinable
    @inline(__always)
    init(version: HTTPVersion, status: Int, reasonText: Reason, fields: HTTPFields) {
        self.version = version
        self.status = status
        self.reasonText = reasonText
        self.fields = fields
    }

    /// The text after the status code; often empty, and without meaning to a program.
    public var reason: String { reasonText.string }
}

extension ResponseHead: Equatable {
    /// Whether version, status, reason and fields are the same, in the same order.
    public static func == (a: ResponseHead, b: ResponseHead) -> Bool {
        a.version == b.version && a.status == b.status && a.reason == b.reason && a.fields == b.fields
    }
}
