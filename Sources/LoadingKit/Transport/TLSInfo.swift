/// What a TLS handshake agreed on.
package struct TLSInfo: Sendable, Hashable {
    /// The protocol's number on the wire: 0x0303 is TLS 1.2, 0x0304 is TLS 1.3.
    package var protocolVersion: UInt16
    /// The cipher suite's number on the wire.
    package var cipherSuite: UInt16
    /// The cipher suite's IANA name.
    package var cipherSuiteName: String
    /// The application protocol that was chosen by ALPN, when one was.
    package var alpn: String?
    /// Whether an earlier session was continued, without certificates on the wire.
    package var wasResumed: Bool
    /// The peer's certificates, its own first.
    package var peerCertificates: [Certificate]
    /// Why the certificate would not have been trusted, when the options said not to verify it.
    package var certificateFailure: CertificateFailure?
}
