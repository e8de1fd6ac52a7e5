import LoadingKitCore

/// What a handshake knows of its request and of the session.
struct AuthenticationContext {
    let site: AuthenticationSite
    /// Whether the request is for an `https` URL.
    let isSecure: Bool
    let request: HTTPAuthenticationRequest
    /// The user and the password that the URL, or the proxy's settings, have.
    let givenCredential: URLCredential?
    let schemes: [any HTTPAuthenticationScheme.Type]
    let memory: AuthenticationMemory
    let turns: AuthenticationTurns
    let storage: URLCredentialStorage?
    let task: URLSessionTask

    /// What is remembered is not for a URL that names somebody else. A proxy's settings may be out of date.
    func isFor(_ credential: URLCredential) -> Bool {
        guard let givenCredential, !site.isProxy else { return true }
        return credential.isSameLogin(as: givenCredential)
    }

    /// What to propose to the program for a protection space: the URL's or the settings' own, else what is stored as
    /// the default, else the only one that is stored.
    func proposal(for space: URLProtectionSpace) -> URLCredential? {
        if let givenCredential { return givenCredential }
        if let chosen = storage?.defaultCredential(for: space) { return chosen }
        guard let all = storage?.credentials(for: space), all.count == 1 else { return nil }
        return all.values.first
    }

    /// What a proxy is told before it asks. An HTTP proxy names its realm when it asks; so what is stored waits until
    /// then, and what its settings say is tried as what most proxies want. SOCKS has no realms.
    var opening: (offer: AuthenticationOffer, credential: URLCredential)? {
        guard case .proxy(let proxy) = site else { return nil }
        let scheme: any HTTPAuthenticationScheme.Type = proxy.speaksHTTP ? BasicScheme.self : SOCKSPasswordScheme.self
        guard let offer = self.offer(HTTPAuthenticationChallenge(scheme: scheme.name), unnamedRealm: nil),
            let credential = proxy.speaksHTTP ? givenCredential : proposal(for: offer.space)
        else { return nil }
        return (offer, credential)
    }

    /// The challenges that can be answered, the strongest first; among equals in the server's order (RFC 7616 §3.7).
    func offers(_ challenges: [HTTPAuthenticationChallenge]) -> [AuthenticationOffer] {
        let offers = challenges.compactMap { offer($0, unnamedRealm: site.host) }
        // A stable sort, which the library's does not promise to be.
        return offers.enumerated().sorted {
            ($1.element.scheme.strength, $0.offset) < ($0.element.scheme.strength, $1.offset)
        }.map(\.element)
    }

    /// - Parameter unnamedRealm: stands for the realm that a challenge of `Basic` must name and does not (RFC 7617 §2).
    private func offer(_ challenge: HTTPAuthenticationChallenge, unnamedRealm: String?) -> AuthenticationOffer? {
        guard let type = schemes.first(where: { challenge.isOf($0) }), let scheme = type.init(challenge) else {
            return nil
        }
        let method = type.authenticationMethod
        let realm = scheme.realm ?? (method == NSURLAuthenticationMethodHTTPBasic ? unnamedRealm : nil)
        return AuthenticationOffer(
            challenge: challenge, scheme: scheme, space: site.space(realm: realm, method: method, isSecure: isSecure))
    }
}

/// A challenge, and the scheme that can answer it.
struct AuthenticationOffer {
    let challenge: HTTPAuthenticationChallenge
    let scheme: any HTTPAuthenticationScheme
    let space: URLProtectionSpace

    /// Whether it is what another offer was, with perhaps another nonce.
    func isLike(_ other: AuthenticationOffer) -> Bool {
        space.isRealm(of: other.space) && scheme.strength == other.scheme.strength
    }

    /// Whether a credential that was refused was for what this asks for. One that was sent before a proxy had named its
    /// realm was for any.
    func refuses(_ other: AuthenticationOffer) -> Bool {
        space.isRealm(of: other.space)
            || other.space.realm == nil && space.authenticationMethod == other.space.authenticationMethod
    }
}
