/// The content codings that LoadingKit supports.
public enum ContentCoding: String, Sendable, CaseIterable {
    /// RFC 1952.
    case gzip
    /// zlib's format (RFC 1950), or raw deflate (RFC 1951), which some servers send under this name.
    case deflate
    /// RFC 7932. Decoded if the package trait `Brotli` is on.
    case brotli = "br"
    /// RFC 8878, with windows of at most 8 MiB (RFC 9659). Decoded if the package trait `Zstd` is on.
    case zstd

    /// `x-gzip` means gzip (RFC 9110 §8.4.1.3).
    init?(token: Substring) {
        let name = token.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}
