import Foundation
import LoadingKitTransport

/// Whether a TLS server is authentic: the certificates that it sent, the rules to evaluate them, and the result.
///
/// The equivalent of `SecTrust` on Apple's systems, under the same name: ``URLProtectionSpace/serverTrust`` of a
/// challenge whose method is ``NSURLAuthenticationMethodServerTrust``. A delegate inspects it, evaluates it by the
/// session's rules or by its own, and answers:
///
///     func urlSession(
///         _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
///         completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
///     ) {
///         guard var trust = challenge.protectionSpace.serverTrust else {
///             return completionHandler(.performDefaultHandling, nil)
///         }
///         trust.anchorCertificates = [ourAuthority]
///         do {
///             try trust.evaluate()
///             completionHandler(.useCredential, URLCredential(trust: trust))
///         } catch {
///             completionHandler(.cancelAuthenticationChallenge, nil)
///         }
///     }
///
/// It is a value type: a change to a copy does not change the original. `.useCredential` with
/// ``URLCredential/init(trust:)`` accepts the server regardless of the result of an evaluation.
public struct ServerTrust: Sendable {
    private var evaluation: TrustEvaluation

    /// Makes a trust from certificates that are not from a challenge (`SecTrustCreateWithCertificates`).
    ///
    /// - Parameters:
    ///   - certificates: the server's own certificate first, then intermediates in any order.
    ///   - host: the name or the IP address that the first certificate must be valid for; nil: any.
    public init(certificates: [X509Certificate], host: String?) {
        evaluation = TrustEvaluation(chain: certificates.map(\.certificate), serverName: host)
    }

    package init(_ evaluation: TrustEvaluation) { self.evaluation = evaluation }

    /// The certificates that the server sent: its own first, then intermediates. They are not verified; ``evaluate()``
    /// returns a verified chain.
    public var certificates: [X509Certificate] { evaluation.chain.map { X509Certificate($0) } }

    /// The name or the IP address that the server's certificate must be valid for; nil: any (`SecPolicyCreateSSL`).
    public var host: String? {
        get { evaluation.serverName }
        set { evaluation.serverName = newValue }
    }

    /// The time at which the certificates must be valid; nil, the default: now (`SecTrustSetVerifyDate`).
    public var verifyDate: Date? {
        get { evaluation.time.map { Date(timeIntervalSince1970: TimeInterval($0)) } }
        set { evaluation.time = newValue.map { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) ?? .max } }
    }

    /// Authorities that this evaluation trusts (`SecTrustSetAnchorCertificates`). A server's own certificate can be an
    /// anchor. Default: none.
    ///
    /// Setting this property also sets ``usesAnchorCertificatesOnly``, as on Apple's systems: the session's authorities
    /// are then no longer trusted. To trust both, set ``usesAnchorCertificatesOnly`` to false afterwards.
    public var anchorCertificates: [X509Certificate] {
        get { evaluation.anchors.map { X509Certificate($0) } }
        set {
            evaluation.anchors = newValue.map(\.certificate)
            evaluation.trustsSystem = false
        }
    }

    /// Whether only ``anchorCertificates`` are trusted, and not the session's authorities
    /// (`SecTrustSetAnchorCertificatesOnly`). Default false, until anchors are set.
    public var usesAnchorCertificatesOnly: Bool {
        get { !evaluation.trustsSystem }
        set { evaluation.trustsSystem = !newValue }
    }

    /// Whether a server's certificate is refused if it has an RSA key of fewer than 2048 bits, an elliptic-curve key of
    /// fewer than 256 bits, or a signature with a digest weaker than SHA-256. Default: the value of
    /// ``AppTransportSecurity`` for the host.
    public var requiresStrongCertificates: Bool {
        get { evaluation.requiresStrength }
        set { evaluation.requiresStrength = newValue }
    }

    /// Whether certificates must follow RFC 5280 in every detail, such as key identifiers, critical basic constraints
    /// and the key usages of authorities (OpenSSL's `X509_V_FLAG_X509_STRICT`). Default false, as in TLS handshakes:
    /// the certificates of many companies' authorities do not follow these details.
    public var isStrict: Bool {
        get { evaluation.isStrict }
        set { evaluation.isStrict = newValue }
    }

    /// The revocation status of the server's certificate that the server sent in the TLS handshake: an OCSP response
    /// signed by the authority (DER, RFC 6960); nil where the server sent none (`SecTrustSetOCSPResponse`).
    ///
    /// In TLS 1.2 the OCSP response arrives after the challenge. If it revokes a certificate that the program has
    /// accepted, a second challenge follows, which has the OCSP response.
    public var ocspResponse: Data? {
        get { evaluation.status.response.map { Data($0) } }
        set { evaluation.status.response = newValue.map { Array($0) } }
    }

    /// Lists of revoked certificates, in addition to the session's lists: see
    /// ``URLSessionConfiguration/tlsRevocationLists``. Default: none. The lists must be valid at ``verifyDate``. If one
    /// of them cannot be read, no certificate is trusted.
    public var revocationLists: [TLSRevocationList] = [] {
        didSet { evaluation.lists = revocationLists.map(\.source) }
    }

    /// Verifies the certificates by OpenSSL's rules (RFC 5280, RFC 9525): signatures up to a trusted authority,
    /// validity, key usage, name constraints, and the host.
    ///
    /// One rule is stricter than OpenSSL's: an authority's name constraints apply to the host itself, too, and not only
    /// to the names in the certificate. A wildcard name cannot bypass them (RFC 5280 §4.2.1.10).
    ///
    /// The revocation status comes from ``ocspResponse``, and from the lists of the session and of ``revocationLists``.
    /// The call takes about a millisecond, and does not use the network. It reads the files of the lists in
    /// ``revocationLists``.
    ///
    /// The domains of ``AppTransportSecurity/pinnedDomains`` were checked before the challenge, and are not checked
    /// here.
    ///
    /// - Returns: the verified chain, with the server's certificate first. It contains a trusted certificate, usually
    ///   as the last element.
    /// - Throws: ``ServerTrustError``, which names the certificate and the reason.
    @discardableResult
    public func evaluate() throws(ServerTrustError) -> [X509Certificate] {
        do throws(CertificateFailure) { return try evaluation.evaluate().map { X509Certificate($0) } } catch {
            throw ServerTrustError(error, of: evaluation.chain)
        }
    }

    /// Whether ``evaluate()`` succeeds.
    public var isTrusted: Bool { evaluation.failure == nil }
}

