import LoadingKitPrimitives

/// What a message begins with (RFC 9113 §8.3).
public enum HTTP2Head: Sendable {
    case request(HTTP2RequestHead)
    /// Interim where the status is below 200.
    case response(status: Int, HTTPFields)
}

/// The head of a request.
public struct HTTP2RequestHead: Sendable, Equatable {
    /// The method, `:method`.
    public var method: String
    /// Nil for CONNECT.
    public var scheme: String?
    /// Host and port, `:authority`.
    public var authority: String?
    /// Nil for CONNECT.
    public var path: String?
    /// Of extended CONNECT (RFC 8441).
    public var `protocol`: String?
    /// The other fields.
    public var fields: HTTPFields

    /// A head of these parts.
    public init(
        method: String, scheme: String?, authority: String?, path: String?, protocol: String? = nil,
        fields: HTTPFields = HTTPFields()
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.protocol = `protocol`
        self.fields = fields
    }
}
