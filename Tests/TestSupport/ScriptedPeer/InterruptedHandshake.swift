import CLoadingKitOpenSSL
import LoadingKitLoopbackServer

/// A server's side of a TLS handshake in memory, whose answer can be truncated at any byte.
package final class InterruptedHandshake {
    private let connection: OpaquePointer
    /// The connection owns both.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private let context: TLSServerContext

    package init(_ context: TLSServerContext) throws(OpenSSLError) {
        let connection = try required(SSL_new(context.pointer), "making a TLS connection")
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(connection)
            throw OpenSSLError("making a memory BIO")
        }
        SSL_set_bio(connection, input, output)
        self.connection = connection
        self.input = input
        self.output = output
        self.context = context
    }

    deinit { SSL_free(connection) }

    /// Processes the client's bytes, and returns the server's next bytes: empty while it needs more.
    package func answer(to bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        ERR_clear_error()
        guard let count = Int32(exactly: bytes.count), BIO_write(input, bytes, count) == count else {
            throw OpenSSLError("passing on a ClientHello")
        }
        let result = SSL_accept(connection)
        let needsMore = SSL_get_error(connection, result) == SSL_ERROR_WANT_READ
        guard result == 1 || needsMore else { throw OpenSSLError("the TLS handshake") }
        return drainOutput()
    }

    private func drainOutput() -> [UInt8] {
        var answer: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = BIO_read(output, &piece, Int32(piece.count))
            guard count > 0 else { return answer }
            answer += piece.prefix(Int(count))
        }
    }
}
