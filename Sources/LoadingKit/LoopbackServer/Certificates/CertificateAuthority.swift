/// A certificate authority made on the spot (EC P-256), to sign what loopback servers show. It lives in memory only.
package struct CertificateAuthority: Sendable {
    /// This authority's own certificate: what a client has to trust, where it is a root.
    package let certificatePEM: String
    private let privateKeyPEM: String
    /// The certificates that a leaf must carry along for a client that trusts only the root: empty for a root.
    private let intermediatesPEM: String

    /// Makes a root, which signs itself.
    package init(_ template: CertificateTemplate = Self.authorityTemplate("LoadingKit Loopback CA"))
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

    /// What an authority's certificate says unless a test wants otherwise.
    package static func authorityTemplate(_ commonName: String) -> CertificateTemplate {
        CertificateTemplate(
            commonName: commonName, dnsNames: [], ipAddresses: [], usage: .authority(pathLength: nil))
    }

    package func certificateDER() throws(OpenSSLError) -> [UInt8] {
        try Certificate.first(inPEM: certificatePEM).der()
    }

    /// Signs a leaf. Its chain holds the intermediates between it and the root.
    package func issue(_ template: CertificateTemplate = .init()) throws(OpenSSLError) -> ServerIdentity {
        let signed = try sign(template)
        return ServerIdentity(
            certificatePEM: signed.certificatePEM + intermediatesPEM, privateKeyPEM: signed.privateKeyPEM)
    }

    /// An authority that this one signed: what it issues carries its certificate along.
    package func intermediate(
        _ template: CertificateTemplate = Self.authorityTemplate("LoadingKit Loopback Intermediate CA")
    ) throws(OpenSSLError) -> CertificateAuthority {
        let signed = try sign(template)
        return CertificateAuthority(
            certificatePEM: signed.certificatePEM, privateKeyPEM: signed.privateKeyPEM,
            intermediatesPEM: signed.certificatePEM + intermediatesPEM)
    }

    private func sign(_ template: CertificateTemplate) throws(OpenSSLError) -> ServerIdentity {
        let issuer = CertificateBuilder.Issuer(
            certificate: try Certificate.first(inPEM: certificatePEM), key: try PrivateKey(pem: privateKeyPEM))
        let key = try PrivateKey(template.key)
        let certificate = try CertificateBuilder(template: template).build(key: key, issuer: issuer)
        return ServerIdentity(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pem())
    }
}
