/// How TLS connections are made.
package struct TLSOptions: Sendable, Hashable {
    /// Which authorities are trusted.
    package enum TrustRoots: Sendable, Hashable {
        /// The system's; `SSL_CERT_FILE` and `SSL_CERT_DIR` are respected.
        case system
        /// Those in a PEM file, instead of the system's.
        case file(path: String)
        /// Those in PEM text, instead of the system's.
        case pem([UInt8])
    }

    package static let tls12: UInt16 = 0x0303
    package static let tls13: UInt16 = 0x0304

    /// The oldest version that is used, by its number on the wire.
    package var minimumVersion = tls12
    /// The newest version that is used.
    package var maximumVersion = tls13
    /// Whether the peer's certificate and name are verified. When not, ``TLSInfo/certificateFailure`` says what was found.
    package var verifiesPeer = true
    package var trustRoots = TrustRoots.system
    /// Authorities that are trusted besides those, as PEM text.
    package var additionalRoots: [UInt8] = []
    /// The application protocols that are offered, the most wanted first.
    package var alpn: [String] = []
    /// Whether cipher suites are offered only whose keys nobody can find out later who learns the server's.
    package var requiresForwardSecrecy = true
    /// Whether the server's certificate has to have an RSA key of at least 2048 bits or an elliptic one of at least 256,
    /// and a signature with SHA-256 or better.
    package var requiresStrongCertificates = true
    /// A file to which the connections' keys are appended, for tools that decrypt captures. `nil`: the file that the
    /// environment variable `SSLKEYLOGFILE` names, if any.
    package var keyLogFile: String?

    package init() {}
}
