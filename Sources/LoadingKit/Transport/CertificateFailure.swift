import COpenSSL

/// Why a peer's certificate is not to be trusted.
package struct CertificateFailure: Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        case expired, notYetValid, selfSigned, unknownAuthority, hostMismatch, revoked, other
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

    init(code: Int32, subject: String, depth: Int) {
        self.code = code
        self.subject = subject
        self.depth = depth
        text = X509_verify_cert_error_string(Int(code)).map { String(cString: $0) } ?? "error \(code)"
        reason = Self.reason(of: code)
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
        case _: .other
        }
    }
}
