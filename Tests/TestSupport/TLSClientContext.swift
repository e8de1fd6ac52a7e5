import CLoadingKitOpenSSL
import LoadingKitLoopbackServer
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
            let authority = try ParsedCertificate.first(inPEM: text)
            try check(X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), authority.pointer), "trusting an authority")
        }
        SSL_CTX_set_verify(pointer, authoritiesPEM.isEmpty ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        if let identity { try TLSServerContext.present(identity, in: pointer) }
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
}

extension StreamSocket {
    /// Performs the client's side of a handshake, blocking.
    package func startTLS(_ context: TLSClientContext, serverName: String?) throws {
        try startTLS(context.pointer) { connection in
            if let serverName { Self.set(serverName, isChecked: context.checksName, on: connection) }
            context.offerSession(to: connection)
            return SSL_connect(connection)
        } release: { connection in
            // TLS 1.3 sends its tickets after the handshake: the session is complete only now.
            context.keepSession(SSL_get1_session(connection))
            SSL_free(connection)
        }
    }

    private static func set(_ serverName: String, isChecked: Bool, on connection: OpaquePointer) {
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), serverName) == 1
        if !isAddress {
            var name = Array(serverName.utf8CString)
            _ = SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        if !isChecked {
            X509_VERIFY_PARAM_set1_ip(SSL_get0_param(connection), nil, 0)
        } else if !isAddress {
            SSL_set1_host(connection, serverName)
        }
    }

    /// Requests the client's certificate, after the handshake (RFC 8446 §4.6.2). It precedes the client's subsequent
    /// bytes. Any certificate is accepted.
    package func requestCertificate() throws {
        if let connection = openSSLConnection { try Self.requestCertificate(on: connection) }
    }

    /// The same, on the TLS connection inside which this one runs.
    package func requestCertificateOutside() throws {
        guard let connection = openSSLConnection, let link = SSL_get_rbio(connection) else { return }
        var carrier: OpaquePointer?
        withUnsafeMutableBytes(of: &carrier) { _ = BIO_ctrl(link, Int32(BIO_C_GET_SSL), 0, $0.baseAddress) }
        if let carrier { try Self.requestCertificate(on: carrier) }
    }

    private static func requestCertificate(on connection: OpaquePointer) throws {
        SSL_set_verify(connection, SSL_VERIFY_PEER) { _, _ in 1 }
        ERR_clear_error()
        try check(SSL_verify_client_post_handshake(connection), "asking for a certificate")
        try check(SSL_do_handshake(connection), "asking for a certificate")
    }

    /// Waits for the client's answer to the request. Other bytes from the client also end the wait.
    package func awaitCertificate() {
        guard let connection = openSSLConnection else { return }
        // A read then returns after a record that is not application data.
        _ = SSL_ctrl(connection, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        defer { _ = SSL_ctrl(connection, SSL_CTRL_MODE, Int(SSL_MODE_AUTO_RETRY), nil) }
        var byte: UInt8 = 0
        var count = 0
        ERR_clear_error()
        SSL_peek_ex(connection, &byte, 1, &count)
        ERR_clear_error()
    }

    /// The common name in the certificate that a TLS client has presented up to now.
    package var peerCommonName: String? {
        guard let connection = openSSLConnection, let shown = SSL_get0_peer_certificate(connection),
            let subject = X509_get_subject_name(shown)
        else { return nil }
        var text = [CChar](repeating: 0, count: 256)
        guard X509_NAME_get_text_by_NID(subject, NID_commonName, &text, Int32(text.count)) >= 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
