import CLoadingKitOpenSSL
import Glibc

/// An authority's statements about the revocation of its certificates.
extension CertificateAuthority {
    /// The status of a certificate in an OCSP response (RFC 6960 §2.2).
    public enum CertificateStatus: Sendable, Equatable {
        case good
        /// Revoked since this time, in seconds since 1970.
        case revoked(since: Int)
        /// The certificate is unknown to the authority.
        case unknown
    }

    /// The start and the end of a statement's validity, in seconds from now.
    public typealias Validity = ClosedRange<Int>

    /// An OCSP response about a certificate, in DER, for a server to staple (``TLSServerOptions/stapledResponse``).
    ///
    /// - Parameters:
    ///   - certificatePEM: the certificate; further certificates are ignored.
    ///   - status: the certificate's status.
    ///   - validity: the response's validity. By default from an hour ago, for a day.
    ///   - signer: the signer in place of the authority: a separate service
    ///     (``CertificateTemplate/ocspResponder(notBefore:notAfter:)``), or an identity without the right to sign. The
    ///     response contains its certificates.
    public func ocspResponse(
        about certificatePEM: String, _ status: CertificateStatus = .good, validity: Validity = -3600...86_400,
        signedBy signer: ServerIdentity? = nil
    ) throws(OpenSSLError) -> [UInt8] {
        let issuer = try ParsedCertificate.first(inPEM: self.certificatePEM)
        let about = try ParsedCertificate.first(inPEM: certificatePEM)
        let answer = try required(OCSP_BASICRESP_new(), "making an OCSP response")
        defer { OCSP_BASICRESP_free(answer) }
        let name = try required(OCSP_cert_to_id(nil, about.pointer, issuer.pointer), "naming a certificate")
        defer { OCSP_CERTID_free(name) }
        let begin = try ASN1Time(fromNow: validity.lowerBound)
        let end = try ASN1Time(fromNow: validity.upperBound)
        let (code, since): (Int32, ASN1Time?) =
            switch status {
            case .good: (V_OCSP_CERTSTATUS_GOOD, nil)
            case .revoked(let time): (V_OCSP_CERTSTATUS_REVOKED, try ASN1Time(time))
            case .unknown: (V_OCSP_CERTSTATUS_UNKNOWN, nil)
            }
        _ = try required(
            OCSP_basic_add1_status(
                answer, name, code, OCSP_REVOKED_STATUS_KEYCOMPROMISE, since?.pointer, begin.pointer, end.pointer),
            "adding a status")
        let signing = try ParsedCertificate.all(inPEM: signer?.certificatePEM ?? self.certificatePEM)
        for intermediate in signing.dropFirst() {
            try check(OCSP_basic_add1_cert(answer, intermediate.pointer), "adding an intermediate")
        }
        let key = try PrivateKey(pem: signer?.privateKeyPEM ?? privateKeyPEM)
        try check(
            OCSP_basic_sign(answer, (signing.first ?? issuer).pointer, key.pointer, EVP_sha256(), nil, 0),
            "signing an OCSP response")
        let whole = try required(
            OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, answer), "making an OCSP response")
        defer { OCSP_RESPONSE_free(whole) }
        return try derBytes("an OCSP response") { i2d_OCSP_RESPONSE(whole, &$0) }
    }

    /// A list of revoked certificates, in DER (RFC 5280 §5).
    ///
    /// - Parameters:
    ///   - certificatesPEM: the revoked certificates, each the first of its text.
    ///   - validity: the list's validity. By default from an hour ago, for a day.
    ///   - isDelta: whether the list is marked as a delta list, which contains only changes.
    public func revocationList(
        of certificatesPEM: [String] = [], validity: Validity = -3600...86_400, isDelta: Bool = false
    ) throws(OpenSSLError) -> [UInt8] {
        let list = try required(X509_CRL_new(), "making a revocation list")
        defer { X509_CRL_free(list) }
        let issuer = try ParsedCertificate.first(inPEM: certificatePEM)
        // Version 2 is written as 1 (RFC 5280 §5.1.2.1).
        try check(X509_CRL_set_version(list, 1), "setting the version")
        try check(X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer.pointer)), "naming the issuer")
        let begin = try ASN1Time(fromNow: validity.lowerBound)
        let end = try ASN1Time(fromNow: validity.upperBound)
        try check(X509_CRL_set1_lastUpdate(list, begin.pointer), "setting the list's time")
        try check(X509_CRL_set1_nextUpdate(list, end.pointer), "setting the list's end")
        for text in certificatesPEM {
            let certificate = try ParsedCertificate.first(inPEM: text)
            let entry = try required(X509_REVOKED_new(), "making an entry")
            X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(certificate.pointer))
            X509_REVOKED_set_revocationDate(entry, begin.pointer)
            try check(X509_CRL_add0_revoked(list, entry), "adding an entry")
        }
        if isDelta {
            let base = ASN1_INTEGER_new()
            defer { ASN1_INTEGER_free(base) }
            try check(ASN1_INTEGER_set(base, 1), "numbering the list")
            try check(X509_CRL_add1_ext_i2d(list, NID_delta_crl, base, 1, 0), "making a delta list")
        }
        let key = try PrivateKey(pem: privateKeyPEM)
        try check(X509_CRL_sort(list), "sorting the list")
        try check(X509_CRL_sign(list, key.pointer, EVP_sha256()), "signing the list")
        return try derBytes("a revocation list") { i2d_X509_CRL(list, &$0) }
    }
}

extension CertificateTemplate {
    /// A certificate for a service that signs OCSP responses for an authority.
    public static func ocspResponder(notBefore: Int? = nil, notAfter: Int? = nil) -> CertificateTemplate {
        CertificateTemplate(
            commonName: "LoadingKit Loopback OCSP", dnsNames: [], ipAddresses: [], notBefore: notBefore,
            notAfter: notAfter, usage: .ocspResponder)
    }
}

/// A time in the form that certificates use.
private final class ASN1Time {
    let pointer: UnsafeMutablePointer<ASN1_TIME>

    init(_ seconds: Int) throws(OpenSSLError) {
        pointer = try required(ASN1_GENERALIZEDTIME_set(nil, seconds), "encoding a time")
    }

    convenience init(fromNow seconds: Int) throws(OpenSSLError) { try self.init(time(nil) &+ seconds) }

    deinit { ASN1_STRING_free(pointer) }
}
