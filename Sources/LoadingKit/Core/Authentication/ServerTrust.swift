import Foundation
import LoadingKitTransport

/// Whether a TLS server is who it says: the certificates that it showed, the rules to judge them by, and the verdict.
///
/// It is what `SecTrust` is on Apple's systems, reached by the same name: ``URLProtectionSpace/serverTrust`` of a
/// challenge whose method is ``NSURLAuthenticationMethodServerTrust``. A delegate looks at it, evaluates it by the rules
/// of the session or by its own, and answers:
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
/// It is a value: what is changed in a copy changes nothing else. `.useCredential` with ``URLCredential/init(trust:)``
/// accepts the server whatever an evaluation says.
public struct ServerTrust: Sendable {
    private var evaluation: TrustEvaluation

    /// Trust in certificates from elsewhere than a challenge (`SecTrustCreateWithCertificates`).
    ///
    /// - Parameters:
    ///   - certificates: the server's own first, then intermediates in any order.
    ///   - host: the name or the IP address that the first certificate has to be for; nil: any.
    public init(certificates: [X509Certificate], host: String?) {
        evaluation = TrustEvaluation(chain: certificates.map(\.certificate), serverName: host)
    }

    package init(_ evaluation: TrustEvaluation) { self.evaluation = evaluation }

    /// The certificates that the server sent: its own first, then intermediates. They are not verified: ``evaluate()``
    /// gives a chain that is.
    public var certificates: [X509Certificate] { evaluation.chain.map { X509Certificate($0) } }

    /// The name or the IP address that the server's certificate has to be for; nil: any (`SecPolicyCreateSSL`).
    public var host: String? {
        get { evaluation.serverName }
        set { evaluation.serverName = newValue }
    }

    /// The time at which the certificates have to be valid; nil, the default: now (`SecTrustSetVerifyDate`).
    public var verifyDate: Date? {
        get { evaluation.time.map { Date(timeIntervalSince1970: TimeInterval($0)) } }
        set { evaluation.time = newValue.map { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) ?? .max } }
    }

    /// Authorities that this evaluation trusts (`SecTrustSetAnchorCertificates`). A server's own certificate may be
    /// one. Default: none.
    ///
    /// Setting them also sets ``usesAnchorCertificatesOnly``, as on Apple's systems: the session's authorities are then
    /// not trusted any more. Set that to false afterwards to trust both.
    public var anchorCertificates: [X509Certificate] {
        get { evaluation.anchors.map { X509Certificate($0) } }
        set {
            evaluation.anchors = newValue.map(\.certificate)
            evaluation.trustsSystem = false
        }
    }

    /// Whether ``anchorCertificates`` alone are trusted, and not the session's authorities
    /// (`SecTrustSetAnchorCertificatesOnly`). Default false, until anchors are set.
    public var usesAnchorCertificatesOnly: Bool {
        get { !evaluation.trustsSystem }
        set { evaluation.trustsSystem = !newValue }
    }

    /// Whether a server's certificate with an RSA key of fewer than 2048 bits, an elliptic one of fewer than 256, or a
    /// signature weaker than with SHA-256 is refused. Default: as ``AppTransportSecurity`` has it for the host.
    public var requiresStrongCertificates: Bool {
        get { evaluation.requiresStrength }
        set { evaluation.requiresStrength = newValue }
    }

    /// Whether certificates have to follow RFC 5280 in every detail, such as key identifiers, critical basic
    /// constraints and the key usages of authorities (OpenSSL's `X509_V_FLAG_X509_STRICT`). Default false, as in TLS
    /// handshakes: the certificates of many companies' authorities do not follow it so closely.
    public var isStrict: Bool {
        get { evaluation.isStrict }
        set { evaluation.isStrict = newValue }
    }

    /// What the server said of its own certificate in the TLS handshake: its authority's signed answer (an OCSP response
    /// in DER, RFC 6960) to the question whether it was revoked; nil where it said nothing
    /// (`SecTrustSetOCSPResponse`).
    ///
    /// In TLS 1.2 the answer comes after the challenge. Where it says that a certificate was revoked which the program has
    /// accepted, there is a second challenge, with the answer.
    public var ocspResponse: Data? {
        get { evaluation.status.response.map { Data($0) } }
        set { evaluation.status.response = newValue.map { Array($0) } }
    }

    /// Lists of revoked certificates, besides those of the session: see ``URLSessionConfiguration/tlsRevocationLists``.
    /// Default: none. They have to be valid at ``verifyDate``. With one that cannot be read nothing is trusted.
    public var revocationLists: [URLSessionConfiguration.RevocationList] = [] {
        didSet { evaluation.lists = revocationLists.map(\.source) }
    }

    /// Verifies the certificates by OpenSSL's rules (RFC 5280, RFC 9525): signatures up to a trusted authority,
    /// validity, what each may be used for, constraints on names, and the host.
    ///
    /// One rule is stricter than OpenSSL's: an authority's constraints on names hold for the host itself, too, and not
    /// just for the names in the certificate. A name with a wildcard is no way around them (RFC 5280 §4.2.1.10).
    ///
    /// Whether a certificate was revoked is known from ``ocspResponse``, and from the lists of the session and of
    /// ``revocationLists``. The call takes about a millisecond, and does not use the network. It reads the files of lists
    /// that were added here.
    ///
    /// The domains of ``AppTransportSecurity/pinnedDomains`` have been checked before there was a challenge, and are not
    /// checked here.
    ///
    /// - Returns: the chain that was verified, with the server's certificate first. It contains a trusted certificate,
    ///   usually as the last.
    /// - Throws: ``ServerTrustError``, which says what is wrong with which certificate.
    @discardableResult
    public func evaluate() throws(ServerTrustError) -> [X509Certificate] {
        switch evaluation.evaluate() {
        case .success(let chain): return chain.map { X509Certificate($0) }
        case .failure(let failure): throw ServerTrustError(failure, of: evaluation.chain)
        }
    }

    /// Whether ``evaluate()`` succeeds.
    public var isTrusted: Bool {
        if case .success = evaluation.evaluate() { true } else { false }
    }
}

