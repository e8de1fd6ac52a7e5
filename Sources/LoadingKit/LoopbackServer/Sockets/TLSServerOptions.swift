/// How a loopback server does TLS.
package struct TLSServerOptions: Sendable, Equatable {
    package var identity: ServerIdentity
    /// What ALPN may choose, in the server's order of preference. Empty: the extension is ignored. Where the client
    /// offers none of them, the handshake fails (RFC 7301 §3.2).
    package var applicationProtocols: [String]
    /// Whether the handshake goes on without a protocol instead, as with many a server.
    package var ignoresOtherProtocols = false
    package var minimumVersion: TLSVersion = .v1_2
    package var maximumVersion: TLSVersion = .v1_3
    /// Whether sessions may be resumed: tickets are sent.
    package var allowsResumption = true
    /// Authorities whose client certificates are accepted, PEM. Empty: none is asked for.
    package var clientAuthoritiesPEM: [String] = []
    /// Whether a client without a certificate is turned away, where one is asked for.
    package var requiresClientCertificate = false

    /// The cipher suites of TLS 1.2 and before, in OpenSSL's names. Nil: its own choice.
    package var cipherSuites: String?

    package init(_ identity: ServerIdentity, applicationProtocols: [String] = ["http/1.1"]) {
        self.identity = identity
        self.applicationProtocols = applicationProtocols
    }
}
