/// The content codings that are built in.
public enum ContentCoding: String, Sendable {
    /// RFC 1952.
    case gzip
    /// zlib's format (RFC 1950), and raw deflate (RFC 1951), which some servers mean by it.
    case deflate

    /// `x-gzip` is gzip (RFC 9110 §8.4.1.3).
    init?(token: Substring) {
        switch token.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        default: return nil
        }
    }
}
