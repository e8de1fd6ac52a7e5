import CLoadingKitOpenSSL
import CLoadingKitOpenSSLStart
import CLoadingKitShims
import Glibc

/// The state that TLS connections with the same options share: the trusted authorities, and sessions for resumption.
package final class TLSContext: @unchecked Sendable {  // OpenSSL locks an SSL_CTX; `sessions` has a lock
    package let options: TLSOptions
    let context: OpaquePointer
    let sessions = TLSSessionStore()
    let keyLog: KeyLog?
    /// Lists of revoked certificates; nil if there are none.
    let lists: RevocationLists?
    /// The files of the lists, with the lists that were read from each.
    private let listFiles: [(file: RevocationListFile, lists: RevocationLists)]
    /// The authorities that were read from files; nil if there are none.
    private var shared: TrustAnchors?

    package init(_ options: TLSOptions) throws(TransportError) {
        lk_openssl_start()
        var listFiles: [(file: RevocationListFile, lists: RevocationLists)] = []
        for case .file(let path) in options.revocationLists {
            let file = try RevocationListFile.read(path)
            listFiles.append((file, file.lists))
        }
        self.listFiles = listFiles
        lists = options.revocationLists.isEmpty ? nil : try RevocationLists(options.revocationLists)
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw TransportError.misconfiguredTLS(OpenSSLError.text())
        }
        // Such a context lacks algorithms, for all its connections.
        guard !OpenSSLError.isLackOfMemory else {
            SSL_CTX_free(context)
            throw TransportError.misconfiguredTLS(OpenSSLError.text())
        }
        self.context = context
        self.options = options
        keyLog = KeyLog.open(options.environment.keyLogFile)
        // From here on `deinit` frees the context if this fails.
        try setUp()
    }

    deinit { SSL_CTX_free(context) }

    /// Whether a new context with the same options would trust the same authorities, and have the same lists of revoked
    /// certificates. New connections use no other: neither its authorities nor its TLS sessions apply any more.
    package var isCurrent: Bool {
        guard listFiles.allSatisfy({ $0.file.lists === $0.lists }) else { return false }
        guard let shared, let source = options.trustSource else { return true }
        return (try? SharedTrustStore.ofProcess.anchors(source)) === shared
    }

    var anchors: TrustAnchors {
        get throws(TransportError) {
            // A context that verifies no certificates has not read the system's authorities.
            if options.trustRoots == .system, !options.verifiesPeer {
                return try SharedTrustStore.ofProcess.anchors(TrustSource(options.environment))
            }
            guard let anchors = TrustAnchors(sharing: SSL_CTX_get_cert_store(context)) else {
                throw TransportError.misconfiguredTLS("no trust store")
            }
            return anchors
        }
    }

    /// OpenSSL's security level, which limits the weakest algorithms.
    var securityLevel: Int32 { SSL_CTX_get_security_level(context) }

    /// The security level without a connection, from the system's configuration.
    static let defaultSecurityLevel: Int32 = {
        guard let context = SSL_CTX_new(TLS_client_method()) else { return 2 }
        defer { SSL_CTX_free(context) }
        return SSL_CTX_get_security_level(context)
    }()

    private func setUp() throws(TransportError) {
        guard lk_SSL_CTX_set_min_proto_version(context, Int32(options.minimumVersion)) == 1,
            lk_SSL_CTX_set_max_proto_version(context, Int32(options.maximumVersion)) == 1,
            options.minimumVersion <= options.maximumVersion
        else { throw TransportError.misconfiguredTLS("the TLS versions asked for cannot be used") }
        let modes = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS
        _ = lk_SSL_CTX_set_mode(context, Int(modes))
        // Renegotiation by the server is refused, as HTTP/2 requires (RFC 9113 §9.2.1).
        SSL_CTX_set_options(context, lk_SSL_OP_NO_RENEGOTIATION)
        // Two records are read with one call if the socket has them. With a bit less room, OpenSSL reads one at a time, and moves
        // the beginning of the next. More room costs more whenever it is made and released.
        lk_SSL_CTX_set_read_ahead(context, 1)
        SSL_CTX_set_default_read_buffer_len(context, 2 * TLSRecord.longest)
        try setUpALPN()
        shared = try TrustStore.install(options, in: context)
        try setUpCiphers()
        if options.requiresForwardSecrecy, !ForwardSecrecy.require(in: context) {
            throw TransportError.misconfiguredTLS(
                "no cipher suite with forward secrecy can be used (\(OpenSSLError.text()))")
        }
        // The callback accepts the certificate if the options disable verification.
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, verifyPeer, nil)
        // The server may prove that its certificate is not revoked (RFC 6066 §8).
        _ = lk_SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp)
        _ = lk_SSL_CTX_set_tlsext_status_cb(context, statusDidArrive)
        SSL_CTX_set_cert_cb(context, provideCertificate, nil)
        // An HTTP/1.1 server may request a client certificate after it has received a request (RFC 8446 §4.6.2).
        SSL_CTX_set_post_handshake_auth(context, 1)
        lk_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(context, keepSession)
        SSL_CTX_set_info_callback(context, handshakeDidReturn)
        if keyLog != nil { SSL_CTX_set_keylog_callback(context, logKeys) }
    }

    /// Sets the offered cipher suites. TLS 1.3 has suites of its own.
    private func setUpCiphers() throws(TransportError) {
        if let list = options.cipherList, SSL_CTX_set_cipher_list(context, list) != 1 {
            throw TransportError.misconfiguredTLS("“\(list)” names no cipher suites (tlsCipherList)")
        }
        if let suites = options.cipherSuites, SSL_CTX_set_ciphersuites(context, suites) != 1 {
            throw TransportError.misconfiguredTLS("“\(suites)” names no cipher suites of TLS 1.3 (tlsCipherSuites)")
        }
    }

    /// Sets the offered application protocols. Each name is preceded by its length in one byte (RFC 7301 §3.1).
    private func setUpALPN() throws(TransportError) {
        guard !options.alpn.isEmpty else { return }
        var wire: [UInt8] = []
        for name in options.alpn {
            guard let length = UInt8(exactly: name.utf8.count), length > 0 else {
                throw TransportError.misconfiguredTLS(
                    "an application protocol's name has 1 to 255 bytes, unlike “\(name)”")
            }
            wire.append(length)
            wire += name.utf8
        }
        // The length of the list has two bytes.
        guard let count = UInt16(exactly: wire.count).map(UInt32.init),
            SSL_CTX_set_alpn_protos(context, wire, count) == 0
        else { throw TransportError.misconfiguredTLS("the application protocols' names are too long") }
    }
}

