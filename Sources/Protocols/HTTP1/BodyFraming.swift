/// How the end of a message's body is found (RFC 9112 §6.3).
public enum BodyFraming: Sendable, Equatable {
    /// There is no body.
    case none
    /// The body has this many bytes, as `Content-Length` says; it may be 0.
    case length(UInt64)
    /// The body comes in chunks, of which the last is empty (RFC 9112 §7.1).
    case chunked
    /// The body ends when the peer closes the connection. Responses only.
    case untilClose
}
