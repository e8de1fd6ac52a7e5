import CLoadingKitOpenSSL

/// The rules by which a chain of certificates is verified, besides OpenSSL's own.
struct CertificateRules {
    /// The required name or address; nil for any.
    var host: String?
    var requiresStrength: Bool
    var lists: RevocationLists?
    var status: StapledStatus
    /// The time at which the certificates must be valid, in seconds since 1970; nil for now.
    var time: Int64?

    /// Verifies a chain by OpenSSL's rules and then by the others. Returns nil if the chain conforms to all of them.
    ///
    /// - Parameter store: The chain and the authorities. It contains the failure's code afterwards, for the alert.
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

    private func lastFailure(in store: OpaquePointer) -> CertificateFailure {
        let certificate = X509_STORE_CTX_get_current_cert(store)
        let code = X509_STORE_CTX_get_error(store)
        return CertificateFailure(
            code: code, subject: Certificate.subject(of: certificate),
            depth: Int(X509_STORE_CTX_get_error_depth(store)),
            text: code == X509_V_ERR_CERT_REVOKED ? certificate.flatMap { lists?.text(about: $0) } : nil)
    }
}
