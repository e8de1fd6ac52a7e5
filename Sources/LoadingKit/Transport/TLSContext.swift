import CLoadingKitOpenSSL
import CLoadingKitOpenSSLStart
import CLoadingKitShims

/// What TLS connections of the same options share: the trusted authorities, and sessions to continue.
package final class TLSContext: @unchecked Sendable {  // OpenSSL locks an SSL_CTX; `sessions` has a lock
    package let options: TLSOptions
    let context: OpaquePointer
    let sessions = TLSSessionStore()
    let keyLog: KeyLog?

    package init(_ options: TLSOptions) throws(TransportError) {
        lk_openssl_start()
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw Self.misconfigured(OpenSSLError.text()) }
        self.context = context
        self.options = options
        keyLog = KeyLog.open(options.keyLogFile)
        try setUp()
    }

    deinit { SSL_CTX_free(context) }

    static func misconfigured(_ text: String) -> TransportError { TransportError(.tls, "TLS", .configuration(text)) }

    /// The authorities that its connections trust.
    var anchors: TrustAnchors {
        get throws(TransportError) {
            // A context that verifies nothing has not read the system's.
            if options.trustRoots == .system, !options.verifiesPeer { return try TrustAnchors.system() }
            guard let anchors = TrustAnchors(sharing: SSL_CTX_get_cert_store(context)) else {
                throw Self.misconfigured("no trust store")
            }
            return anchors
        }
    }

    /// OpenSSL's measure of the weakest algorithms that it lets pass.
    var securityLevel: Int32 { SSL_CTX_get_security_level(context) }

    /// The same where there is no connection: what the system's configuration says.
    static let defaultSecurityLevel: Int32 = {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return 2 }
        defer { SSL_CTX_free(context) }
        return SSL_CTX_get_security_level(context)
    }()

    private func setUp() throws(TransportError) {
        guard lk_SSL_CTX_set_min_proto_version(context, Int32(options.minimumVersion)) == 1,
            lk_SSL_CTX_set_max_proto_version(context, Int32(options.maximumVersion)) == 1,
            options.minimumVersion <= options.maximumVersion
        else { throw Self.misconfigured("the TLS versions asked for cannot be used") }
        let modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
        _ = lk_SSL_CTX_set_mode(context, Int(modes))
        // A server that starts anew in the middle is refused, as HTTP/2 demands (RFC 9113 §9.2.1).
        SSL_CTX_set_options(context, lk_SSL_OP_NO_RENEGOTIATION)
        // Several records with one call, where the socket has them.
        lk_SSL_CTX_set_read_ahead(context, 1)
        SSL_CTX_set_default_read_buffer_len(context, 32_768)
        try setUpALPN()
        try TrustStore.install(options, in: context)
        if options.requiresForwardSecrecy, !ForwardSecrecy.require(in: context) {
            throw Self.misconfigured("no cipher suite with forward secrecy can be used (\(OpenSSLError.text()))")
        }
        // The callback says yes where the options say not to verify.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, verifyPeer, nil)
        SSL_CTX_set_cert_cb(context, provideCertificate, nil)
        lk_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(context, keepSession)
        if keyLog != nil { SSL_CTX_set_keylog_callback(context, logKeys) }
    }

    /// RFC 7301 §3.1: each name with its length in a byte before it.
    private func setUpALPN() throws(TransportError) {
        guard !options.alpn.isEmpty else { return }
        var wire: [UInt8] = []
        for name in options.alpn {
            guard let length = UInt8(exactly: name.utf8.count), length > 0 else {
                throw Self.misconfigured("an application protocol's name has 1 to 255 bytes, unlike “\(name)”")
            }
            wire.append(length)
            wire += name.utf8
        }
        // The list's length has two bytes.
        guard let count = UInt16(exactly: wire.count).map(UInt32.init),
            SSL_CTX_set_alpn_protos(context, wire, count) == 0
        else {
            throw Self.misconfigured("the application protocols' names are too long")
        }
    }
}

// MARK: - What OpenSSL calls

/// The connection that OpenSSL calls for.
private func session(of ssl: OpaquePointer?) -> TLSSession? {
    guard let ssl, let pointer = SSL_get_ex_data(ssl, 0) else { return nil }
    return Unmanaged<TLSSession>.fromOpaque(pointer).takeUnretainedValue()
}

private func verifyPeer(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, index).map({ OpaquePointer($0) }),
        let session = session(of: ssl)
    else { return 0 }
    switch session.verify(store) {
    case .yes: return 1
    case .no: return 0
    case .later: return lk_SSL_set_retry_verify(ssl)
    }
}

private func provideCertificate(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let session = session(of: ssl) else { return 1 }
    switch session.provideCertificate() {
    case .yes: return 1
    case .no: return 0
    case .later: return -1
    }
}

private func keepSession(_ ssl: OpaquePointer?, _ resumable: OpaquePointer?) -> Int32 {
    guard let resumable, let session = session(of: ssl) else { return 0 }
    session.keep(resumable)
    return 1  // the reference is ours now
}

private func logKeys(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let line else { return }
    session(of: ssl)?.context.keyLog?.append(String(cString: line))
}