extension ServerTrust: CustomStringConvertible {
    /// The host and the certificates' subjects.
    public var description: String {
        "<ServerTrust>: host: \(host ?? "(any)"), certificates: \(certificates.map(\.subject))"
    }
}

/// Why a server's certificates are not trusted.
public struct ServerTrustError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// A certificate has expired.
        case expired
        /// A certificate is not valid yet.
        case notYetValid
        /// The server's certificate is self-signed, and is not one of those that are trusted.
        case selfSigned
        /// No trusted authority issued the chain, or an intermediate certificate is missing.
        case unknownAuthority
        /// The server's certificate is not for this host.
        case hostMismatch
        /// A certificate was revoked.
        case revoked
        /// Whether a certificate was revoked cannot be told: it demands that the server sends its authority's answer
        /// (must-staple, RFC 7633), which has not come or is not valid; or the list of an authority is not valid.
        case unknownRevocationStatus
        /// The keys are none of those in ``AppTransportSecurity/pinnedDomains``.
        case pinMismatch
        /// A key is too short, or a signature's digest too weak.
        case weak
        /// OpenSSL has rejected the chain for another reason, which is in ``ServerTrustError/description``.
        case other
    }

    private let failure: CertificateFailure
    /// The certificate that is at fault; nil where the server did not send it.
    public let certificate: X509Certificate?

    init(_ failure: CertificateFailure, of chain: [Certificate]) {
        self.failure = failure
        let atFault = chain.indices.contains(failure.depth) ? chain[failure.depth] : nil
        // The server may have sent the certificates in another order than that of the chain.
        let found = atFault?.subject == failure.subject ? atFault : chain.first { $0.subject == failure.subject }
        certificate = found.map { X509Certificate($0) }
    }

    /// What is wrong.
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

    /// The place in the chain of the certificate that is at fault: 0 is the server's own, 1 its issuer's, and so on.
    public var depth: Int { failure.depth }

    /// OpenSSL's number for the reason, `X509_V_ERR_…`.
    public var opensslCode: Int { Int(failure.code) }

    /// Which certificate, what is wrong with it, and what to do.
    public var description: String { failure.description }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
