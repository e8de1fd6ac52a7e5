/// The options of TLS connections.
package struct TLSOptions: Sendable, Hashable {
    package enum TrustRoots: Sendable, Hashable {
        /// The system's authorities, or those that the environment names instead.
        case system
        /// The authorities in a PEM file, instead of the system's.
        case file(path: String)
        /// The authorities in PEM text, instead of the system's.
        case pem([UInt8])
    }

    package static let tls12: UInt16 = 0x0303
    package static let tls13: UInt16 = 0x0304

    /// The oldest version that is used, as its number on the wire.
    package var minimumVersion = tls12
    /// The newest version that is used.
    package var maximumVersion = tls13
    /// Whether the peer is verified. If not, ``TLSInfo/certificateFailure`` contains the result.
    package var verifiesPeer = true
    package var trustRoots = TrustRoots.system
    /// Authorities that are trusted in addition, as PEM text.
    package var additionalRoots: [UInt8] = []
    package var revocationLists: [RevocationListSource] = []
    /// Public keys, one of which the peer must have; nil for any.
    package var pins: PublicKeyPins?
    /// The application protocols that are offered, the preferred first.
    package var alpn: [String] = []
    /// The cipher suites of TLS 1.2 and earlier that are offered, in OpenSSL's notation; nil: OpenSSL's own.
    package var cipherList: String?
    /// The cipher suites of TLS 1.3 that are offered, in OpenSSL's notation; nil: OpenSSL's own.
    package var cipherSuites: String?
    /// Whether only cipher suites with forward secrecy are offered: if a server's key becomes known later, recorded
    /// connections remain secret.
    package var requiresForwardSecrecy = true
    /// Whether the server's certificate must have an RSA key of at least 2048 bits or an elliptic-curve key of at least
    /// 256, and a signature with SHA-256 or better.
    package var requiresStrongCertificates = true
    /// The program's environment variables for trust and keys.
    package var environment = TLSEnvironment.ofProcess

    package init() {}
}
