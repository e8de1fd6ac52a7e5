import CLoadingKitOpenSSL
import Glibc
import LoadingKitTransport

/// A blocking TLS server of OpenSSL's own making.
final class TLSPeer: @unchecked Sendable {  // the SSL_CTX is set up before the thread starts
    struct Options {
        var certificate: TestCertificate?
        var chain: [TestCertificate] = []
        /// The protocols that the server speaks, for ALPN.
        var alpn: String?
        var minimumVersion = TLS1_2_VERSION
        var maximumVersion = TLS1_3_VERSION
        /// Whether a second TLS connection runs inside the first one, as through a proxy over TLS.
        var isNested = false
    }

    private let context: OpaquePointer
    private let peer: Peer

    var endpoint: Endpoint { peer.endpoint }
    var port: UInt16 { peer.port }
    var failures: [String] { peer.failures }

    /// - Parameter prelude: What comes before the handshake, in plain text.
    init(
        _ options: Options = Options(), prelude: @escaping @Sendable (PeerConnection) throws -> Void = { _ in },
        _ script: @escaping @Sendable (TLSPeerConnection) throws -> Void
    ) throws {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw PeerError(call: "SSL_CTX_new") }
        self.context = context
        let certificate = try options.certificate ?? TestCertificates.shared.get().server
        SSL_CTX_use_certificate(context, certificate.certificate)
        SSL_CTX_use_PrivateKey(context, certificate.key)
        for link in options.chain { SSL_CTX_ctrl(context, SSL_CTRL_CHAIN_CERT, 1, .init(link.certificate)) }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(options.minimumVersion), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(options.maximumVersion), nil)
        SSL_CTX_set_session_id_context(context, [1], 1)
        if options.alpn == "h2" { SSL_CTX_set_alpn_select_cb(context, selectH2, nil) }
        let shared = UncheckedContext(context: context)
        peer = try Peer { connection in
            try prelude(connection)
            guard let ssl = SSL_new(shared.context) else { throw PeerError(call: "SSL_new") }
            defer { SSL_free(ssl) }
            SSL_set_fd(ssl, connection.descriptor)
            guard SSL_accept(ssl) == 1 else { throw PeerError(call: "SSL_accept") }
            guard options.isNested else { return try script(TLSPeerConnection(ssl: ssl, connection: connection)) }
            guard let inner = SSL_new(shared.context) else { throw PeerError(call: "SSL_new") }
            defer { SSL_free(inner) }
            let carrier = BIO_new(BIO_f_ssl())
            BIO_ctrl(carrier, Int32(BIO_C_SET_SSL), Int(BIO_NOCLOSE), UnsafeMutableRawPointer(ssl))
            SSL_set_bio(inner, carrier, carrier)
            guard SSL_accept(inner) == 1 else { throw PeerError(call: "SSL_accept") }
            try script(TLSPeerConnection(ssl: inner, connection: connection))
        }
    }

    func stop() {
        peer.stop()
        SSL_CTX_free(context)
    }
}

private struct UncheckedContext: @unchecked Sendable {  // OpenSSL locks it
    let context: OpaquePointer
}

private func selectH2(
    _ ssl: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ count: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let offered else { return SSL_TLSEXT_ERR_NOACK }
    var index = 0
    while index < Int(count) {
        let size = Int(offered[index])
        if size == 2, offered[index + 1] == UInt8(ascii: "h"), offered[index + 2] == UInt8(ascii: "2") {
            out?.pointee = offered + index + 1
            length?.pointee = 2
            return SSL_TLSEXT_ERR_OK
        }
        index += 1 + size
    }
    return SSL_TLSEXT_ERR_NOACK
}

/// A connection of a TLS server.
struct TLSPeerConnection {
    let ssl: OpaquePointer
    let connection: PeerConnection

    func read(upTo count: Int = 16_384) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let result = SSL_read(ssl, &buffer, Int32(count))
        if result <= 0, SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN { return [] }
        guard result > 0 else { throw PeerError(call: "SSL_read") }
        return Array(buffer[..<Int(result)])
    }

    func readToEnd() throws -> [UInt8] {
        var all: [UInt8] = []
        while case let part = try read(), !part.isEmpty { all += part }
        return all
    }

    func write(_ bytes: [UInt8]) throws {
        guard SSL_write(ssl, bytes, Int32(bytes.count)) == Int32(bytes.count) else {
            throw PeerError(call: "SSL_write")
        }
    }

    func write(_ text: String) throws { try write(Array(text.utf8)) }

    /// Asks for the client's certificate, after the handshake (RFC 8446 §4.6.2).
    func requestCertificate() throws {
        SSL_set_verify(ssl, SSL_VERIFY_PEER) { _, _ in 1 }
        guard SSL_verify_client_post_handshake(ssl) == 1, SSL_do_handshake(ssl) == 1 else {
            throw PeerError(call: "SSL_verify_client_post_handshake")
        }
    }

    /// Sends TLS's closing message.
    func finishWriting() { SSL_shutdown(ssl) }

    var serverName: String? { SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) } }
}
