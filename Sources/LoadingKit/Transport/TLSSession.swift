import COpenSSL
import Foundation

/// TLS over one socket, by OpenSSL. Confined to the socket's loop.
///
/// OpenSSL reads and writes through functions of ours instead of the descriptor itself: so it gains what the socket
/// knows of its readiness, and a test can make its calls fail too.
final class TLSSession {
    enum Result {
        case bytes(Int)
        case wouldBlock
        case end
        case failed(TransportError.Cause)
    }

    enum HandshakeProgress {
        case done
        case waits
        case failed(TransportError.Cause)
    }

    let context: TLSContext
    let serverKey: String
    private let socket: StreamSocket
    private var pointer: OpaquePointer?
    private var isEstablished = false
    private var socketError: Int32 = 0

    /// - Parameter serverName: a name, or an address without brackets.
    init?(_ context: TLSContext, serverName: String, port: UInt16, _ socket: StreamSocket) {
        guard let pointer = SSL_new(context.pointer), let bio = SocketBIO.make() else { return nil }
        self.context = context
        self.socket = socket
        self.pointer = pointer
        serverKey = "\(serverName):\(port)"
        let owner = Unmanaged.passUnretained(self).toOpaque()
        BIO_set_data(bio, owner)
        BIO_set_init(bio, 1)
        SSL_set_bio(pointer, bio, bio)
        LK_SSL_set_owner(pointer, owner)
        SSL_set_connect_state(pointer)
        setName(serverName)
        if let session = context.sessions.take(serverKey) {
            SSL_set_session(pointer, session)
            SSL_SESSION_free(session)
        }
    }

    deinit { free() }

    /// SNI is for names alone (RFC 6066 §3); verification is for names and addresses.
    private func setName(_ name: String) {
        guard let pointer else { return }
        let name = name.hasSuffix(".") ? String(name.dropLast()) : name
        let parameters = SSL_get0_param(pointer)
        if let address = SocketAddress(literal: name, port: 0) {
            X509_VERIFY_PARAM_set1_ip_asc(parameters, address.text.address.split(separator: "%").first.map(String.init))
        } else {
            LK_SSL_set_server_name(pointer, name)
            X509_VERIFY_PARAM_set_hostflags(parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            X509_VERIFY_PARAM_set1_host(parameters, name, 0)
        }
    }

    func free() {
        guard let freed = pointer else { return }
        pointer = nil
        SSL_free(freed)
    }

    // MARK: The handshake

    func handshake() -> HandshakeProgress {
        guard let pointer else { return .failed(.handshake("the connection is closed")) }
        ERR_clear_error()
        let result = SSL_do_handshake(pointer)
        if result == 1 {
            isEstablished = true
            return .done
        }
        switch SSL_get_error(pointer, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .waits
        default: return .failed(handshakeFailure(pointer))
        }
    }

    private func handshakeFailure(_ pointer: OpaquePointer) -> TransportError.Cause {
        let verification = Int32(clamping: SSL_get_verify_result(pointer))
        if verification != X509_V_OK {
            let text = X509_verify_cert_error_string(Int(verification)).map { String(cString: $0) } ?? "no reason given"
            return .certificate(Self.problem(verification), text)
        }
        let code = ERR_peek_error()
        let reason = LK_ERR_reason(code)
        if reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST || reason == SSL_R_UNEXPECTED_MESSAGE
            || reason == SSL_R_PACKET_LENGTH_TOO_LONG
        {
            ERR_clear_error()
            return .notTLS
        }
        if code != 0 { return .handshake(OpenSSLErrors.take()) }
        if socketError != 0 { return .systemCall("recv", code: socketError) }
        return .handshake("the server closed the connection during the TLS handshake")
    }

    private static func problem(_ code: Int32) -> TransportError.CertificateProblem {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            .unknownAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .hostMismatch
        default: .other
        }
    }

