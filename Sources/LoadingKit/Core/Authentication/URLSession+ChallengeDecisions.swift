import LoadingKitTransport

extension TrustDecision {
    /// The decision about a server's certificates that follows from a program's answer to a challenge.
    package init(
        _ disposition: URLSessionAuthChallengeDisposition, _ credential: URLCredential?, about trust: ServerTrust
    ) {
        switch disposition {
        // A credential accepts the server with these certificates only.
        case .useCredential: self = credential?.trust?.certificates == trust.certificates ? .trust : .verdict
        case .performDefaultHandling: self = .verdict
        case .cancelAuthenticationChallenge: self = .cancel
        case .rejectProtectionSpace: self = .refuse
        }
    }
}

extension IdentityDecision {
    /// The decision about the client's certificate that follows from a program's answer to a challenge.
    package init(
        _ disposition: URLSessionAuthChallengeDisposition, _ credential: URLCredential?, proposed: URLCredential?
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
        let own = identity.identity
        let chosen = credential.chosenCertificates?.map(\.certificate)
        self = .send(chosen.flatMap { $0 == own.chain ? nil : own.with(chain: $0) } ?? own)
    }
}
