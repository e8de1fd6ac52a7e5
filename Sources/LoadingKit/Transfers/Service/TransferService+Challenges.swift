import Foundation
import LoadingKitCore

// Challenges, which the program answers where it can.
extension TransferService {
    func didReceive(
        _ challenge: URLAuthenticationChallenge, _ answer: @escaping TransferAttempt.ChallengeAnswer,
        _ attempt: TransferAttempt, _ transfer: ServiceTransfer
    ) {
        if let client = transfer.session.client {
            attempt.lastChallenge += 1
            let number = attempt.lastChallenge
            attempt.challenges[number] = (challenge, answer)
            return client.receive(.challenge(transfer.identifier, challenge: number, TransferChallenge(challenge)))
        }
        // The program is not there. A server is trusted by the usual rules, unless the program has rules of its own; a
        // credential that only the program has is waited for.
        guard isForProgram(challenge, transfer.session) else { return answer(.performDefaultHandling, nil) }
        input(transfer) { $0.needProgram() }
        answer(.cancelAuthenticationChallenge, nil)
        checkIdleness()
    }

    /// Whether a transfer has challenges that only the program can answer, which has gone. The others are answered.
    func hasChallengesForProgram(_ transfer: ServiceTransfer) -> Bool {
        guard let attempt = transfer.attempt else { return false }
        for (number, open) in attempt.challenges where !isForProgram(open.challenge, transfer.session) {
            attempt.challenges[number] = nil
            open.answer(.performDefaultHandling, nil)
        }
        return !attempt.challenges.isEmpty
    }

    private func isForProgram(_ challenge: URLAuthenticationChallenge, _ session: ServiceSession) -> Bool {
        challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust
            || session.record.answersServerTrust
    }

    func answerChallenge(_ transfer: ServiceTransfer, _ number: Int, _ reply: ChallengeReply) {
        guard let open = transfer.attempt?.challenges.removeValue(forKey: number) else { return }
        let session = transfer.session
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