extension ServerTrust: CustomStringConvertible {
    /// The host and the certificates' subjects.
    public var description: String {
        "<ServerTrust>: host: \(host ?? "(any)"), certificates: \(certificates.map(\.subject))"
    }
}

/// The error when a server's certificates are not trusted.
public struct ServerTrustError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// The reason for the error.
    public enum Reason: Sendable, Hashable {
        /// A certificate has expired.
        case expired
        /// A certificate is not valid yet.
        case notYetValid
        /// The server's certificate is self-signed, and is not one of the trusted certificates.
        case selfSigned
        /// No trusted authority issued the chain, or an intermediate certificate is missing.
        case unknownAuthority
        /// The server's certificate is not valid for this host.
        case hostMismatch
        /// A certificate was revoked.
        case revoked
        /// The revocation status is unknown. Either the certificate requires the server to send an OCSP response
        /// (must-staple, RFC 7633), which is missing or not valid, or an authority's revocation list is not valid.
        case unknownRevocationStatus
        /// None of the keys is in ``AppTransportSecurity/pinnedDomains``.
        case pinMismatch
        /// A key is too short, or a signature's digest too weak.
        case weak
        /// OpenSSL has rejected the chain for another reason; ``ServerTrustError/description`` contains it.
        case other
    }

    private let failure: CertificateFailure
    /// The certificate at fault; nil where the server did not send it.
    public let certificate: X509Certificate?

    init(_ failure: CertificateFailure, of chain: [Certificate]) {
        self.failure = failure
        let atFault = chain.indices.contains(failure.depth) ? chain[failure.depth] : nil
        // The server may have sent the certificates in another order than the chain's.
        let found = atFault?.subject == failure.subject ? atFault : chain.first { $0.subject == failure.subject }
        certificate = found.map { X509Certificate($0) }
    }

    /// The reason for the error.
    public var reason: Reason {
        switch failure.reason {
        case .expired: .expired
        case .notYetValid: .notYetValid
        case .selfSigned: .selfSigned
        case .unknownAuthority: .unknownAuthority
        case .hostMismatch: .hostMismatch
        case .revoked: .revoked
        case .unknownStatus: .unknownRevocationStatus
        case .pinMismatch: .pinMismatch
        case .weak: .weak
        case .refused, .other: .other
        }
    }

    /// The code of the `URLError` that a load fails with for this reason.
    public var code: URLError.Code { failure.category.urlErrorCode }

    /// The position in the chain of the certificate at fault: 0 is the server's own, 1 its issuer's, and so on.
    public var depth: Int { failure.depth }

    /// OpenSSL's number for the reason, `X509_V_ERR_…`.
    public var opensslCode: Int { Int(failure.code) }

    /// The certificate, the reason and the remedy.
    public var description: String { failure.description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
