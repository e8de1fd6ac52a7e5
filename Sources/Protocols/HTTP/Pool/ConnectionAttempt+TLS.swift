import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The exchange that has waited longest puts the questions of a TLS handshake to its program. When it waits no longer the
/// attempt is given up for another, which the next exchange decides about: no connection depends on a task that is
/// gone.
extension ConnectionAttempt: TLSDecider {
    var decidesTrust: Bool { challenged?.receiver?.answersChallenges ?? false }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        decide(evaluation, about: TLSSite(origin), answer)
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        chooseIdentity(authorities, for: TLSSite(origin), answer)
    }

    func makeProxyDecider(_ proxy: Proxy) -> any TLSDecider {
        ProxyDecider(self, TLSSite(proxy, isSecure: origin.isSecure))
    }

    fileprivate func decide(
        _ evaluation: TrustEvaluation, about site: TLSSite, _ answer: @escaping (TrustDecision) -> Void
    ) {
        let trust = ServerTrust(evaluation)
        challenge(site.space(trust), proposing: nil) { answer(TrustDecision($0, $1, about: trust)) }
    }

    fileprivate func chooseIdentity(
        _ authorities: [[UInt8]], for site: TLSSite, _ answer: @escaping (IdentityDecision) -> Void
    ) {
        let space = site.space(authorities)
        let proposed = storage?.defaultIdentity(for: space)
        challenge(space, proposing: proposed) { [weak self] disposition, credential in
            let decision = IdentityDecision(disposition, credential, proposed: proposed)
            if let self, case .send(let identity) = decision { willAuthenticate(to: site, as: identity) }
            answer(decision)
        }
    }

    /// What a server answers does not depend on who the client is to a proxy, unless the proxy forwards the requests.
    private func willAuthenticate(to site: TLSSite, as identity: TLSIdentity) {
        guard site.proxyType == nil || driver?.route.isForwarded == true else { return }
        driver?.session.authentication.willAuthenticateConnection(to: origin, as: identity)
    }

    private func challenge(
        _ space: URLProtectionSpace, proposing credential: URLCredential?, _ answer: @escaping ChallengeDecision
    ) {
        guard let receiver = challenged?.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        question = Question(challenge: challenge, answer: answer)
        challengeWillBegin()
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, let question, question.challenge === challenge else { return }
            self.question = nil
            challengeDidEnd()
            question.answer(disposition, credential)
        }
    }
}

/// Decides in the TLS handshake with a proxy, in the name of the attempt that needs the proxy.
private final class ProxyDecider: TLSDecider {
    /// It has the handshake, which has this object.
    private weak var attempt: ConnectionAttempt?
    private let site: TLSSite

    init(_ attempt: ConnectionAttempt, _ site: TLSSite) {
        self.attempt = attempt
        self.site = site
    }

    var decidesTrust: Bool { attempt?.decidesTrust ?? false }
    var partition: ObjectIdentifier? { attempt?.partition }

    func decide(_ trust: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        attempt?.decide(trust, about: site, answer)
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        attempt?.chooseIdentity(authorities, for: site, answer)
    }
}

/// A server or a proxy whose TLS the program decides about.
struct TLSSite {
    let host: String
    let port: UInt16
    /// For which requests a proxy is; nil for a server.
    let proxyType: String?

    init(_ origin: Origin) {
        (host, port, proxyType) = (origin.host, origin.port, nil)
    }

    /// - Parameter isSecure: whether the proxy is for an `https` URL.
    init(_ proxy: Proxy, isSecure: Bool) {
        (host, port) = (proxy.host, proxy.port)
        proxyType = isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy
    }

    func space(_ trust: ServerTrust) -> URLProtectionSpace {
        URLProtectionSpace(tlsHost: host, port: Int(port), proxyType: proxyType, serverTrust: trust)
    }

    /// - Parameter authorities: the distinguished names of the issuers that are accepted, in DER.
    func space(_ authorities: [[UInt8]]) -> URLProtectionSpace {
        URLProtectionSpace(
            tlsHost: host, port: Int(port), proxyType: proxyType, distinguishedNames: authorities.map { Data($0) })
    }
}
