// HTTPFields and KnownField are part of this module's API.
@_exported import LoadingKitPrimitives

/// A request's pseudo-header fields and fields (RFC 9113 §8.3.1).
public struct HTTP2RequestHead: Sendable, Equatable {
    /// `:method`, for example `GET`.
    public var method: String
    /// `:scheme`; nil for CONNECT alone.
    public var scheme: String?
    /// `:authority`: host and port.
    public var authority: String?
    /// `:path` with the query, or `*`; nil for CONNECT alone.
    public var path: String?
    /// `:protocol` of extended CONNECT (RFC 8441), for example `websocket`.
    public var connectProtocol: String?
    /// The other fields. Those that describe an HTTP/1.1 connection are not allowed, `Host` is.
    public var fields: HTTPFields

    /// Makes a head.
    public init(
        method: String, scheme: String?, authority: String?, path: String?, connectProtocol: String? = nil,
        fields: HTTPFields = HTTPFields()
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.connectProtocol = connectProtocol
        self.fields = fields
    }
}

/// The header fields that begin, interrupt or end a message (RFC 9113 §8).
public enum HTTP2Head: Sendable, Equatable {
    /// A request's.
    case request(HTTP2RequestHead)
    /// An interim (1xx) response's; another follows.
    case interim(status: Int, HTTPFields)
    /// The final response's.
    case response(status: Int, HTTPFields)
    /// Trailer fields; the stream ends with them.
    case trailers(HTTPFields)
}
