/// What a TLS handshake agreed.
package struct TLSFacts: Sendable, Equatable {
    /// The server name that the client asked for (RFC 6066 §3).
    package var serverName: String?
    /// The protocol chosen by ALPN.
    package var applicationProtocol: String?
    /// Whether an earlier session was resumed.
    package var isResumed: Bool
    /// Such as `TLSv1.3`.
    package var version: String
    /// The certificate that the peer showed, in DER.
    package var peerCertificateDER: [UInt8]?
}
