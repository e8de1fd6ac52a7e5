import CLoadingKitOpenSSL
import LoadingKitPrimitives

/// OpenSSL's settings for the tests' own plain client, which tests a server without the library under test.
package final class TLSClientContext: @unchecked Sendable {  // immutable but for the session, which the mutex guards
    let pointer: OpaquePointer
    /// Whether the certificate must be valid for the requested server name.
    let checksName: Bool
    /// The last connection's session, which the next connection can resume.
    private let session = Guarded(Session(pointer: nil))

    /// Trusts only these authorities (PEM); without any, every certificate. Presents `identity` on request.
    package init(
        trusting authoritiesPEM: [String], applicationProtocols: [String] = ["http/1.1"],
        identity: ServerIdentity? = nil,
        checksName: Bool = false
    ) throws(OpenSSLError) {
        self.checksName = checksName
        pointer = try required(SSL_CTX_new(TLS_client_method()), "making a TLS context")
        for text in authoritiesPEM {
            let authority = try Certificate.first(inPEM: text)
            try check(X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), authority.pointer), "trusting an authority")
        }
        SSL_CTX_set_verify(pointer, authoritiesPEM.isEmpty ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        if let identity { try show(identity) }
        let list = try ALPN.encode(applicationProtocols)
        guard list.isEmpty || SSL_CTX_set_alpn_protos(pointer, list, UInt32(list.count)) == 0 else {
            throw OpenSSLError("setting ALPN")
        }
    }

    deinit {
        keepSession(nil)
        SSL_CTX_free(pointer)
    }

    /// Lets this connection resume the last one's session.
    func offerSession(to connection: OpaquePointer) {
        session.withLock { session in
            if let pointer = session.pointer { SSL_set_session(connection, pointer) }
        }
    }

    /// Takes ownership of the reference, for the next connection.
    func keepSession(_ pointer: OpaquePointer?) {
        session.withLock { session in
            SSL_SESSION_free(session.pointer)
            session.pointer = pointer
        }
    }

    private struct Session: @unchecked Sendable {  // the mutex it lives in guards it
        var pointer: OpaquePointer?
    }

    private func show(_ identity: ServerIdentity) throws(OpenSSLError) {
        let leaf = try Certificate.first(inPEM: identity.certificatePEM)
        try check(SSL_CTX_use_certificate(pointer, leaf.pointer), "setting the certificate")
        let key = try PrivateKey(pem: identity.privateKeyPEM)
        try check(SSL_CTX_use_PrivateKey(pointer, key.pointer), "setting the private key")
    }
}
