import CLoadingKitOpenSSL

/// An X.509 certificate. Confined to the call that made it; only its PEM or DER is passed on.
package final class ParsedCertificate {
    package let pointer: OpaquePointer

    /// An empty certificate, to be filled and signed.
    init() throws(OpenSSLError) {
        pointer = try required(X509_new(), "making a certificate")
    }

    /// Takes ownership of the reference.
    private init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { X509_free(pointer) }

    /// Every certificate in the text, in its order.
    package static func all(inPEM text: String) throws(OpenSSLError) -> [ParsedCertificate] {
        let bio = try MemoryBIO(text)
        var certificates: [ParsedCertificate] = []
        while let pointer = PEM_read_bio_X509(bio.pointer, nil, lk_no_password, nil) {
            certificates.append(ParsedCertificate(owning: pointer))
        }
        if certificates.isEmpty { throw OpenSSLError("reading a certificate") }
        // The end of the text leaves "no start line" in the queue.
        ERR_clear_error()
        return certificates
    }

    package static func first(inPEM text: String) throws(OpenSSLError) -> ParsedCertificate {
        guard let first = try all(inPEM: text).first else { throw OpenSSLError("reading a certificate") }
        return first
    }

    func pem() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_X509(bio.pointer, pointer), "writing a certificate")
        return bio.text
    }

    func der() throws(OpenSSLError) -> [UInt8] {
        try derBytes("a certificate") { i2d_X509(pointer, &$0) }
    }
}

/// A private key. Confined to the call that made it; only its PEM is passed on.
package final class PrivateKey {
    package let pointer: OpaquePointer

    /// A new key.
    init(_ kind: CertificateTemplate.Key = .p256) throws(OpenSSLError) {
        let isRSA = if case .rsa = kind { true } else { false }
        let context = try required(
            EVP_PKEY_CTX_new_id(isRSA ? EVP_PKEY_RSA : EVP_PKEY_EC, nil), "preparing a key")
        defer { EVP_PKEY_CTX_free(context) }
        try check(EVP_PKEY_keygen_init(context), "preparing a key")
        switch kind {
        case .p256:
            try check(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1), "choosing P-256")
        case .p224: try check(EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_secp224r1), "choosing P-224")
        case .rsa(let bits):
            try check(
                EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(truncatingIfNeeded: bits)), "choosing \(bits) bits")
        }
        var key: OpaquePointer?
        try check(EVP_PKEY_keygen(context, &key), "making a key")
        pointer = try required(key, "making a key")
    }

    package init(pem: String) throws(OpenSSLError) {
        let bio = try MemoryBIO(pem)
        pointer = try required(PEM_read_bio_PrivateKey(bio.pointer, nil, lk_no_password, nil), "reading a private key")
    }

    deinit { EVP_PKEY_free(pointer) }

    func pem() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_PrivateKey(bio.pointer, pointer, nil, nil, 0, nil, nil), "writing a private key")
        return bio.text
    }
}

/// Bytes in memory with OpenSSL's stream interface, to read and write PEM.
final class MemoryBIO {
    let pointer: OpaquePointer

    init() throws(OpenSSLError) {
        pointer = try required(BIO_new(BIO_s_mem()), "making a memory BIO")
    }

    convenience init(_ text: String) throws(OpenSSLError) {
        try self.init()
        let bytes = Array(text.utf8)
        guard let count = Int32(exactly: bytes.count) else {
            throw OpenSSLError("reading PEM", reason: "\(bytes.count) bytes are too many")
        }
        guard count == 0 || BIO_write(pointer, bytes, count) == count else {
            throw OpenSSLError("filling a memory BIO")
        }
    }

    deinit { BIO_free_all(pointer) }

    var text: String {
        var start: UnsafeMutableRawPointer?
        let count = withUnsafeMutableBytes(of: &start) { BIO_ctrl(pointer, BIO_CTRL_INFO, 0, $0.baseAddress) }
        guard let start, count > 0 else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
}