// MARK: - OpenSSL's callbacks

/// The connection for which OpenSSL makes the callback.
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

private func statusDidArrive(_ ssl: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    session(of: ssl)?.statusDidArrive() == .no ? 0 : 1
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
    return 1  // the reference was taken over
}

/// After the handshake OpenSSL calls its function for handshakes once for each further message.
private func handshakeDidReturn(_ ssl: OpaquePointer?, _ event: Int32, _ result: Int32) {
    if event & SSL_CB_EXIT != 0, result == 1 { session(of: ssl)?.didProcessMessage() }
}

private func logKeys(_ ssl: OpaquePointer?, _ line: UnsafePointer<CChar>?) {
    guard let line else { return }
    session(of: ssl)?.context.keyLog?.append(String(cString: line))
}

/// The cipher suites with forward secrecy of TLS 1.2 and earlier: if a server's key becomes known later, recorded
/// connections remain secret. All suites of TLS 1.3 have this property.
enum ForwardSecrecy {
    /// Removes all other suites from a context's offer, and adds none.
    static func require(in context: OpaquePointer) -> Bool {
        // The suites of TLS 1.3 are set separately, and cannot be named here.
        let suites = OpenSSLValues.elements(of: SSL_CTX_get_ciphers(context)).filter {
            [NID_kx_ecdhe, NID_kx_dhe].contains(SSL_CIPHER_get_kx_nid($0))
        }
        let names = suites.compactMap { SSL_CIPHER_get_name($0).map { String(cString: $0) } }
        return !names.isEmpty && SSL_CTX_set_cipher_list(context, names.joined(by: ":")) == 1
    }
}

/// The file to which connections' keys are appended, one line each (draft-ietf-tls-keylogfile), for tools that decrypt
/// captures. It is used only if a user requests it.
final class KeyLog: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { SystemCalls.close(descriptor) }

    /// The log at `path`; `nil` if `path` is nil or the file cannot be opened.
    static func open(_ path: String?) -> KeyLog? {
        guard let path else { return nil }
        // Opened without blocking, as the file may be a pipe. Opening fails if the pipe has no reader; lines are lost if a
        // full pipe has no room, or if its reader has gone.
        let descriptor = SystemCalls.open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK)
        return descriptor >= 0 ? KeyLog(descriptor: Int32(descriptor)) : nil
    }

    /// Writes a line with one call, which `O_APPEND` keeps whole among threads and processes.
    func append(_ line: String) {
        var text = line
        text += "\n"
        text.withUTF8 { _ = SystemCalls.writeToPipe(descriptor, UnsafeRawBufferPointer($0)) }
    }
}
