import CLoadingKitOpenSSL

/// A private key. Confined to the call that made it; what travels is its PEM.
final class PrivateKey {
    let pointer: OpaquePointer

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

    init(pem: String) throws(OpenSSLError) {
        let bio = try MemoryBIO(pem)
        pointer = try required(PEM_read_bio_PrivateKey(bio.pointer, nil, nil, nil), "reading a private key")
    }

    deinit { EVP_PKEY_free(pointer) }

    func pem() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_PrivateKey(bio.pointer, pointer, nil, nil, 0, nil, nil), "writing a private key")
        return bio.text
    }
}
