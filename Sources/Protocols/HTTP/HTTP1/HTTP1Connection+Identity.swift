import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A server that has seen a request asks who the client is (RFC 8446 §4.6.2). The exchange whose response is awaited puts the
/// question to its program; the connection is authenticated from then on, as if the server had asked in the handshake.
extension HTTP1Connection {
    /// A question to the program that has no answer yet. Nothing can be read or written.
    struct IdentityQuestion {
        let challenge: URLAuthenticationChallenge
        weak var receiver: (any LoadReceiver)?
    }

    func stream(
        _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void
    ) {
        guard case .active(let exchange) = state else { return answer(.none) }
        // Without a tunnel it is the proxy that asks.
        let route = pool.route
        let site =
            route.isForwarded
            ? route.proxy.map { TLSSite($0, isSecure: route.origin.isSecure) } ?? TLSSite(route.origin)
            : TLSSite(route.origin)
        let space = site.space(authorities)
        let proposed = pool.session.settings.credentialStorage?.defaultIdentity(for: space)
        guard let receiver = exchange.receiver, receiver.answersChallenges else {
            return take(IdentityDecision(.performDefaultHandling, nil, proposed: proposed), answer)
        }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: proposed, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        identityQuestion = IdentityQuestion(challenge: challenge, receiver: receiver)
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, identityQuestion?.challenge === challenge else { return }
            identityQuestion = nil
            take(IdentityDecision(disposition, credential, proposed: proposed), answer)
        }
    }

    private func take(_ decision: IdentityDecision, _ answer: (IdentityDecision) -> Void) {
        switch decision {
        case .cancel:
            end(with: LoadFailure(.cancelled, "the program cancelled the challenge of a client certificate"), .begun)
        case .send(let identity):
            pool.session.authentication.willAuthenticateConnection(to: pool.route.origin, as: identity)
            answer(decision)
        case .none: answer(decision)
        }
    }

    /// The connection ends: the program's answer is not awaited any more.
    func withdrawIdentityQuestion() {
        guard let question = identityQuestion else { return }
        identityQuestion = nil
        question.receiver?.withdraw(question.challenge)
    }
}
