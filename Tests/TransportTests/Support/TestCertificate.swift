import CLoadingKitOpenSSL

/// A certificate and its key, made by the test with OpenSSL.
final class TestCertificate: @unchecked Sendable {  // not changed after it was made
    let certificate: OpaquePointer
    let key: OpaquePointer
    private let name: String

    /// - Parameters:
    ///   - alternativeNames: As OpenSSL's configuration writes them: `DNS:localhost,IP:127.0.0.1`.
    ///   - nameConstraints: As OpenSSL's configuration writes them: `permitted;DNS:example.com,excluded;IP:10.0.0.0/255.0.0.0`.
    ///   - validity: The seconds from now at which it begins and ends.
    init(
        _ name: String, alternativeNames: String? = nil, issuer: TestCertificate? = nil, isAuthority: Bool = false,
        nameConstraints: String? = nil, validity: ClosedRange<Int> = -3600...86_400
    ) throws {
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil), let certificate = X509_new() else {
            throw PeerError(call: "X509_new")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_keygen(context, &key)
        guard let key else { throw PeerError(call: "EVP_PKEY_keygen") }
        self.certificate = certificate
        self.key = key
        self.name = name
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...1_000_000_000))
        X509_gmtime_adj(X509_getm_notBefore(certificate), validity.lowerBound)
        X509_gmtime_adj(X509_getm_notAfter(certificate), validity.upperBound)
        X509_set_pubkey(certificate, key)
        let subject = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.certificate ?? certificate))
        add("basicConstraints", isAuthority ? "critical,CA:TRUE" : "critical,CA:FALSE")
        if let alternativeNames { add("subjectAltName", alternativeNames) }
        if let nameConstraints { add("nameConstraints", nameConstraints) }
        guard X509_sign(certificate, issuer?.key ?? key, nil) > 0 else { throw PeerError(call: "X509_sign") }
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    private func add(_ name: String, _ value: String) {
        guard let ext = X509V3_EXT_conf(nil, nil, name, value) else { return }
        X509_add_ext(certificate, ext, -1)
        X509_EXTENSION_free(ext)
    }

    var pem: [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { return [] }
        defer { BIO_free(bio) }
        PEM_write_bio_X509(bio, certificate)
        var start: UnsafeMutablePointer<CChar>?
        let count = lk_BIO_get_mem_data(bio, &start)
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// The certificates that the tests share.
struct TestCertificates {
    let authority: TestCertificate
    let server: TestCertificate

    static let shared = Result {
        let authority = try TestCertificate("Test Authority", isAuthority: true)
        let names = "DNS:localhost,DNS:*.example.test,IP:127.0.0.1,IP:::1"
        return TestCertificates(
            authority: authority, server: try TestCertificate("Server", alternativeNames: names, issuer: authority))
    }
}
