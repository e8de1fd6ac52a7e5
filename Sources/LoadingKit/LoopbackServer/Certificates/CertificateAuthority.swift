/// A certificate authority (EC P-256) that is made on demand, to sign the certificates of loopback servers. It is in
/// memory only.
public struct CertificateAuthority: Sendable {
    /// This authority's own certificate. A client has to trust it where it is a root.
    public let certificatePEM: String
    package let privateKeyPEM: String
    /// The certificates that a leaf must include for a client that trusts only the root; empty for a root.
    private let intermediatesPEM: String

    /// Makes a root with a self-signed certificate.
    public init(_ template: CertificateTemplate = Self.authorityTemplate("LoadingKit Loopback CA"))
        throws(OpenSSLError)
    {
        let root = try ServerIdentity.selfSigned(template)
        self.init(certificatePEM: root.certificatePEM, privateKeyPEM: root.privateKeyPEM, intermediatesPEM: "")
    }

    private init(certificatePEM: String, privateKeyPEM: String, intermediatesPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
        self.intermediatesPEM = intermediatesPEM
    }

    /// The default template of an authority's certificate.
    public static func authorityTemplate(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(
            commonName: commonName, dnsNames: [], ipAddresses: [], usage: .authority(pathLength: nil))
    }

    /// This authority's own certificate, in DER.
    public func certificateDER() throws(OpenSSLError) -> [UInt8] {
        try ParsedCertificate.first(inPEM: certificatePEM).der()
    }

    /// Signs a leaf. Its chain includes the intermediates between it and the root.
    public func issue(_ template: CertificateTemplate = .init()) throws(OpenSSLError) -> ServerIdentity {
        let signed = try ServerIdentity(template, issuer: self)
        return ServerIdentity(
            certificatePEM: signed.certificatePEM + intermediatesPEM, privateKeyPEM: signed.privateKeyPEM)
    }

    /// An authority with a certificate that this one has signed. The chains of its leaves include that certificate.
    public func intermediate(
        _ template: CertificateTemplate = Self.authorityTemplate("LoadingKit Loopback Intermediate CA")
    ) throws(OpenSSLError) -> CertificateAuthority {
        let signed = try ServerIdentity(template, issuer: self)
        return CertificateAuthority(
            certificatePEM: signed.certificatePEM, privateKeyPEM: signed.privateKeyPEM,
            intermediatesPEM: signed.certificatePEM + intermediatesPEM)
    }
}

/// A certificate with its chain, and its private key: the identity of a server or a client.
public struct ServerIdentity: Sendable, Equatable {
    /// The leaf first, then its intermediates; the root is left out.
    public var certificatePEM: String
    /// The leaf's key, PKCS #8 in PEM.
    public var privateKeyPEM: String

    /// Makes an identity from existing PEM texts.
    public init(certificatePEM: String, privateKeyPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// The chain's certificates in DER, the leaf first.
    public func certificatesDER() throws(OpenSSLError) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        for certificate in try ParsedCertificate.all(inPEM: certificatePEM) { chain.append(try certificate.der()) }
        return chain
    }

    /// A certificate that no authority signed.
    public static func selfSigned(_ template: CertificateTemplate = .init()) throws(OpenSSLError) -> ServerIdentity {
        try ServerIdentity(template, issuer: nil)
    }

    /// A certificate that the authority, or nobody, signs, without the authority's own.
    fileprivate init(_ template: CertificateTemplate, issuer: CertificateAuthority?) throws(OpenSSLError) {
        let issuer = try issuer.map { authority throws(OpenSSLError) in
            CertificateBuilder.Issuer(
                certificate: try ParsedCertificate.first(inPEM: authority.certificatePEM),
                key: try PrivateKey(pem: authority.privateKeyPEM))
        }
        let key = try PrivateKey(template.key)
        let certificate = try CertificateBuilder(template: template).build(key: key, issuer: issuer)
        self.init(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pem())
    }
}
