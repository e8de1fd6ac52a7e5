import Foundation
import LoadingKitCore

// Challenges, which the program answers where it can.
extension TransferService {
    func didReceive(
        _ challenge: URLAuthenticationChallenge, _ answer: @escaping TransferAttempt.ChallengeAnswer,
        _ live: LiveTransfer,
        _ session: ServiceSession
    ) {
        guard let client = session.client else { return answerAlone(challenge, answer, live, session) }
        live.lastChallenge += 1
        let number = live.lastChallenge
        live.challenges[number] = LiveTransfer.OpenChallenge(challenge: challenge, answer: answer)
        client.receive(.challenge(live.key.identifier, challenge: number, TransferChallenge(challenge)))
    }

    /// The program is not there. A server is trusted by the usual rules, unless the program has rules of its own; a credential
    /// that only the program has is waited for.
    private func answerAlone(
        _ challenge: URLAuthenticationChallenge, _ answer: TransferAttempt.ChallengeAnswer, _ live: LiveTransfer,
        _ session: ServiceSession
    ) {
        guard isForProgram(challenge, session) else { return answer(.performDefaultHandling, nil) }
        input(live.key.identifier, session) { $0.needProgram() }
        answer(.cancelAuthenticationChallenge, nil)
        checkIdleness()
    }

    /// Whether a transfer has challenges that only the program can answer, which has gone. The others are answered.
    func hasChallengesForProgram(_ identifier: Int, _ session: ServiceSession) -> Bool {
        guard let live = session.live[identifier] else { return false }
        for (number, open) in live.challenges where !isForProgram(open.challenge, session) {
            live.challenges[number] = nil
            open.answer(.performDefaultHandling, nil)
        }
        return !live.challenges.isEmpty
    }

    private func isForProgram(_ challenge: URLAuthenticationChallenge, _ session: ServiceSession) -> Bool {
        challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust
            || session.record.answersServerTrust
    }

    func answerChallenge(_ identifier: Int, _ number: Int, _ reply: ChallengeReply, _ session: ServiceSession) {
        guard let open = session.live[identifier]?.challenges.removeValue(forKey: number) else { return }
        let disposition = URLSession.AuthChallengeDisposition(rawValue: reply.disposition) ?? .performDefaultHandling
        let space = open.challenge.protectionSpace
        if space.authenticationMethod == NSURLAuthenticationMethodServerTrust, disposition != .performDefaultHandling,
            !session.record.answersServerTrust
        {
            session.record.answersServerTrust = true
            journal.add(.session(session.record))
        }
        open.answer(disposition, disposition == .useCredential ? reply.credential(for: space) : nil)
    }
}

extension ChallengeReply {
    /// Nil where it has none, or one that cannot be read.
    fileprivate func credential(for space: URLProtectionSpace) -> URLCredential? {
        let persistence = persistence.flatMap { URLCredential.Persistence(rawValue: $0) } ?? .forSession
        if trustsServer { return space.serverTrust.map { URLCredential(trust: $0) } }
        if let identity {
            return (try? ClientIdentity(pemRepresentation: identity)).map {
                URLCredential(identity: $0, certificates: nil, persistence: persistence)
            }
        }
        return user.map { URLCredential(user: $0, password: password ?? "", persistence: persistence) }
    }
}
