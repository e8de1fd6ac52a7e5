/// A certificate with its chain, and the key that goes with it: what a server (or a client) identifies itself with.
package struct ServerIdentity: Sendable, Equatable {
    /// The leaf first, then its intermediates; the root is left out.
    package var certificatePEM: String
    package var privateKeyPEM: String

    package init(certificatePEM: String, privateKeyPEM: String) {
        self.certificatePEM = certificatePEM
        self.privateKeyPEM = privateKeyPEM
    }

    /// The chain's certificates in DER, the leaf first.
    package func certificatesDER() throws(OpenSSLError) -> [[UInt8]] {
        var chain: [[UInt8]] = []
        for certificate in try Certificate.all(inPEM: certificatePEM) { chain.append(try certificate.der()) }
        return chain
    }

    /// A certificate that no authority signed.
    package static func selfSigned(_ template: CertificateTemplate = .init()) throws(OpenSSLError) -> ServerIdentity {
        let key = try PrivateKey(template.key)
        let certificate = try CertificateBuilder(template: template).build(key: key, issuer: nil)
        return ServerIdentity(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pem())
    }
}
