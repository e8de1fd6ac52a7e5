import CLoadingKitOpenSSL

/// OpenSSL's settings for a server's connections. They are immutable, so threads may share them.
package final class TLSServerContext: @unchecked Sendable {  // immutable; OpenSSL guards the session cache inside
    package let pointer: OpaquePointer
    /// ALPN's list in its wire format: each name preceded by its length. OpenSSL points into it.
    private let applicationProtocols: UnsafeMutableBufferPointer<UInt8>
    private let ignoresOtherProtocols: Bool
    private let stapledResponse: [UInt8]?

    package init(_ options: TLSServerOptions) throws(OpenSSLError) {
        pointer = try required(SSL_CTX_new(TLS_server_method()), "making a TLS context")
        ignoresOtherProtocols = options.ignoresOtherProtocols
        stapledResponse = options.stapledResponse
        let list = try ALPN.encode(options.applicationProtocols)
        applicationProtocols = .allocate(capacity: list.count)
        _ = applicationProtocols.initialize(from: list)
        try setVersions(options)
        try setIdentity(options.identity)
        try setClientAuthorities(options)
        setResumption(options)
        if stapledResponse != nil {
            _ = lk_SSL_CTX_set_tlsext_status_cb(pointer, giveStaple)
            _ = SSL_CTX_ctrl(
                pointer, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB_ARG, 0, Unmanaged.passUnretained(self).toOpaque())
        }
        if !applicationProtocols.isEmpty {
            SSL_CTX_set_alpn_select_cb(
                pointer, chooseApplicationProtocol, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    deinit {
        SSL_CTX_free(pointer)
        applicationProtocols.deallocate()
    }

    private func setVersions(_ options: TLSServerOptions) throws(OpenSSLError) {
        for (command, version) in [
            (SSL_CTRL_SET_MIN_PROTO_VERSION, options.minimumVersion),
            (SSL_CTRL_SET_MAX_PROTO_VERSION, options.maximumVersion),
        ] {
            let result = SSL_CTX_ctrl(pointer, command, Int(version.rawValue), nil)
            try check(Int32(truncatingIfNeeded: result), "setting \(version)")
        }
        // OpenSSL's default security level refuses the signatures of the old versions' handshakes.
        if options.minimumVersion.rawValue < TLSVersion.v1_2.rawValue { SSL_CTX_set_security_level(pointer, 0) }
        if let list = options.cipherSuites {
            try check(SSL_CTX_set_cipher_list(pointer, list), "choosing cipher suites")
        }
    }

    private func setIdentity(_ identity: ServerIdentity) throws(OpenSSLError) {
        let chain = try ParsedCertificate.all(inPEM: identity.certificatePEM)
        try Self.present(identity, in: pointer)
        for certificate in chain.dropFirst() {
            // With 1 as the last argument the context takes its own reference.
            let added = SSL_CTX_ctrl(pointer, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate.pointer))
            try check(Int32(truncatingIfNeeded: added), "adding an intermediate certificate")
        }
    }

    /// Sets the identity's own certificate and its key.
    package static func present(_ identity: ServerIdentity, in context: OpaquePointer) throws(OpenSSLError) {
        let leaf = try ParsedCertificate.first(inPEM: identity.certificatePEM)
        try check(SSL_CTX_use_certificate(context, leaf.pointer), "setting the certificate")
        let key = try PrivateKey(pem: identity.privateKeyPEM)
        try check(SSL_CTX_use_PrivateKey(context, key.pointer), "setting the private key")
        try check(SSL_CTX_check_private_key(context), "matching the private key to its certificate")
    }

    private func setClientAuthorities(_ options: TLSServerOptions) throws(OpenSSLError) {
        guard !options.clientAuthoritiesPEM.isEmpty else { return }
        for text in options.clientAuthoritiesPEM {
            let authority = try ParsedCertificate.first(inPEM: text)
            try check(X509_STORE_add_cert(SSL_CTX_get_cert_store(pointer), authority.pointer), "trusting an authority")
            try check(SSL_CTX_add_client_CA(pointer, authority.pointer), "naming an authority")
        }
        let requires = options.requiresClientCertificate ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | requires, nil)
    }

    private func setResumption(_ options: TLSServerOptions) {
        // Sessions with client certificates are only resumed under a context name.
        let name = Array("loopback".utf8)
        SSL_CTX_set_session_id_context(pointer, name, UInt32(name.count))
        guard !options.allowsResumption else { return }
        _ = SSL_CTX_ctrl(pointer, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        // OpenSSL's SSL_OP_NO_TICKET, a macro that Swift does not import.
        _ = SSL_CTX_set_options(pointer, UInt64(1) << 14)
        SSL_CTX_set_num_tickets(pointer, 0)
    }

    /// OpenSSL frees the bytes.
    fileprivate func staple(to ssl: OpaquePointer) -> Int32 {
        guard let stapledResponse, let copy = CRYPTO_malloc(stapledResponse.count, nil, 0) else {
            return SSL_TLSEXT_ERR_NOACK
        }
        copy.copyMemory(from: stapledResponse, byteCount: stapledResponse.count)
        _ = SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_STATUS_REQ_OCSP_RESP, stapledResponse.count, copy)
        return SSL_TLSEXT_ERR_OK
    }

    /// Selects the first of the server's protocols that the client offers.
    fileprivate func choose(
        from offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
        _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>, _ chosenCount: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        var choice: UnsafeMutablePointer<UInt8>?
        let result = SSL_select_next_proto(
            &choice, chosenCount, applicationProtocols.baseAddress, UInt32(applicationProtocols.count), offered,
            offeredCount)
        guard result == OPENSSL_NPN_NEGOTIATED else {
            return ignoresOtherProtocols ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_ALERT_FATAL
        }
        chosen.pointee = UnsafePointer(choice)
        return SSL_TLSEXT_ERR_OK
    }
}

private func giveStaple(_ ssl: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    guard let ssl, let argument else { return SSL_TLSEXT_ERR_NOACK }
    return Unmanaged<TLSServerContext>.fromOpaque(argument).takeUnretainedValue().staple(to: ssl)
}

private func chooseApplicationProtocol(
    _: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let argument, let chosen, let chosenCount else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let context = Unmanaged<TLSServerContext>.fromOpaque(argument).takeUnretainedValue()
    return context.choose(from: offered, offeredCount, chosen, chosenCount)
}

/// The TLS options of a loopback server.
public struct TLSServerOptions: Sendable, Equatable {
    /// The server's certificates and key.
    public var identity: ServerIdentity
    /// The protocols that ALPN may select, in the server's order of preference. Empty: the extension is ignored. Where
    /// the client offers none of them, the handshake fails (RFC 7301 §3.2).
    public var applicationProtocols: [String]
    /// Whether the handshake continues without a protocol instead, as with many servers.
    public var ignoresOtherProtocols = false
    /// The oldest TLS version; TLS 1.2 by default.
    public var minimumVersion: TLSVersion = .v1_2
    /// The newest TLS version; TLS 1.3 by default.
    public var maximumVersion: TLSVersion = .v1_3
    /// Whether sessions may be resumed: tickets are sent.
    public var allowsResumption = true
    /// Authorities whose client certificates are accepted, PEM. Empty: no certificate is requested.
    public var clientAuthoritiesPEM: [String] = []
    /// Whether a client without a certificate is refused, where one is requested.
    public var requiresClientCertificate = false
    /// The OCSP response that clients get with the certificate, in DER (RFC 6066 §8). Nil: none.
    public var stapledResponse: [UInt8]?

    /// The cipher suites up to TLS 1.2, in OpenSSL's names. Nil: OpenSSL's defaults.
    public var cipherSuites: String?

    /// TLS with this identity. ALPN selects from the protocols: HTTP/1.1 only by default, `h2` where it is listed.
    public init(_ identity: ServerIdentity, applicationProtocols: [String] = ["http/1.1"]) {
        self.identity = identity
        self.applicationProtocols = applicationProtocols
    }
}

/// The TLS versions that a loopback server supports, with their numbers in the protocol. The two old versions exist for
/// tests of their refusal.
public enum TLSVersion: UInt16, Sendable, CaseIterable {
    case v1_0 = 0x301
    case v1_1 = 0x302
    case v1_2 = 0x303
    case v1_3 = 0x304
}

/// ALPN's lists of protocol names (RFC 7301 §3.1): each name preceded by one byte with its length.
package enum ALPN {
    package static func encode(_ names: [String]) throws(OpenSSLError) -> [UInt8] {
        var list: [UInt8] = []
        for name in names {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else {
                throw OpenSSLError("setting ALPN", reason: "\"\(name)\" is not 1 to 255 bytes long")
            }
            list.append(count)
            list += name.utf8
        }
        return list
    }
}
