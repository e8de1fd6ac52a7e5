import CLoadingKitOpenSSL
import Glibc

/// TLS over a blocking descriptor, which it does not own, or inside another TLS connection. Used by one thread.
final class TLSStream {
    private let pointer: OpaquePointer
    /// Held because OpenSSL's callbacks use it.
    private let context: AnyObject
    private let carrier: TLSStream?
    let facts: TLSFacts

    /// A failed call leaves TLS unusable: no close_notify may be sent after it (see OpenSSL's SSL_shutdown).
    private var isBroken = false

    /// - Parameter carrier: the TLS connection inside which this one runs.
    init(
        accepting context: TLSServerContext, on descriptor: Int32, inside carrier: TLSStream? = nil
    ) throws(OpenSSLError) {
        let pointer = try Self.make(context.pointer, on: descriptor, inside: carrier)
        self.carrier = carrier
        ERR_clear_error()
        guard SSL_accept(pointer) == 1 else { throw Self.failure("the TLS handshake", freeing: pointer) }
        self.pointer = pointer
        self.context = context
        facts = Self.facts(of: pointer)
    }

    init(connecting context: TLSClientContext, serverName: String?, on descriptor: Int32) throws(OpenSSLError) {
        let pointer = try Self.make(context.pointer, on: descriptor, inside: nil)
        carrier = nil
        ERR_clear_error()
        if let serverName { Self.set(serverName, isChecked: context.checksName, on: pointer) }
        context.offerSession(to: pointer)
        guard SSL_connect(pointer) == 1 else { throw Self.failure("the TLS handshake", freeing: pointer) }
        self.pointer = pointer
        self.context = context
        facts = Self.facts(of: pointer)
    }

    deinit {
        // TLS 1.3 sends its tickets after the handshake: the session is complete only now.
        if let client = context as? TLSClientContext { client.keepSession(SSL_get1_session(pointer)) }
        SSL_free(pointer)
    }

    var hasPending: Bool { SSL_has_pending(pointer) == 1 }

