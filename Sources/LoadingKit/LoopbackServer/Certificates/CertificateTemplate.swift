import Glibc

/// The content of a certificate to be made. With the defaults, clients accept the certificate for `localhost` and the
/// loopback addresses.
public struct CertificateTemplate: Sendable {
    /// The permitted usage of the key (RFC 5280 §4.2.1.9 and §4.2.1.12).
    public enum Usage: Sendable, Equatable {
        case server
        case client
        /// May sign OCSP responses about the certificates of its own issuer (RFC 6960 §4.2.2.2).
        case ocspResponder
        /// May sign certificates; `pathLength` limits the number of authorities below it.
        case authority(pathLength: Int?)
        /// No usage extensions at all, and no basic constraints.
        case unspecified
    }

    /// The certificate's key.
    public enum Key: Sendable, Equatable {
        case p256, p224
        case rsa(bits: Int)
    }

    /// The digest of the certificate's signature.
    public enum Digest: Sendable, Equatable {
        case sha256, sha224
    }

    /// EC P-256 by default.
    public var key = Key.p256
    /// SHA-256 by default.
    public var digest = Digest.sha256
    /// The subject's common name, which clients do not compare with the host.
    public var commonName: String
    /// DNS names of the subject alternative name, exactly as they are encoded: wildcards, upper case and NUL are kept.
    public var dnsNames: [String]
    /// IP addresses of the subject alternative name, as text.
    public var ipAddresses: [String]
    /// Seconds since 1970. Default: an hour before the template was made.
    public var notBefore: Int
    /// Seconds since 1970. Default: thirty days after the template was made.
    public var notAfter: Int
    /// The usage of the key; a server by default.
    public var usage: Usage
    /// The names for which an authority may issue certificates (RFC 5280 §4.2.1.10), in OpenSSL's form:
    /// `permitted;DNS:a.test`.
    public var nameConstraints: String?
    /// Whether a server has to prove in each handshake that its certificate is not revoked (must-staple, RFC 7633).
    public var demandsStatus = false
    /// Whether an authority's basic constraints are marked as critical. RFC 5280 §4.2.1.9 requires it; some older
    /// authorities' are not.
    public var hasCriticalBasicConstraints = true

    /// A server's certificate for `localhost`, `127.0.0.1` and `::1` by default.
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

    /// A server certificate for these DNS names only.
    public static func names(_ names: String...) -> CertificateTemplate {
        CertificateTemplate(commonName: names.first ?? "localhost", dnsNames: names, ipAddresses: [])
    }

    /// A certificate that expired yesterday.
    public static var expired: CertificateTemplate {
        let now = time(nil)
        return CertificateTemplate(notBefore: now &- 30 * 86400, notAfter: now &- 86400)
    }

    /// A certificate that becomes valid tomorrow.
    public static var notYetValid: CertificateTemplate {
        let now = time(nil)
        return CertificateTemplate(notBefore: now &+ 86400, notAfter: now &+ 30 * 86400)
    }

    /// A certificate that identifies a client.
    public static func client(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(commonName: commonName, dnsNames: [], ipAddresses: [], usage: .client)
    }
}
