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
