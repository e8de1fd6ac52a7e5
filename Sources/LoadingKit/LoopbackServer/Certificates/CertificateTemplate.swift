import Glibc

/// The content of a certificate to be made. The defaults make one that a client accepts for `localhost` and the loopback addresses.
public struct CertificateTemplate: Sendable {
    /// What the key may be used for (RFC 5280 §4.2.1.9 and §4.2.1.12).
    public enum Usage: Sendable, Equatable {
        case server
        case client
        /// May sign OCSP responses about the certificates of its own issuer (RFC 6960 §4.2.2.2).
        case ocspResponder
        /// May sign certificates; `pathLength` bounds how many authorities may follow below it.
        case authority(pathLength: Int?)
        /// No usage extensions at all, and no basic constraints.
        case unspecified
    }

    /// The certificate's key.
    public enum Key: Sendable, Equatable {
        case p256, p224
        case rsa(bits: Int)
    }

    /// What the certificate is signed with.
    public enum Digest: Sendable, Equatable {
        case sha256, sha224
    }

    /// EC P-256 by default.
    public var key = Key.p256
    /// SHA-256 by default.
    public var digest = Digest.sha256
    /// The subject's common name, which clients do not compare with the host.
    public var commonName: String
    /// DNS names of the subject alternative name, as bytes go on the wire: wildcards, upper case and NUL are kept.
    public var dnsNames: [String]
    /// IP addresses of the subject alternative name, as text.
    public var ipAddresses: [String]
    /// Seconds since 1970. An hour ago when made.
    public var notBefore: Int
    /// Seconds since 1970. In thirty days when made.
    public var notAfter: Int
    /// What the key is for; a server by default.
    public var usage: Usage
    /// What an authority may issue certificates for (RFC 5280 §4.2.1.10), as OpenSSL writes it: `permitted;DNS:a.test`.
    public var nameConstraints: String?
    /// Whether a server has to prove in each handshake that its certificate was not revoked (must-staple, RFC 7633).
    public var demandsStatus = false
    /// Whether an authority's basic constraints are marked so, as RFC 5280 §4.2.1.9 asks, and older ones' are not.
    public var hasCriticalBasicConstraints = true

    /// A server's certificate for `localhost`, `127.0.0.1` and `::1`, where nothing else is given.
    public init(
        commonName: String = "localhost", dnsNames: [String] = ["localhost"],
        ipAddresses: [String] = ["127.0.0.1", "::1"], notBefore: Int? = nil, notAfter: Int? = nil,
        usage: Usage = .server
    ) {
        let now = time(nil)
        self.commonName = commonName
        self.dnsNames = dnsNames
        self.ipAddresses = ipAddresses
        self.notBefore = notBefore ?? now &- 3600
        self.notAfter = notAfter ?? now &+ 30 * 86400
        self.usage = usage
    }

    /// A server certificate for these DNS names alone.
    public static func names(_ names: String...) -> CertificateTemplate {
        CertificateTemplate(commonName: names.first ?? "localhost", dnsNames: names, ipAddresses: [])
    }

    /// Ended yesterday.
    public static var expired: CertificateTemplate {
        let now = time(nil)
        return CertificateTemplate(notBefore: now &- 30 * 86400, notAfter: now &- 86400)
    }

    /// Begins tomorrow.
    public static var notYetValid: CertificateTemplate {
        let now = time(nil)
        return CertificateTemplate(notBefore: now &+ 86400, notAfter: now &+ 30 * 86400)
    }

    /// A certificate for a service that signs an authority's OCSP responses for it.
    public static func ocspResponder(notBefore: Int? = nil, notAfter: Int? = nil) -> CertificateTemplate {
        CertificateTemplate(
            commonName: "LoadingKit Loopback OCSP", dnsNames: [], ipAddresses: [], notBefore: notBefore,
            notAfter: notAfter, usage: .ocspResponder)
    }

    /// A certificate for a client to identify itself with.
    public static func client(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(commonName: commonName, dnsNames: [], ipAddresses: [], usage: .client)
    }
}
