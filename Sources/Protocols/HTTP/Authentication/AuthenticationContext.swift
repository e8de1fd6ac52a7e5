import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The request and the session state that a handshake uses.
struct AuthenticationContext {
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

    /// The credential in the request's URL. The request is sent with this credential and no other. A proxy's settings
    /// may be out of date, so any credential may be used for a proxy.
    var named: URLCredential? { site.isProxy ? nil : givenCredential }

    /// Whether a credential is used only for requests whose URLs contain it: it is the credential in this request's
    /// URL, and the program has not stored it permanently.
    func isOfURL(_ credential: URLCredential) -> Bool {
        guard let named, [.none, .forSession].contains(credential.persistence) else { return false }
        return credential.hasSameUserAndPassword(as: named)
    }

    /// The credential to propose to the program for a protection space: the credential of the URL or the proxy's
    /// settings, else the stored default credential, else the only stored credential, else the scheme's own.
    func proposal(for offer: AuthenticationOffer) -> URLCredential? {
        if let givenCredential { return givenCredential }
        if let chosen = storage?.defaultCredential(for: offer.space) { return chosen }
        if let all = storage?.credentials(for: offer.space), all.count == 1 { return all.values.first }
        return type(of: offer.scheme).defaultCredential
    }

    /// The credential that is sent to a proxy before its first challenge. An HTTP proxy's realm is unknown before the
    /// challenge, so a stored credential is not sent. A credential of the settings is sent as `Basic`, which most
    /// proxies use. SOCKS has no realms.
    var preemptiveCredential: (offer: AuthenticationOffer, credential: URLCredential)? {
        guard case .proxy(let proxy) = site else { return nil }
        let scheme: any HTTPAuthenticationScheme.Type = proxy.speaksHTTP ? BasicScheme.self : SOCKSPasswordScheme.self
        guard let offer = self.offer(HTTPAuthenticationChallenge(scheme: scheme.name), unnamedRealm: nil),
            let credential = proxy.speaksHTTP ? givenCredential : proposal(for: offer)
        else { return nil }
        return (offer, credential)
    }

    /// The challenges that can be answered, the strongest first. Equally strong challenges keep the server's order
    /// (RFC 7616 §3.7).
    func offers(_ challenges: [HTTPAuthenticationChallenge]) -> [AuthenticationOffer] {
        let offers = challenges.compactMap { offer($0, unnamedRealm: site.host) }
        // The offset makes the sort stable. The standard library's sort is not documented to be stable.
        return offers.enumerated().sorted {
            ($1.element.scheme.strength, $0.offset) < ($0.element.scheme.strength, $1.offset)
        }.map(\.element)
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

/// A challenge, and the scheme that can answer it.
struct AuthenticationOffer {
    let challenge: HTTPAuthenticationChallenge
    let scheme: any HTTPAuthenticationScheme
    let space: URLProtectionSpace

    /// Whether a credential is the scheme's default credential, which no user has entered.
    func isDefault(_ credential: URLCredential) -> Bool {
        type(of: scheme).defaultCredential?.hasSameUserAndPassword(as: credential) == true
    }

    /// Whether the other offer is the same except for its nonce.
    func isLike(_ other: AuthenticationOffer) -> Bool {
        space.isSameRealm(as: other.space) && scheme.strength == other.scheme.strength
    }

    /// Whether this challenge refuses the credential of another offer: both offers have the same realm. A credential
    /// that was sent before a proxy named its realm counts for any realm.
    func refuses(_ other: AuthenticationOffer) -> Bool {
        space.isSameRealm(as: other.space)
            || other.space.realm == nil && space.authenticationMethod == other.space.authenticationMethod
    }
}

/// Lets one handshake at a time challenge the program for a proxy's credential. All requests of a session may go
/// through the proxy at the same time, and the other handshakes use the first one's credential. Confined to the
/// session's loop.
final class AuthenticationTurns {
    private struct Queue {
        let holder: ObjectIdentifier
        var waiting: [(handshake: ObjectIdentifier, proceed: () -> Void)] = []
    }

    let loop: EventLoop
    private var queues: [AuthenticationSite: Queue] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    /// Returns true if the handshake may proceed now. Otherwise `proceed` is called when its turn comes, unless the
    /// handshake has left before.
    func take(_ handshake: AuthenticationHandshake, at site: AuthenticationSite, _ proceed: @escaping () -> Void)
        -> Bool
    {
        let identifier = ObjectIdentifier(handshake)
        guard let queue = queues[site], queue.holder != identifier else {
            if queues[site] == nil { queues[site] = Queue(holder: identifier) }
            return true
        }
        queues[site]?.waiting.append((identifier, proceed))
        return false
    }

    /// The handshake has its credential or has given up. The next handshake's turn begins.
    func leave(_ handshake: AuthenticationHandshake, at site: AuthenticationSite) {
        let identifier = ObjectIdentifier(handshake)
        guard var queue = queues[site] else { return }
        guard queue.holder == identifier else {
            queues[site]?.waiting.removeAll { $0.handshake == identifier }
            return
        }
        guard !queue.waiting.isEmpty else {
            queues[site] = nil
            return
        }
        let next = queue.waiting.removeFirst()
        queues[site] = Queue(holder: next.handshake, waiting: queue.waiting)
        // The next handshake proceeds later: this call may be inside the delivery of a response, whose bytes are in the
        // loop's memory, and the next handshake may read into the same memory.
        loop.executeLater { [self] in
            if queues[site]?.holder == next.handshake { next.proceed() }
        }
    }
}

extension URL {
    /// The user and the password before the host's name, percent-decoded. Nil without a user.
    var credential: URLCredential? {
        guard let user = user(percentEncoded: false), !user.isEmpty else { return nil }
        return URLCredential(user: user, password: password(percentEncoded: false) ?? "", persistence: .forSession)
    }
}

extension URLCredential {
    /// Whether both have the same user and password, whatever their persistence.
    func hasSameUserAndPassword(as other: URLCredential) -> Bool { user == other.user && password == other.password }
}
