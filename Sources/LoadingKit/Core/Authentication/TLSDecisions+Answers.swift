import Foundation
import LoadingKitTransport

extension TrustDecision {
    /// What a program's answer to a challenge means for a server's certificates.
    package init(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, about trust: ServerTrust
    ) {
        switch disposition {
        // A credential accepts the server with these certificates, not with others.
        case .useCredential: self = credential?.trust?.certificates == trust.certificates ? .trust : .verdict
        case .performDefaultHandling: self = .verdict
        case .cancelAuthenticationChallenge: self = .cancel
        case .rejectProtectionSpace: self = .refuse
        }
    }
}

extension IdentityDecision {
    /// What a program's answer to a challenge means for the certificate that is sent.
    package init(
        _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?, proposed: URLCredential?
    ) {
        switch disposition {
        case .useCredential: self.init(credential)
        case .performDefaultHandling: self.init(proposed)
        case .cancelAuthenticationChallenge: self = .cancel
        case .rejectProtectionSpace: self = .none
        }
    }

    private init(_ credential: URLCredential?) {
        guard let credential, let identity = credential.identity else {
            self = .none
            return
        }
        let chain = credential.certificates
        let isOwn = chain == identity.intermediates
        self = .send(isOwn ? identity.identity : identity.with(intermediates: chain)?.identity ?? identity.identity)
    }
}
