import CLoadingKitOpenSSL

/// A certificate, its private key, and the intermediates up to its root. A client authenticates itself with them.
package final class TLSIdentity: @unchecked Sendable {  // OpenSSL counts references atomically; nothing is changed
    package let certificate: Certificate
    /// The intermediates that are sent with the certificate.
    package let chain: [Certificate]
    private let key: OpaquePointer

    /// Takes over the reference to the key. The identity's certificate is the one that matches the key.
    init(key: OpaquePointer, certificates: [Certificate]) throws(IdentityFailure) {
        self.key = key
        let own = certificates.firstIndex { certificate in
            defer { ERR_clear_error() }
            return certificate.withParsed { X509_check_private_key($0, key) == 1 } ?? false
        }
        guard let own else {
            // All properties must be set before the throw, so that the key is freed.
            (certificate, chain) = (Certificate(der: []), [])
            throw certificates.isEmpty ? .noCertificate : .keyMismatch
        }
        certificate = certificates[own]
        var others = certificates
        others.remove(at: own)
        chain = others
    }

    deinit { EVP_PKEY_free(key) }

    package func with(chain: [Certificate]) -> TLSIdentity? {
        guard EVP_PKEY_up_ref(key) == 1 else { return nil }
        return try? TLSIdentity(key: key, certificates: [certificate] + chain)
    }

    /// The certificate, the intermediates and the key in PEM (PKCS#8, not encrypted); nil if OpenSSL has no memory.
    package var pemRepresentation: String? {
        guard let bio = BIO_new(BIO_s_mem()) else { return nil }
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        for certificate in [certificate] + chain {
            guard certificate.withParsed({ PEM_write_bio_X509(bio, $0) }) == 1 else { return nil }
        }
        guard PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) == 1 else { return nil }
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = BIO_read(bio, &buffer, Int32(buffer.count)), count > 0 {
            text += String(decoding: buffer[..<Int(count)], as: UTF8.self)
        }
        return text
    }

    /// Sets a connection's identity. Returns `false` if its key is too weak for the system's security level.
    func use(for ssl: OpaquePointer) -> Bool {
        guard let leaf = certificate.parse(), let others = CertificateStack(chain) else { return false }
        defer { X509_free(leaf) }
        return SSL_use_cert_and_key(ssl, leaf, key, others.pointer, 1) == 1
    }
}

/// The reason why an identity cannot be read.
package enum IdentityFailure: Error, Sendable, Hashable {
    /// The key or file is encrypted, and no password was given.
    case passwordNeeded
    case wrongPassword
    case noCertificate
    case noKey
    /// The key does not match any of the certificates.
    case keyMismatch
    /// The format is invalid; with OpenSSL's text.
    case malformed(String)
    /// The encryption is not supported by this system's OpenSSL; with OpenSSL's text.
    case unsupported(String)
    /// A file cannot be read; with its path and the reason.
    case unreadable(String)
}
