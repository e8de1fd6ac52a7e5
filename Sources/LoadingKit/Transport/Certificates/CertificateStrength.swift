import CLoadingKitOpenSSL

/// Checks whether a server's own certificate is as strong as App Transport Security requires: an RSA key of at least
/// 2048 bits or an elliptic-curve key of at least 256, and a signature with SHA-256 or better.
enum CertificateStrength {
    /// The failure of a weak certificate; nil if it is strong enough.
    static func failure(of certificate: OpaquePointer) -> CertificateFailure? {
        if let weakness = weakness(ofKeyOf: certificate) {
            return CertificateFailure(X509_V_ERR_EE_KEY_TOO_SMALL, certificate, weakness)
        }
        return weakness(ofSignatureOf: certificate).map {
            CertificateFailure(X509_V_ERR_CA_MD_TOO_WEAK, certificate, $0)
        }
    }

    private static func weakness(ofKeyOf certificate: OpaquePointer) -> String? {
        guard let key = X509_get0_pubkey(certificate) else { return "its key cannot be read" }
        let bits = EVP_PKEY_get_bits(key)
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: return bits < 2048 ? "its RSA key has \(bits) bits, fewer than 2048" : nil
        case EVP_PKEY_EC: return bits < 256 ? "its elliptic curve's key has \(bits) bits, fewer than 256" : nil
        case EVP_PKEY_ED25519, EVP_PKEY_ED448: return nil
        case _: return "its key is neither RSA's nor an elliptic curve's"
        }
    }

    /// The signature of a self-signed certificate proves nothing, so its strength does not count.
    private static func weakness(ofSignatureOf certificate: OpaquePointer) -> String? {
        if X509_get_extension_flags(certificate) & UInt32(EXFLAG_SS) != 0 { return nil }
        var securityBits: Int32 = 0
        guard X509_get_signature_info(certificate, nil, nil, &securityBits, nil) == 1 else {
            return "its signature's algorithm is not known"
        }
        return securityBits < 128 ? "its signature's digest is weaker than SHA-256" : nil
    }
}
