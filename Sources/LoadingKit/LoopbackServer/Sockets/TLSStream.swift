import CLoadingKitOpenSSL
import Glibc

/// TLS over a blocking descriptor, which it does not own, or inside another TLS connection. Used by one thread.
final class TLSStream {
    let pointer: OpaquePointer
    private let carrier: TLSStream?
    private let release: (OpaquePointer) -> Void
    let facts: TLSFacts

    /// A failed call leaves TLS unusable: no close_notify may be sent after it (see OpenSSL's SSL_shutdown).
    private var isBroken = false

    /// - Parameters:
    ///   - carrier: the TLS connection inside which this one runs.
    ///   - handshake: performs the client's or the server's side of the handshake; 1 for success.
    ///   - release: frees the connection. It also holds the context, which OpenSSL's callbacks use.
    init(
        _ context: OpaquePointer, on descriptor: Int32, inside carrier: TLSStream?,
        handshake: (OpaquePointer) -> Int32, release: @escaping (OpaquePointer) -> Void
    ) throws(OpenSSLError) {
        let pointer = try required(SSL_new(context), "making a TLS connection")
        do throws(OpenSSLError) {
            if let carrier {
                let bio = try required(BIO_new(BIO_f_ssl()), "TLS inside TLS")
                BIO_ctrl(bio, Int32(BIO_C_SET_SSL), Int(BIO_NOCLOSE), UnsafeMutableRawPointer(carrier.pointer))
                SSL_set_bio(pointer, bio, bio)
            } else {
                try check(SSL_set_fd(pointer, descriptor), "giving TLS its socket")
            }
            ERR_clear_error()
            try check(handshake(pointer), "the TLS handshake")
        } catch {
            SSL_free(pointer)
            throw error
        }
        (self.pointer, self.carrier, self.release) = (pointer, carrier, release)
        facts = TLSFacts(of: pointer)
    }

    deinit { release(pointer) }

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
            case SSL_ERROR_ZERO_RETURN: return 0
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: continue
            default:
                isBroken = true
                // The connection ended without close_notify, which `receivedCloseNotify` tells.
                if Self.isUnexpectedEnd { return 0 }
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
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: continue
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

    /// A connection that ends leaves the queue empty (OpenSSL 1.1, with errno 0) or this reason (OpenSSL 3).
    private static var isUnexpectedEnd: Bool {
        let code = ERR_peek_error()
        if code == 0 { return errno == 0 || errno == ECONNRESET || errno == EPIPE }
        return ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING
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
    /// The cipher suite, by OpenSSL's name.
    public var cipherSuite: String
    /// The certificate that the peer presented, in DER.
    public var peerCertificateDER: [UInt8]?

    init(of connection: OpaquePointer) {
        serverName = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(connection, &name, &count)
        applicationProtocol = name.map {
            String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self)
        }
        isResumed = SSL_session_reused(connection) == 1
        cipherSuite = SSL_CIPHER_get_name(SSL_get_current_cipher(connection)).map { String(cString: $0) } ?? ""
        version = SSL_get_version(connection).map { String(cString: $0) } ?? ""
        peerCertificateDER = SSL_get0_peer_certificate(connection).flatMap { certificate in
            try? derBytes("the peer's certificate") { i2d_X509(certificate, &$0) }
        }
    }
}
