import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The exchange that has waited longest puts the questions of a TLS handshake to its program. When it waits no longer the
/// attempt is given up for another, which the next exchange decides about: no connection depends on a task that is
/// gone.
extension ConnectionAttempt: TLSDecider {
    var decidesTrust: Bool { challenged?.receiver?.answersChallenges ?? false }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let trust = ServerTrust(evaluation)
        let space = URLProtectionSpace(tlsHost: origin.host, port: Int(origin.port), serverTrust: trust)
        challenge(space, proposing: nil) { answer(TrustDecision($0, $1, about: trust)) }
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        let space = URLProtectionSpace(
            tlsHost: origin.host, port: Int(origin.port), distinguishedNames: authorities.map { Data($0) })
        let proposed = storage?.defaultIdentity(for: space)
        challenge(space, proposing: proposed) { [weak self] disposition, credential in
            let decision = IdentityDecision(disposition, credential, proposed: proposed)
            if let self, case .send(let identity) = decision {
                driver?.session.authentication.willAuthenticateConnection(to: origin, as: identity)
            }
            answer(decision)
        }
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
