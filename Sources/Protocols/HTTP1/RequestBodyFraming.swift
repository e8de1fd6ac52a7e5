/// How a request's body is sent (RFC 9112 §6.3).
public enum RequestBodyFraming: Sendable, Equatable {
    /// No body, and no field that says so. For methods that usually have one, send `.length(0)` (RFC 9110 §8.6).
    case none
    /// A body of this many bytes, with `Content-Length`.
    case length(UInt64)
    /// A body in chunks, with `Transfer-Encoding: chunked`, for a length not known before.
    case chunked
}
