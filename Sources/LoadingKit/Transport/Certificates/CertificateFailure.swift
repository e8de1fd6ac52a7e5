import CLoadingKitOpenSSL

/// The reason why a peer's certificate is not trusted.
package struct CertificateFailure: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case expired, notYetValid, selfSigned, unknownAuthority, hostMismatch, revoked, weak
        /// The revocation status is missing or cannot be used.
        case unknownStatus
        /// Its public keys are not among the program's pinned ones.
        case pinMismatch
        case refused
        case other
    }

    package var reason: Reason
    /// OpenSSL's number, `X509_V_ERR_…`.
    package var code: Int32
    package var text: String
    /// The subject of the certificate that caused the failure.
    package var subject: String
    /// The distance of this certificate from the peer's own certificate in the chain. The peer's own has 0.
    package var depth: Int

    init(code: Int32, subject: String, depth: Int, text: String? = nil, reason: Reason? = nil) {
        self.code = code
        self.subject = subject
        self.depth = depth
        self.text = text ?? X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        self.reason = reason ?? Self.reason(of: code)
    }

    init(_ code: Int32, _ certificate: OpaquePointer, _ text: String, _ reason: Reason? = nil) {
        self.init(code: code, subject: Certificate.subject(of: certificate), depth: 0, text: text, reason: reason)
    }

    static let malformed = CertificateFailure(
        code: X509_V_ERR_UNSPECIFIED, subject: "unknown", depth: 0, text: "a certificate cannot be read")

    static let unusableAnchors = CertificateFailure(noAnchors: "the trusted certificates cannot be read, or are none")

    /// There are no trust anchors to verify against.
    init(noAnchors text: String) {
        self.init(code: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, subject: "unknown", depth: 0, text: text)
    }

    /// The lists of revoked certificates cannot be read.
    init(unusableLists text: String) {
        self.init(code: X509_V_ERR_UNABLE_TO_GET_CRL, subject: "unknown", depth: 0, text: text, reason: .unknownStatus)
    }

    static func refused(_ leaf: Certificate?, _ text: String = "refused by the program") -> CertificateFailure {
        CertificateFailure(
            code: X509_V_ERR_APPLICATION_VERIFICATION, subject: leaf?.subject ?? "unknown", depth: 0, text: text)
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
        case X509_V_ERR_OCSP_VERIFY_NEEDED, X509_V_ERR_CRL_HAS_EXPIRED, X509_V_ERR_CRL_NOT_YET_VALID,
            X509_V_ERR_CRL_SIGNATURE_FAILURE, X509_V_ERR_UNABLE_TO_DECRYPT_CRL_SIGNATURE,
            X509_V_ERR_ERROR_IN_CRL_LAST_UPDATE_FIELD, X509_V_ERR_ERROR_IN_CRL_NEXT_UPDATE_FIELD,
            X509_V_ERR_UNABLE_TO_GET_CRL_ISSUER, X509_V_ERR_UNHANDLED_CRITICAL_CRL_EXTENSION,
            X509_V_ERR_KEYUSAGE_NO_CRL_SIGN, X509_V_ERR_CRL_PATH_VALIDATION_ERROR, X509_V_ERR_DIFFERENT_CRL_SCOPE:
            .unknownStatus
        case X509_V_ERR_APPLICATION_VERIFICATION: .refused
        case _: .other
        }
    }
}
