import CLoadingKitOpenSSL

/// Why a peer's certificate is not to be trusted.
package struct CertificateFailure: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case expired, notYetValid, selfSigned, unknownAuthority, hostMismatch, revoked, weak
        /// The program has refused it.
        case refused
        case other
    }

    package var reason: Reason
    /// OpenSSL's number, `X509_V_ERR_…`.
    package var code: Int32
    /// OpenSSL's words.
    package var text: String
    /// The subject of the certificate that was at fault.
    package var subject: String
    /// How far that certificate is from the peer's own in the chain, which is 0.
    package var depth: Int

    init(code: Int32, subject: String, depth: Int, text: String? = nil) {
        self.code = code
        self.subject = subject
        self.depth = depth
        self.text = text ?? X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        reason = Self.reason(of: code)
    }

    /// Verifies a chain: by OpenSSL's rules, then by those that OpenSSL does not have. Nil where all of them let it pass.
    ///
    /// - Parameters:
    ///   - store: what is verified, and against what. It has the failure's code afterwards, for the alert.
    ///   - host: the name or address that OpenSSL has to demand; nil: any.
    static func verifying(
        _ store: OpaquePointer, host: String?, requiresStrength: Bool
    ) -> CertificateFailure? {
        guard X509_verify_cert(store) == 1 else { return CertificateFailure(store) }
        let failure =
            host.flatMap(PeerName.init).flatMap {
                NameConstraints.failure(of: $0, in: X509_STORE_CTX_get0_chain(store))
            }
            ?? (requiresStrength ? X509_STORE_CTX_get0_cert(store).flatMap(CertificateStrength.failure) : nil)
        if let failure { X509_STORE_CTX_set_error(store, failure.code) }
        return failure
    }

    /// What a verification has just found.
    private init(_ store: OpaquePointer) {
        let subject = X509_STORE_CTX_get_current_cert(store).flatMap { X509_get_subject_name($0) }
        self.init(
            code: X509_STORE_CTX_get_error(store), subject: subject.map(Certificate.text(of:)) ?? "unknown",
            depth: Int(X509_STORE_CTX_get_error_depth(store)))
    }

    static let malformed = CertificateFailure(
        code: X509_V_ERR_UNSPECIFIED, subject: "unknown", depth: 0, text: "a certificate cannot be read")

    static let unusableAnchors = CertificateFailure(noAnchors: "the trusted certificates cannot be read, or are none")

    /// There is nothing to verify against.
    init(noAnchors text: String) {
        self.init(code: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, subject: "unknown", depth: 0, text: text)
    }

    static func refused(_ leaf: Certificate?) -> CertificateFailure {
        CertificateFailure(
            code: X509_V_ERR_APPLICATION_VERIFICATION, subject: leaf?.subject ?? "unknown", depth: 0,
            text: "refused by the program")
    }

    private static func reason(of code: Int32) -> Reason {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: .selfSigned
        case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
            .unknownAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .hostMismatch
        case X509_V_ERR_CERT_REVOKED: .revoked
        case X509_V_ERR_EE_KEY_TOO_SMALL, X509_V_ERR_CA_KEY_TOO_SMALL, X509_V_ERR_CA_MD_TOO_WEAK: .weak
        case X509_V_ERR_APPLICATION_VERIFICATION: .refused
        case _: .other
        }
    }
}
