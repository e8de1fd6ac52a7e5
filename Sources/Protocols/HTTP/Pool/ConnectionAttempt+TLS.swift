import Foundation
import LoadingKitCore
import LoadingKitProxies
import LoadingKitTransport

/// The exchange that has waited longest presents the challenges of a TLS handshake to its program. If the exchange
/// stops waiting, the attempt is replaced by another, about which the next exchange decides. No connection depends on a
/// task that has ended.
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

    /// The task's own delegate decides only for its own connections.
    private var partition: String { decidingDelegate.map { "\($0)" } ?? "" }

    /// A TLS session of one proxy's connections is not resumed through another proxy.
    private var proxyPartition: String { proxy?.partition ?? "" }

    /// A server's responses do not depend on the client's identity at a proxy, unless the proxy forwards the requests.
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
