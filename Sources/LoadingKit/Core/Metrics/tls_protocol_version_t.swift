/// A version of TLS or DTLS, with the number that it has on the wire.
public enum tls_protocol_version_t: UInt16, Sendable {
    /// TLS 1.0 (RFC 2246).
    case TLSv10 = 0x0301
    /// TLS 1.1 (RFC 4346).
    case TLSv11 = 0x0302
    /// TLS 1.2 (RFC 5246).
    case TLSv12 = 0x0303
    /// TLS 1.3 (RFC 8446).
    case TLSv13 = 0x0304
    /// DTLS 1.0 (RFC 4347).
    case DTLSv10 = 0xfeff
    /// DTLS 1.2 (RFC 6347).
    case DTLSv12 = 0xfefd
}
