import LoadingKitPrimitives

/// The request line and fields of a request (RFC 9112 §3).
public struct RequestHead: Sendable {
    /// The version that the client speaks.
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

    /// The method, for example `GET`; its case counts.
    public var method: String { methodText.string }

    /// The request target as it was sent: a path with its query, an absolute URL, `host:port` or `*` (RFC 9112 §3.2).
    public var target: String { targetText.string }
}

extension RequestHead: Equatable {
    /// Whether method, target, version and fields are the same, in the same order.
    public static func == (a: RequestHead, b: RequestHead) -> Bool {
        a.version == b.version && a.methodText == b.methodText && a.targetText == b.targetText && a.fields == b.fields
    }
}
