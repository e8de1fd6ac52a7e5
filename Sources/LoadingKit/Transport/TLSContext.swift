import COpenSSL
import Foundation
import Synchronization

/// OpenSSL's context: options, trusted roots and remembered sessions. For all connections of a session.
package final class TLSContext: @unchecked Sendable {  // the context is made once; OpenSSL counts its references itself
    let pointer: OpaquePointer
    let options: TLSOptions
    let sessions = TLSSessionCache()

    package init(_ options: TLSOptions) throws(TransportError) {
        guard let pointer = SSL_CTX_new(TLS_client_method()) else { throw Self.configurationError("no context") }
        self.pointer = pointer
        self.options = options
        guard LK_SSL_CTX_set_versions(pointer, Int32(options.minimumVersion), Int32(options.maximumVersion)) == 1 else {
            throw Self.configurationError("TLS versions \(options.minimumVersion) to \(options.maximumVersion)")
        }
        LK_SSL_CTX_set_modes(pointer)
        LK_SSL_CTX_set_read_ahead(pointer)
        SSL_CTX_set_default_read_buffer_len(pointer, 32 * 1024)
        SSL_CTX_set_verify(pointer, options.verifiesPeer ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        if options.verifiesPeer { try loadRoots() }
        try setALPN()
        LK_SSL_CTX_keep_sessions(pointer, TLSSessionCache.remember)
        if KeyLog.isWanted { SSL_CTX_set_keylog_callback(pointer, KeyLog.write) }
    }

    deinit { SSL_CTX_free(pointer) }

    private static func configurationError(_ what: String) -> TransportError {
        TransportError(
            phase: .tls, endpoint: "configuration", cause: .configuration("\(what): \(OpenSSLErrors.take())"))
    }

    private func setALPN() throws(TransportError) {
        var wire: [UInt8] = []
        for name in options.alpn {
            guard let count = UInt8(exactly: name.utf8.count), count > 0 else { throw Self.configurationError("ALPN") }
            wire.append(count)
            wire.append(contentsOf: name.utf8)
        }
        guard !wire.isEmpty else { return }
        if SSL_CTX_set_alpn_protos(pointer, wire, UInt32(wire.count)) != 0 { throw Self.configurationError("ALPN") }
    }

    private func loadRoots() throws(TransportError) {
        switch options.trustRoots {
        case .system:
            loadSystemRoots()
        case .file(let path):
            guard SSL_CTX_load_verify_locations(pointer, path, nil) == 1 else {
                throw Self.configurationError("the file of trusted certificates, \(path), cannot be read")
            }
        case .pem(let bytes):
            guard try addRoots(bytes) > 0 else {
                throw Self.configurationError("there is no certificate in the PEM text")
            }
        }
    }

    /// OpenSSL's own defaults respect SSL_CERT_FILE and SSL_CERT_DIR; the usual places are for systems where its
    /// defaults point elsewhere.
    private func loadSystemRoots() {
        SSL_CTX_set_default_verify_paths(pointer)
        let environment = ProcessInfo.processInfo.environment
        guard environment["SSL_CERT_FILE"] == nil && environment["SSL_CERT_DIR"] == nil else { return }
        let usual = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        let standard = X509_get_default_cert_file().map { String(cString: $0) } ?? ""
        guard !FileManager.default.isReadableFile(atPath: standard),
            let file = usual.first(where: { FileManager.default.isReadableFile(atPath: $0) })
        else { return }
        SSL_CTX_load_verify_locations(pointer, file, nil)
    }

    private func addRoots(_ pem: [UInt8]) throws(TransportError) -> Int {
        guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return 0 }
        defer { BIO_free(bio) }
        let store = SSL_CTX_get_cert_store(pointer)
        var count = 0
        while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
            X509_STORE_add_cert(store, certificate)
            X509_free(certificate)
            count += 1
        }
        // The end of the text is reported as an error too.
        ERR_clear_error()
        return count
    }
}

/// What OpenSSL has put into the calling thread's queue of errors.
enum OpenSSLErrors {
    static func take() -> String {
        var text = "no reason given"
        var code = ERR_get_error()
        while code != 0 {
            if let reason = ERR_reason_error_string(code) { text = String(cString: reason) }
            code = ERR_get_error()
        }
        return text
    }
}
