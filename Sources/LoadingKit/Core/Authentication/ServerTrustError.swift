import Foundation
import LoadingKitTransport

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
