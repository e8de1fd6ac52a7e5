import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// The exchange that has waited longest puts the questions of a TLS handshake to its program. When it waits no longer the
/// attempt is given up for another, which the next exchange decides about: no connection depends on a task that is
/// gone.
extension ConnectionAttempt: TLSAsker {
    /// Whether the program may get a challenge from a handshake.
    var mayChallenge: Bool { challenged?.receiver?.answersChallenges ?? false }

    /// Decides about the origin.
    var originDecider: any TLSDecider {
        TLSChallenger(
            TLSSite(origin.host, Int(origin.port)), storage, partition: "\(partition) \(proxyPartition)", asking: self)
    }

    /// Decides about a proxy that the connection goes through.
    func makeProxyDecider(_ proxy: Proxy) -> any TLSDecider {
        TLSChallenger(TLSSite(proxy, isSecure: origin.isSecure), storage, partition: partition, asking: self)
    }

    /// The task's own delegate decides for its connections alone.
    private var partition: String { decidingDelegate.map { "\($0)" } ?? "" }

    /// TLS sessions of one proxy's connections are not continued through another.
    private var proxyPartition: String { proxy?.partition ?? "" }

    /// What a server answers does not depend on who the client is to a proxy, unless the proxy forwards the requests.
    func willAuthenticate(to site: TLSSite, as identity: TLSIdentity) {
        guard site.proxyType == nil || driver?.route.isForwarded == true else { return }
        driver?.session.authentication.willAuthenticateConnection(to: origin, as: identity)
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision) {
        guard let receiver = challenged?.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
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

extension TLSSite {
    /// - Parameter isSecure: whether the proxy is for an `https` URL.
    init(_ proxy: Proxy, isSecure: Bool) {
        let type = isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy
        self.init(proxy.host, Int(proxy.port), proxyType: type)
    }
}
