import CLoadingKitOpenSSL
import LoadingKitLoopbackServer

/// A certificate and its key in the forms in which people keep them.
package enum IdentityFiles {
    package struct Failure: Error {}

    /// PKCS#12, as `openssl pkcs12 -export` makes it. Without algorithms: OpenSSL's own choice.
    ///
    /// - Parameters:
    ///   - key: PEM; nil leaves it out.
    ///   - isLegacy: encrypted as programs did long ago, with RC2 and triple DES.
    package static func pkcs12(
        _ certificatesPEM: String, key: String?, password: String, isLegacy: Bool = false
    ) throws -> [UInt8] {
        try withCertificates(certificatesPEM) { certificates in
            let parsed = try key.map { try parse(key: $0) }
            defer { EVP_PKEY_free(parsed) }
            let others = OPENSSL_sk_new_null()
            defer { OPENSSL_sk_free(others) }
            for other in certificates.dropFirst() { OPENSSL_sk_push(others, UnsafeMutableRawPointer(other)) }
            let legacy = isLegacy ? try Legacy() : nil
            let certificateAlgorithm = isLegacy ? NID_pbe_WithSHA1And40BitRC2_CBC : 0
            let keyAlgorithm = isLegacy ? NID_pbe_WithSHA1And3_Key_TripleDES_CBC : 0
            let file = PKCS12_create_ex(
                password, "test", parsed, certificates.first, others, keyAlgorithm, certificateAlgorithm, 0,
                isLegacy ? 1 : 0, 0, legacy?.context, nil)
            guard let file else { throw Failure() }
            defer { PKCS12_free(file) }
            return try encoded { i2d_PKCS12(file, $0) }
        }
    }

    /// A part of a PKCS#12 file (`ContentInfo`) that is encrypted, with a key in it.
    ///
    /// - Parameter key: PKCS#8 in DER, encrypted.
    package static func encryptedPart(key: [UInt8], password: String) throws -> [UInt8] {
        let parsed: OpaquePointer? = key.withUnsafeBufferPointer { buffer in
            var pointer = buffer.baseAddress
            return d2i_X509_SIG(nil, &pointer, buffer.count)
        }
        guard let parsed, let bag = PKCS12_SAFEBAG_create0_pkcs8(parsed) else { throw Failure() }
        defer { PKCS12_SAFEBAG_free(bag) }
        let bags = OPENSSL_sk_new_null()
        defer { OPENSSL_sk_free(bags) }
        OPENSSL_sk_push(bags, UnsafeMutableRawPointer(bag))
        let part = PKCS12_pack_p7encdata(NID_pbe_WithSHA1And3_Key_TripleDES_CBC, password, -1, nil, 0, 1, bags)
        guard let part else { throw Failure() }
        defer { PKCS7_free(part) }
        return try encoded { i2d_PKCS7(part, $0) }
    }

    /// PKCS#8 in PEM, encrypted.
    package static func encryptedPEM(_ key: String, password: String) throws -> String {
        let parsed = try parse(key: key)
        defer { EVP_PKEY_free(parsed) }
        guard let bio = BIO_new(BIO_s_mem()) else { throw Failure() }
        defer { BIO_free(bio) }
        let result = PEM_write_bio_PKCS8PrivateKey(
            bio, parsed, EVP_aes_256_cbc(), password, Int32(password.utf8.count), nil, nil)
        guard result == 1 else { throw Failure() }
        return String(decoding: contents(of: bio), as: UTF8.self)
    }

    /// An algorithm's own form, such as `EC PRIVATE KEY`, which PEM encrypts (RFC 1421 §4.6).
    package static func encryptedTraditionalPEM(_ key: String, password: String) throws -> String {
        let parsed = try parse(key: key)
        defer { EVP_PKEY_free(parsed) }
        guard let bio = BIO_new(BIO_s_mem()) else { throw Failure() }
        defer { BIO_free(bio) }
        let result = PEM_write_bio_PrivateKey_traditional(
            bio, parsed, EVP_aes_256_cbc(), Array(password.utf8), Int32(password.utf8.count), nil, nil)
        guard result == 1 else { throw Failure() }
        return String(decoding: contents(of: bio), as: UTF8.self)
    }

    /// In DER: PKCS#8 where it is encrypted, else the algorithm's own form.
    package static func keyDER(_ key: String, password: String? = nil) throws -> [UInt8] {
        let parsed = try parse(key: key)
        defer { EVP_PKEY_free(parsed) }
        guard let password else { return try encoded { i2d_PrivateKey(parsed, $0) } }
        guard let bio = BIO_new(BIO_s_mem()) else { throw Failure() }
        defer { BIO_free(bio) }
        let result = i2d_PKCS8PrivateKey_bio(
            bio, parsed, EVP_aes_256_cbc(), password, Int32(password.utf8.count), nil, nil)
        guard result == 1 else { throw Failure() }
        return contents(of: bio)
    }

    private static func contents(of bio: OpaquePointer) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(Int(max(0, count))))
    }

    private static func text(_ text: String) -> OpaquePointer? {
        let bio = BIO_new(BIO_s_mem())
        BIO_write(bio, Array(text.utf8), Int32(text.utf8.count))
        return bio
    }

    private static func parse(key: String) throws -> OpaquePointer {
        guard let bio = text(key) else { throw Failure() }
        defer { BIO_free(bio) }
        guard let parsed = PEM_read_bio_PrivateKey(bio, nil, nil, nil) else { throw Failure() }
        return parsed
    }

    private static func withCertificates<R>(_ pem: String, _ body: ([OpaquePointer]) throws -> R) throws -> R {
        guard let bio = text(pem) else { throw Failure() }
        defer { BIO_free(bio) }
        var all: [OpaquePointer] = []
        defer { for certificate in all { X509_free(certificate) } }
        while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { all.append(certificate) }
        ERR_clear_error()
        return try body(all)
    }

    private static func encoded(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
    ) throws -> [UInt8] {
        var pointer: UnsafeMutablePointer<UInt8>?
        let count = encode(&pointer)
        guard count > 0, let pointer else { throw Failure() }
        defer { CRYPTO_free(pointer, nil, 0) }
        return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
    }

    /// A library context with OpenSSL's old algorithms.
    private final class Legacy {
        let context: OpaquePointer
        private var providers: [OpaquePointer] = []

        init() throws {
            guard let context = OSSL_LIB_CTX_new() else { throw Failure() }
            self.context = context
            for name in ["default", "legacy"] {
                guard let provider = OSSL_PROVIDER_load(context, name) else { throw Failure() }
                providers.append(provider)
            }
        }

        deinit {
            for provider in providers { OSSL_PROVIDER_unload(provider) }
            OSSL_LIB_CTX_free(context)
        }
    }
}