    var info: TLSInfo? {
        guard let pointer, isEstablished else { return nil }
        let cipher = SSL_get_current_cipher(pointer)
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(pointer, &name, &length)
        let alpn = name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(length)), as: UTF8.self) }
        let certificates = PeerCertificates(pointer)
        return TLSInfo(
            version: UInt16(truncatingIfNeeded: SSL_version(pointer)),
            cipherSuite: UInt16(truncatingIfNeeded: SSL_CIPHER_get_protocol_id(cipher)),
            cipherName: SSL_CIPHER_get_name(cipher).map { String(cString: $0) } ?? "", alpn: alpn,
            wasResumed: SSL_session_reused(pointer) == 1, peerCertificates: certificates.der,
            subject: certificates.subject, issuer: certificates.issuer)
    }

    // MARK: Bytes

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
        guard let pointer else { return .wouldBlock }
        ERR_clear_error()
        let count = SSL_read(pointer, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(pointer, count, "recv")
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Result {
        guard let pointer else { return .wouldBlock }
        ERR_clear_error()
        let count = SSL_write(pointer, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : outcome(pointer, count, "send")
    }

    private func outcome(_ pointer: OpaquePointer, _ result: Int32, _ call: String) -> Result {
        switch SSL_get_error(pointer, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .end
        case SSL_ERROR_SYSCALL where socketError != 0: return .failed(.systemCall(call, code: socketError))
        case SSL_ERROR_SYSCALL: return .failed(.truncated)
        default:
            let isTruncated = LK_ERR_reason(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
            let text = OpenSSLErrors.take()
            return .failed(isTruncated ? .truncated : .handshake(text))
        }
    }

    func sendCloseNotify() {
        guard let pointer, isEstablished else { return }
        ERR_clear_error()
        SSL_shutdown(pointer)
        ERR_clear_error()
    }

    // MARK: The socket, for OpenSSL

    fileprivate func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int { note(socket.receive(buffer)) }

    fileprivate func send(_ bytes: UnsafeRawBufferPointer) -> Int { note(socket.send(bytes)) }

    private func note(_ count: Int) -> Int {
        if count < 0 && count != Int(-EAGAIN) { socketError = Int32(-count) }
        return count
    }
}

/// The certificates that a server sent.
private struct PeerCertificates {
    var der: [[UInt8]] = []
    var subject = ""
    var issuer = ""

    init(_ ssl: OpaquePointer) {
        guard let chain = SSL_get_peer_cert_chain(ssl) else { return }
        for index in 0..<LK_sk_X509_num(chain) {
            guard let certificate = LK_sk_X509_value(chain, index) else { continue }
            if index == 0 {
                subject = Self.text(X509_get_subject_name(certificate))
                issuer = Self.text(X509_get_issuer_name(certificate))
            }
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = i2d_X509(certificate, &bytes)
            if let bytes, count > 0 { der.append(Array(UnsafeBufferPointer(start: bytes, count: Int(count)))) }
            LK_OPENSSL_free(bytes)
        }
    }

    private static func text(_ name: OpaquePointer?) -> String {
        guard let name, let text = X509_NAME_oneline(name, nil, 0) else { return "" }
        defer { LK_OPENSSL_free(text) }
        return String(cString: text)
    }
}

/// OpenSSL's view of a socket of ours.
private enum SocketBIO {
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "LoadingKit socket") else {
            return nil
        }
        BIO_meth_set_read(method) { bio, bytes, count in
            guard let session = session(bio), let bytes else { return -1 }
            LK_BIO_clear_retry_flags(bio)
            let result = session.receive(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)))
            if result == Int(-EAGAIN) { LK_BIO_set_retry_read(bio) }
            if result == 0 { LK_BIO_set_eof(bio) }
            return Int32(clamping: max(result, -1))
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            guard let session = session(bio), let bytes else { return -1 }
            LK_BIO_clear_retry_flags(bio)
            let result = session.send(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            if result == Int(-EAGAIN) { LK_BIO_set_retry_write(bio) }
            return Int32(clamping: max(result, -1))
        }
        BIO_meth_set_ctrl(method) { bio, command, _, _ in
            switch command {
            case BIO_CTRL_FLUSH: 1
            case BIO_CTRL_EOF: Int(LK_BIO_is_eof(bio))
            default: 0
            }
        }
        return method
    }()

    private static let BIO_TYPE_SOURCE_SINK: Int32 = 0x0400

    static func make() -> OpaquePointer? { method.flatMap { BIO_new($0) } }

    private static func session(_ bio: OpaquePointer?) -> TLSSession? {
        guard let data = BIO_get_data(bio) else { return nil }
        return Unmanaged<TLSSession>.fromOpaque(data).takeUnretainedValue()
    }
}
