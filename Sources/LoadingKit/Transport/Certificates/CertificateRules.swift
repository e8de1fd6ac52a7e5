import CLoadingKitOpenSSL

/// The rules that a chain of certificates is verified by, besides OpenSSL's own.
struct CertificateRules {
    /// The name or address that OpenSSL has to demand; nil: any.
    var host: String?
    var requiresStrength: Bool
    var lists: RevocationLists?
    var status: StapledStatus
    /// When the certificates have to be valid, in seconds since 1970; nil: now.
    var time: Int64?

    /// Verifies a chain: by OpenSSL's rules, then by those that OpenSSL does not have. Nil where all of them let it pass.
    ///
    /// - Parameter store: what is verified, and against what. It has the failure's code afterwards, for the alert.
    func failure(verifying store: OpaquePointer) -> CertificateFailure? {
        lists?.install(in: store)
        guard X509_verify_cert(store) == 1 else { return lastFailure(in: store) }
        let chain = X509_STORE_CTX_get0_chain(store)
        let failure =
            host.flatMap(PeerName.init).flatMap { NameConstraints.failure(of: $0, in: chain) }
            ?? (requiresStrength ? X509_STORE_CTX_get0_cert(store).flatMap(CertificateStrength.failure) : nil)
            ?? status.failure(of: chain, trusting: X509_STORE_CTX_get0_store(store), at: time)
        if let failure { X509_STORE_CTX_set_error(store, failure.code) }
        return failure
    }

    /// The failure that OpenSSL has just found.
    private func lastFailure(in store: OpaquePointer) -> CertificateFailure {
        let certificate = X509_STORE_CTX_get_current_cert(store)
        let subject = certificate.flatMap { X509_get_subject_name($0) }
        let code = X509_STORE_CTX_get_error(store)
        return CertificateFailure(
            code: code, subject: subject.map(Certificate.text(of:)) ?? "unknown",
            depth: Int(X509_STORE_CTX_get_error_depth(store)),
            text: code == X509_V_ERR_CERT_REVOKED ? certificate.flatMap { lists?.text(about: $0) } : nil)
    }
}
