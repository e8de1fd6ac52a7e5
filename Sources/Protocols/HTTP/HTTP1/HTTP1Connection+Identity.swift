import Foundation
import LoadingKitCore
import LoadingKitTransport

/// After a request the server asks for a client certificate (RFC 8446 §4.6.2), and the active exchange challenges its
/// program. The connection is authenticated from then on, as if the server had asked in the handshake.
extension HTTP1Connection: TLSAsker {
    /// An unanswered challenge. Nothing can be read or written meanwhile.
    struct IdentityQuestion {
        let challenge: URLAuthenticationChallenge
        weak var receiver: (any LoadReceiver)?
    }

    func stream(
        _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void
    ) {
        guard case .active = state else { return answer(.none) }
        TLSChallenger(site, pool.session.settings.credentialStorage, asking: self).chooseIdentity(authorities) {
            [weak self] decision in
            guard case .cancel = decision else { return answer(decision) }
            let failure = LoadFailure(.cancelled, "the program cancelled the challenge of a client certificate")
            self?.end(with: failure, .begun)
        }
    }

    /// The site that requests the certificate. Without a tunnel it is the proxy.
    private var site: TLSSite {
        let (route, origin) = (pool.route, pool.route.origin)
        if route.isForwarded, let proxy = route.proxy { return TLSSite(proxy, isSecure: origin.isSecure) }
        return TLSSite(origin.host, Int(origin.port))
    }

    func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision) {
        guard case .active(let exchange) = state, let receiver = exchange.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
        identityQuestion = IdentityQuestion(challenge: challenge, receiver: receiver)
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, identityQuestion?.challenge === challenge else { return }
            identityQuestion = nil
            answer(disposition, credential)
        }
    }

    func willAuthenticate(to site: TLSSite, as identity: TLSIdentity) {
        pool.session.authentication.willAuthenticateConnection(to: pool.route.origin, as: identity)
    }

    func withdrawIdentityQuestion() {
        guard let question = identityQuestion else { return }
        identityQuestion = nil
        question.receiver?.withdraw(question.challenge)
    }
}
