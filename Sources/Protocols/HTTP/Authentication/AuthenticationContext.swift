import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// The request and the session state that a handshake uses.
struct AuthenticationContext {
    /// The most challenges of a response that are considered. A server needs one for each scheme or algorithm.
    private static let maximumOffers = 20

    let site: AuthenticationSite
    /// The type of an HTTP proxy in protection spaces.
    let proxyType: String
    let request: HTTPAuthenticationRequest
    /// The user and the password in the URL, or in the proxy's settings.
    let givenCredential: URLCredential?
    let schemes: [AuthenticationSchemeMaker]
    let memory: AuthenticationMemory
    let turns: AuthenticationTurns
    let storage: URLCredentialStorage?
    let task: URLSessionTask

    /// The credential in the request's URL, with which alone the request is sent. A proxy may get any credential: its
    /// settings may be out of date.
    var named: URLCredential? { site.isProxy ? nil : givenCredential }

    /// Whether a credential is used only for requests whose URLs contain it, as this one's does. The program has not
    /// stored it permanently.
    func isOfURL(_ credential: URLCredential) -> Bool {
        guard let named, [.none, .forSession].contains(credential.persistence) else { return false }
        return credential.hasSameUserAndPassword(as: named)
    }

    /// The credential to propose to the program: that of the URL or the proxy's settings, else the stored default one,
    /// else the only stored one, else the scheme's own.
    func proposal(for offer: AuthenticationOffer) -> URLCredential? {
        if let givenCredential { return givenCredential }
        if let chosen = storage?.defaultCredential(for: offer.space) { return chosen }
        if let all = storage?.credentials(for: offer.space), all.count == 1 { return all.values.first }
        return type(of: offer.scheme).defaultCredential
    }

    /// The credential that is sent to a proxy before its first challenge. An HTTP proxy's realm is unknown then, so
    /// only a credential of the settings is sent, as `Basic`, which most proxies use. SOCKS has no realms.
    var preemptiveCredential: (offer: AuthenticationOffer, credential: URLCredential)? {
        guard case .proxy(let proxy) = site else { return nil }
        let speaksHTTP = proxy.kind.speaksHTTP
        let scheme: any HTTPAuthenticationScheme.Type = speaksHTTP ? BasicScheme.self : SOCKSPasswordScheme.self
        guard let offer = self.offer(HTTPAuthenticationChallenge(scheme: scheme.name), unnamedRealm: nil),
            let credential = speaksHTTP ? givenCredential : proposal(for: offer)
        else { return nil }
        return (offer, credential)
    }

    /// The challenges that can be answered, the strongest first, else in the server's order (RFC 7616 §3.7).
    func offers(_ challenges: [HTTPAuthenticationChallenge]) -> [AuthenticationOffer] {
        let offers = challenges.compactMap { offer($0, unnamedRealm: site.host) }
        // The offset keeps the server's order: the standard library's sort is not documented to be stable.
        return offers.enumerated().sorted {
            ($1.element.scheme.strength, $0.offset) < ($0.element.scheme.strength, $1.offset)
        }.prefix(Self.maximumOffers).map(\.element)
    }

    /// - Parameter unnamedRealm: the realm for a `Basic` challenge without a realm, which RFC 7617 §2 requires.
    private func offer(_ challenge: HTTPAuthenticationChallenge, unnamedRealm: String?) -> AuthenticationOffer? {
        guard let maker = schemes.first(where: { challenge.isOf($0.type) }),
            let scheme = maker.make(challenge, request)
        else { return nil }
        let method = maker.type.authenticationMethod
        let realm = scheme.realm ?? (method == NSURLAuthenticationMethodHTTPBasic ? unnamedRealm : nil)
        return AuthenticationOffer(
            challenge: challenge, scheme: scheme, space: site.space(realm: realm, method: method, proxyType: proxyType))
    }
}

extension URL {
    /// The user and the password in the URL, percent-decoded.
    var credential: URLCredential? {
        guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
        return URLCredential(user: user, password: password(percentEncoded: false) ?? "", persistence: .forSession)
    }
}

extension URLCredential {
    func hasSameUserAndPassword(as other: URLCredential) -> Bool {
        user.hasSameBytes(as: other.user) && password.hasSameBytes(as: other.password)
    }
}