    var receivedCloseNotify: Bool { SSL_get_shutdown(pointer) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// 0 when the peer has ended TLS or the underlying connection.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Int {
        guard !isBroken else { return 0 }
        while true {
            ERR_clear_error()
            errno = 0
            var count = 0
            let result = SSL_read_ex(pointer, buffer.baseAddress, buffer.count, &count)
            if result == 1 { return count }
            switch SSL_get_error(pointer, result) {
            case SSL_ERROR_ZERO_RETURN:
                return 0
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                continue
            default:
                isBroken = true
                // The connection ended without close_notify; `receivedCloseNotify` distinguishes this from a proper
                // end.
                if Self.isUnexpectedEnd() { return 0 }
                throw OpenSSLError("reading TLS")
            }
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(OpenSSLError) -> Int {
        while true {
            ERR_clear_error()
            var count = 0
            let result = SSL_write_ex(pointer, bytes.baseAddress, bytes.count, &count)
            if result == 1 { return count }
            switch SSL_get_error(pointer, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                continue
            default:
                isBroken = true
                throw OpenSSLError("writing TLS")
            }
        }
    }

    /// Sends close_notify once; does not wait for the peer's.
    func sendCloseNotify() {
        guard !isBroken, SSL_get_shutdown(pointer) & SSL_SENT_SHUTDOWN == 0 else { return }
        ERR_clear_error()
        SSL_shutdown(pointer)
    }

    // MARK: Making

    private static func make(
        _ context: OpaquePointer, on descriptor: Int32, inside carrier: TLSStream?
    ) throws(OpenSSLError) -> OpaquePointer {
        let pointer = try required(SSL_new(context), "making a TLS connection")
        if let carrier {
            guard let bio = BIO_new(BIO_f_ssl()) else { throw failure("TLS inside TLS", freeing: pointer) }
            BIO_ctrl(bio, Int32(BIO_C_SET_SSL), Int(BIO_NOCLOSE), UnsafeMutableRawPointer(carrier.pointer))
            SSL_set_bio(pointer, bio, bio)
            return pointer
        }
        guard SSL_set_fd(pointer, descriptor) == 1 else {
            throw failure("giving TLS its socket", freeing: pointer)
        }
        return pointer
    }

    private static func set(_ serverName: String, isChecked: Bool, on pointer: OpaquePointer) {
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(pointer), serverName) == 1
        if !isAddress {
            var name = Array(serverName.utf8CString)
            _ = SSL_ctrl(pointer, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        if !isChecked {
            X509_VERIFY_PARAM_set1_ip(SSL_get0_param(pointer), nil, 0)
        } else if !isAddress {
            SSL_set1_host(pointer, serverName)
        }
    }

    private static func failure(_ operation: String, freeing pointer: OpaquePointer) -> OpenSSLError {
        SSL_free(pointer)
        return OpenSSLError(operation)
    }

    private static func isUnexpectedEnd() -> Bool {
        let code = ERR_peek_error()
        // A connection that ends leaves the queue empty (OpenSSL 1.1, with errno 0) or this reason (OpenSSL 3).
        if code == 0 { return errno == 0 || errno == ECONNRESET || errno == EPIPE }
        return ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING
    }

    private static func facts(of pointer: OpaquePointer) -> TLSFacts {
        TLSFacts(
            serverName: SSL_get_servername(pointer, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
            applicationProtocol: applicationProtocol(of: pointer),
            isResumed: SSL_session_reused(pointer) == 1,
            version: SSL_get_version(pointer).map { String(cString: $0) } ?? "",
            peerCertificateDER: peerCertificate(of: pointer))
    }

    private static func applicationProtocol(of pointer: OpaquePointer) -> String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(pointer, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Requests the client's certificate, after the handshake (RFC 8446 §4.6.2). Any certificate is accepted.
    func requestCertificate() throws(OpenSSLError) {
        SSL_set_verify(pointer, SSL_VERIFY_PEER) { _, _ in 1 }
        ERR_clear_error()
        try check(SSL_verify_client_post_handshake(pointer), "asking for a certificate")
        try check(SSL_do_handshake(pointer), "asking for a certificate")
    }

    /// Waits for the client's answer. Other bytes from the client also end the wait.
    func awaitCertificate() {
        // A read then returns after a record that is not application data.
        _ = SSL_ctrl(pointer, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        defer { _ = SSL_ctrl(pointer, SSL_CTRL_MODE, Int(SSL_MODE_AUTO_RETRY), nil) }
        var byte: UInt8 = 0
        var count = 0
        ERR_clear_error()
        SSL_peek_ex(pointer, &byte, 1, &count)
        ERR_clear_error()
    }

    /// The common name in the certificate that the client has presented up to now.
    var peerCommonName: String? {
        guard let shown = SSL_get0_peer_certificate(pointer), let subject = X509_get_subject_name(shown) else {
            return nil
        }
        var text = [CChar](repeating: 0, count: 256)
        guard X509_NAME_get_text_by_NID(subject, NID_commonName, &text, Int32(text.count)) >= 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func peerCertificate(of pointer: OpaquePointer) -> [UInt8]? {
        guard let shown = SSL_get0_peer_certificate(pointer) else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509(shown, &encoded)
        guard count > 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, nil, 0) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }
}

/// The results of a TLS handshake.
public struct TLSFacts: Sendable, Equatable {
    /// The server name that the client requested (RFC 6066 §3).
    public var serverName: String?
    /// The protocol that ALPN selected.
    public var applicationProtocol: String?
    /// Whether an earlier session was resumed.
    public var isResumed: Bool
    /// The TLS version, such as `TLSv1.3`.
    public var version: String
    /// The certificate that the peer presented, in DER.
    public var peerCertificateDER: [UInt8]?
}
