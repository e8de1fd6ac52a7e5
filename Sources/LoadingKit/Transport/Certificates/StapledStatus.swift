import CLoadingKitOpenSSL
import Glibc

/// The stapled OCSP response of a TLS handshake: a signed statement of the authority whether the server's certificate
/// was revoked (RFC 6960, RFC 6066 §8).
///
/// An unusable response (malformed, for another certificate, out of date, with a wrong signature) counts as a missing
/// one: a server with a revoked certificate would send none. A certificate may require a response (RFC 7633); a missing
/// one is then a failure.
package struct StapledStatus: Sendable {
    /// The `OCSPResponse` in DER; nil if the server sent none.
    package var response: [UInt8]?
    /// Whether the handshake has passed the point at which the response is sent.
    package var isDue = false

    package init() {}

    init(response: [UInt8]?, isDue: Bool) {
        self.response = response
        self.isDue = isDue
    }

    /// The failure if the certificate must not be trusted; nil if the status gives no reason.
    ///
    /// - Parameters:
    ///   - chain: the certificate and its issuers, verified.
    ///   - anchors: the trusted certificates against which the chain was verified.
    ///   - time: the time at which the response must be valid, in seconds since 1970; nil for now.
    func failure(of chain: OpaquePointer?, trusting anchors: OpaquePointer?, at time: Int64?) -> CertificateFailure? {
        guard let leaf = OPENSSL_sk_value(chain, 0).map({ OpaquePointer($0) }), response != nil || isDue else {
            return nil
        }
        ERR_clear_error()
        defer { ERR_clear_error() }
        switch verdict(on: leaf, chain, anchors, time ?? Int64(Glibc.time(nil))) {
        case .good: return nil
        case .revoked(let text):
            return CertificateFailure(X509_V_ERR_CERT_REVOKED, leaf, text)
        case .unusable(let text):
            guard isDue, Self.demandsStatus(leaf) else { return nil }
            return CertificateFailure(
                X509_V_ERR_OCSP_VERIFY_NEEDED, leaf,
                "it demands that the server sends its authority's answer (must-staple, RFC 7633), but \(text)")
        }
    }

    // MARK: The answer

    private enum Verdict {
        case good
        case revoked(String)
        /// The text states the reason.
        case unusable(String)
    }

    private func verdict(
        on leaf: OpaquePointer, _ chain: OpaquePointer?, _ anchors: OpaquePointer?, _ time: Int64
    ) -> Verdict {
        guard let response else { return .unusable("the server sent none") }
        guard let answer = Self.parse(response) else { return .unusable("what the server sent is malformed") }
        defer { OCSP_BASICRESP_free(answer) }
        // The key is the issuer's own, or one that the issuer has certified for this purpose (RFC 6960 §4.2.2.2).
        guard OCSP_basic_verify(answer, chain, anchors, 0) == 1 else {
            return .unusable("its signature is not valid (\(OpenSSLError.text()))")
        }
        guard let issuer = OPENSSL_sk_value(chain, 1).map({ OpaquePointer($0) }),
            let single = Self.answer(answer, about: leaf, issuedBy: issuer)
        else { return .unusable("it is about another certificate") }
        return Self.read(single, time)
    }

    private static func parse(_ response: [UInt8]) -> OpaquePointer? {
        let whole = response.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &start, buffer.count)
        }
        guard let whole else { return nil }
        defer { OCSP_RESPONSE_free(whole) }
        guard OCSP_response_status(whole) == OCSP_RESPONSE_STATUS_SUCCESSFUL else { return nil }
        return OCSP_response_get1_basic(whole)
    }

    private static func answer(
        _ answer: OpaquePointer, about leaf: OpaquePointer, issuedBy issuer: OpaquePointer
    ) -> OpaquePointer? {
        for index in 0..<max(0, OCSP_resp_count(answer)) {
            guard let single = OCSP_resp_get0(answer, index), let about = OCSP_SINGLERESP_get0_id(single) else {
                continue
            }
            // The certificate is identified by hashes, and the response names their hash function.
            var function: OpaquePointer?
            OCSP_id_get0_info(nil, &function, nil, nil, about)
            guard let digest = EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(function))),
                let own = OCSP_cert_to_id(digest, leaf, issuer)
            else { continue }
            defer { OCSP_CERTID_free(own) }
            if OCSP_id_cmp(own, about) == 0 { return single }
        }
        return nil
    }

    /// The tolerated difference between clocks, in seconds.
    private static let skew: Int64 = 300

    private static func read(_ single: OpaquePointer, _ time: Int64) -> Verdict {
        var reason: Int32 = -1
        var revokedAt: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var thisUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        var nextUpdate: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        let status = OCSP_single_get0_status(single, &reason, &revokedAt, &thisUpdate, &nextUpdate)
        guard let begin = CertificateTime(thisUpdate), begin.seconds <= time &+ skew else {
            return .unusable("it is not valid yet")
        }
        switch status {
        case V_OCSP_CERTSTATUS_REVOKED:
            // An outdated response counts here, too: a revoked certificate stays revoked.
            let when = CertificateTime(revokedAt).map { " at \($0)" } ?? ""
            let why = reason >= 0 ? OCSP_crl_reason_str(Int(reason)).map { " (\(String(cString: $0)))" } ?? "" : ""
            return .revoked("revoked\(when)\(why), by the authority's answer of \(begin)")
        case V_OCSP_CERTSTATUS_GOOD:
            // Without an end of validity the response is outdated: newer ones are always available (RFC 6960 §4.2.2.1).
            guard let end = CertificateTime(nextUpdate), time <= end.seconds &+ skew else {
                return .unusable("it is out of date (of \(begin))")
            }
            return .good
        case _: return .unusable("the authority does not know the certificate")
        }
    }

    // MARK: The required status

    /// Whether the certificate has the TLS feature `status_request` (RFC 7633 §4.2.3).
    private static func demandsStatus(_ certificate: OpaquePointer) -> Bool {
        guard let raw = X509_get_ext_d2i(certificate, NID_tlsfeature, nil, nil) else { return false }
        let features = OpaquePointer(raw)
        defer { TLS_FEATURE_free(features) }
        return OpenSSLValues.elements(of: features).contains { number in
            ASN1_INTEGER_get(UnsafePointer(number)) == Int(TLSEXT_TYPE_status_request)
        }
    }
}
