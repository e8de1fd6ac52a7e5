import LoadingKitCore

/// What a handshake knows of its request and of the session.
struct AuthenticationContext {
    let origin: Origin
    let request: HTTPAuthenticationRequest
    /// The user and the password that the URL has.
    let credentialOfURL: URLCredential?
    let schemes: [any HTTPAuthenticationScheme.Type]
    let memory: AuthenticationMemory
    let storage: URLCredentialStorage?
    let task: URLSessionTask

    /// What is remembered is not for a URL that names somebody else.
    func isFor(_ credential: URLCredential) -> Bool {
        guard let credentialOfURL else { return true }
        return credential.user == credentialOfURL.user && credential.password == credentialOfURL.password
    }

    /// What to propose to the program for a protection space: the URL's own, else what is stored as the default, else
    /// the only one that is stored.
    func proposal(for space: URLProtectionSpace) -> URLCredential? {
        if let credentialOfURL { return credentialOfURL }
        if let chosen = storage?.defaultCredential(for: space) { return chosen }
        guard let all = storage?.credentials(for: space), all.count == 1 else { return nil }
        return all.values.first
    }

    /// The challenges that can be answered, the strongest first; among equals in the server's order (RFC 7616 §3.7).
    func offers(_ challenges: [HTTPAuthenticationChallenge]) -> [AuthenticationOffer] {
        let offers = challenges.compactMap { challenge -> AuthenticationOffer? in
            guard let type = schemes.first(where: { challenge.isOf($0) }), let scheme = type.init(challenge) else {
                return nil
            }
            let space = URLProtectionSpace(
                host: origin.host, port: Int(origin.port),
                protocol: origin.isSecure ? NSURLProtectionSpaceHTTPS : NSURLProtectionSpaceHTTP,
                realm: scheme.realm, authenticationMethod: type.authenticationMethod)
            return AuthenticationOffer(challenge: challenge, scheme: scheme, space: space)
        }
        // A stable sort, which the library's does not promise to be.
        return offers.enumerated().sorted {
            ($1.element.scheme.strength, $0.offset) < ($0.element.scheme.strength, $1.offset)
        }.map(\.element)
    }
}

/// A challenge, and the scheme that can answer it.
struct AuthenticationOffer {
    let challenge: HTTPAuthenticationChallenge
    let scheme: any HTTPAuthenticationScheme
    let space: URLProtectionSpace

    /// Whether it is what another offer was, with perhaps another nonce.
    func isLike(_ other: AuthenticationOffer) -> Bool {
        space == other.space && scheme.strength == other.scheme.strength
    }
}
