import Glibc

/// What a certificate shall say. The defaults make one that a client accepts for `localhost` and the loopback addresses.
package struct CertificateTemplate: Sendable {
    /// What the key may be used for (RFC 5280 §4.2.1.9 and §4.2.1.12).
    package enum Usage: Sendable, Equatable {
        case server
        case client
        /// May sign certificates; `pathLength` bounds how many authorities may follow below it.
        case authority(pathLength: Int?)
        /// No usage extensions at all, and no basic constraints.
        case unspecified
    }

    /// The certificate's key.
    package enum Key: Sendable, Equatable {
        case p256, p224
        case rsa(bits: Int)
    }

    /// What the certificate is signed with.
    package enum Digest: Sendable, Equatable {
        case sha256, sha224
    }

    package var key = Key.p256
    package var digest = Digest.sha256
    package var commonName: String
    /// DNS names of the subject alternative name, as bytes go on the wire: wildcards, upper case and NUL are kept.
    package var dnsNames: [String]
    /// IP addresses of the subject alternative name, as text.
    package var ipAddresses: [String]
    /// Seconds since 1970. An hour ago when made.
    package var notBefore: Int
    /// Seconds since 1970. In thirty days when made.
    package var notAfter: Int
    package var usage: Usage
    /// What an authority may issue certificates for (RFC 5280 §4.2.1.10), as OpenSSL writes it: `permitted;DNS:a.test`.
    package var nameConstraints: String?
    /// Whether an authority's basic constraints are marked so, as RFC 5280 §4.2.1.9 asks, and older ones' are not.
    package var hasCriticalBasicConstraints = true

    package init(
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
    package static func names(_ names: String...) -> CertificateTemplate {
        CertificateTemplate(commonName: names.first ?? "localhost", dnsNames: names, ipAddresses: [])
    }

    /// Ended yesterday.
    package static var expired: CertificateTemplate {
        let now = time(nil)
        return CertificateTemplate(notBefore: now &- 30 * 86400, notAfter: now &- 86400)
    }

    /// Begins tomorrow.
    package static var notYetValid: CertificateTemplate {
        let now = time(nil)
        return CertificateTemplate(notBefore: now &+ 86400, notAfter: now &+ 30 * 86400)
    }

    /// A certificate for a client to identify itself with.
    package static func client(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(commonName: commonName, dnsNames: [], ipAddresses: [], usage: .client)
    }
}
