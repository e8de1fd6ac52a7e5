/// Sizes of TLS records, in bytes (RFC 8446 §5).
enum TLSRecord {
    static let longestContent = 16_384
    /// With the header, and with what any cipher adds.
    static let longest = 5 + longestContent + 256
}
