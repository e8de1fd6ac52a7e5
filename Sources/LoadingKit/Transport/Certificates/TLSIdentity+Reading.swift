import CLoadingKitOpenSSL

extension TLSIdentity {
    /// Makes an identity from PEM text: certificates, including the intermediates, and a key, which may be encrypted.
    package convenience init(certificatesPEM: [UInt8], keyPEM: [UInt8], password: String?) throws(IdentityFailure) {
        guard let certificates = Certificate.all(inPEM: certificatesPEM) else { throw .noCertificate }
        guard String(decoding: keyPEM, as: UTF8.self).contains("PRIVATE KEY-----") else { throw .noKey }
        try KeyDerivation.check(keyPEM: keyPEM)
        let key = try KeyReader.key(password) { reader in
            BytesBIO.reading(keyPEM) { bio in
                bio.flatMap { PEM_read_bio_PrivateKey($0, nil, KeyReader.givePassword, reader) }
            }
        }
        try self.init(key: key, certificates: certificates)
    }

    /// Makes an identity from certificates and a key in DER: PKCS#8, encrypted or not, or an algorithm's own format.
    package convenience init(
        certificates: [Certificate], keyDER: [UInt8], password: String?
    ) throws(IdentityFailure) {
        for certificate in certificates where !certificate.isWellFormed {
            throw .malformed("a certificate is not X.509 in DER")
        }
        try KeyDerivation.check(keyDER: keyDER)
        let key = try KeyReader.key(password) { reader in
            if let key = KeyReader.plainKey(keyDER) { return key }
            return BytesBIO.reading(keyDER) { bio in
                bio.flatMap { d2i_PKCS8PrivateKey_bio($0, nil, KeyReader.givePassword, reader) }
            }
        }
        try self.init(key: key, certificates: certificates)
    }

    /// Makes an identity from a PKCS#12 file (`.p12`, `.pfx`; RFC 7292).
    package convenience init(pkcs12: [UInt8], password: String) throws(IdentityFailure) {
        let contents: PKCS12File.Contents
        do throws(IdentityFailure) {
            contents = try PKCS12File.read(pkcs12, password, nil)
        } catch .unsupported(let text) {
            // Old programs encrypt files with RC2, which OpenSSL has in a separate provider.
            guard let legacy = LegacyAlgorithms() else { throw .unsupported(text) }
            contents = try PKCS12File.read(pkcs12, password, legacy.context)
        }
        guard let key = KeyReader.plainKey(contents.key) else { throw .malformed("its key cannot be read") }
        try self.init(key: key, certificates: contents.certificates)
    }
}

/// Reads private keys. It provides the password that OpenSSL may need; without a callback OpenSSL would prompt for it
/// at the terminal.
private final class KeyReader {
    private let password: [UInt8]?
    private var wasAsked = false

    private init(_ password: String?) { self.password = password.map { Array($0.utf8) } }

    static func key(
        _ password: String?, _ read: (UnsafeMutableRawPointer) -> OpaquePointer?
    ) throws(IdentityFailure) -> OpaquePointer {
        let reader = KeyReader(password)
        ERR_clear_error()
        defer { ERR_clear_error() }
        let key = withExtendedLifetime(reader) { read(Unmanaged.passUnretained(reader).toOpaque()) }
        if let key { return key }
        if reader.wasAsked { throw password == nil ? .passwordNeeded : .wrongPassword }
        throw .malformed("the private key cannot be read (\(OpenSSLError.text()))")
    }

    static func plainKey(_ der: [UInt8]) -> OpaquePointer? {
        defer { ERR_clear_error() }
        return der.withUnsafeBufferPointer { buffer in
            var pointer = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &pointer, buffer.count)
        }
    }

    static let givePassword:
        @convention(c) (
            UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
        ) -> Int32 = { buffer, size, _, reader in
            guard let buffer, let reader else { return -1 }
            return Unmanaged<KeyReader>.fromOpaque(reader)._withUnsafeGuaranteedRef { $0.give(buffer, size) }
        }

    private func give(_ buffer: UnsafeMutablePointer<CChar>, _ size: Int32) -> Int32 {
        wasAsked = true
        guard let password, let count = Int32(exactly: password.count), count <= size else { return -1 }
        for (index, byte) in password.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        return count
    }
}

/// OpenSSL's obsolete algorithms, if the system has them.
private final class LegacyAlgorithms {
    let context: OpaquePointer
    private let providers: [OpaquePointer]

    init?() {
        guard let context = OSSL_LIB_CTX_new() else { return nil }
        self.context = context
        providers = ["default", "legacy"].compactMap { (name: String) in OSSL_PROVIDER_load(context, name) }
        guard providers.count == 2 else {
            ERR_clear_error()
            return nil
        }
    }

    deinit {
        for provider in providers { OSSL_PROVIDER_unload(provider) }
        OSSL_LIB_CTX_free(context)
    }
}

private enum PKCS12File {
    struct Contents {
        var certificates: [Certificate]
        /// The key in unencrypted form, so that it does not depend on the library context in which it was read.
        var key: [UInt8]
    }

    static func read(
        _ bytes: [UInt8], _ password: String, _ context: OpaquePointer?
    ) throws(IdentityFailure) -> Contents {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let file = parse(bytes, context) else { throw .malformed("it is not PKCS#12 (\(OpenSSLError.text()))") }
        defer { PKCS12_free(file) }
        try KeyDerivation.check(pkcs12: file, password)
        var key: OpaquePointer?
        var own: OpaquePointer?
        var others: OpaquePointer?
        let result = PKCS12_parse(file, password, &key, &own, &others)
        defer {
            EVP_PKEY_free(key)
            X509_free(own)
            CertificateStack.free(others)
        }
        guard result == 1 else { throw failure(password) }
        guard let key else { throw .noKey }
        guard let der = OpenSSLValues.der({ i2d_PrivateKey(key, &$0) }) else {
            throw .malformed("its key cannot be read (\(OpenSSLError.text()))")
        }
        let certificates =
            (own.flatMap { Certificate($0) }.map { [$0] } ?? []) + CertificateStack.certificates(in: others)
        return Contents(certificates: certificates, key: der)
    }

    private static func parse(_ bytes: [UInt8], _ context: OpaquePointer?) -> OpaquePointer? {
        var file = PKCS12_init_ex(NID_pkcs7_data, context, nil)
        return bytes.withUnsafeBufferPointer { buffer in
            var pointer = buffer.baseAddress
            // On failure, OpenSSL frees the object that it was given.
            return d2i_PKCS12(&file, &pointer, buffer.count)
        }
    }

    private static func failure(_ password: String) -> IdentityFailure {
        var reasons: [(library: Int32, reason: Int32)] = []
        let text = OpenSSLError.lastText
        while true {
            let code = ERR_get_error()
            if code == 0 { break }
            reasons.append((lk_ERR_GET_LIB(code), lk_ERR_GET_REASON(code)))
        }
        if reasons.contains(where: { $0.library == ERR_LIB_PKCS12 && $0.reason == PKCS12_R_MAC_VERIFY_FAILURE }) {
            return password.isEmpty ? .passwordNeeded : .wrongPassword
        }
        if reasons.contains(where: { $0.library == ERR_LIB_EVP && $0.reason == lk_ERR_R_UNSUPPORTED }) {
            return .unsupported(text)
        }
        return .malformed("its contents cannot be read (\(text))")
    }
}
