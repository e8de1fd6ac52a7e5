import Foundation
import LoadingKitTransport

extension StreamEngine {
    func secure(_ channel: any StreamChannel) {
        do {
            let stream = try channel.handOver()
            let context = try TLSContext(TLSOptions(core.settings, host: task.host, alpn: []))
            let attempt = connector.secure(
                stream, tls: TLSDemand(context, task.host, asking: challenger), timeout: core.settings.connectTimeout
            ) { [weak self] result in
                guard let self, case .securing = state else { return }
                switch result {
                case .success(let stream): channelDidOpen(StreamConnection(stream))
                case .failure(let error): end(with: error)
                }
            }
            state = .securing(attempt)
        } catch {
            end(with: error)
        }
    }
}

extension StreamEngine: TLSAsker, ChallengeReceiver {
    private var challenger: TLSChallenger {
        TLSChallenger(
            TLSSite(task.host, task.port), core.settings.credentialStorage, partition: proxyPartition, asking: self)
    }

    package func ask(_ challenge: URLAuthenticationChallenge, _ answer: @escaping ChallengeDecision) {
        self.challenge(challenge, decide: answer)
    }

    var answersChallenges: Bool { delegates != nil }

    var challengeDelegate: AnyObject? { delegates?.ownChallenged(core) }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        core.events.note(.challenged(challenge.protectionSpace.challengeKind), task: task.identifier)
        guard let delegates else { return decide(.performDefaultHandling, nil) }
        let answer = questions.open(about: challenge) {
            [core, task] (disposition: URLSessionAuthChallengeDisposition, credential: URLCredential?) in
            core.events.note(.challengeAnswered(disposition.outcome), task: task.identifier)
            decide(disposition, credential)
        }
        core.mailbox.post(for: task) { [session, task] in
            delegates.didReceive(challenge, session, task) { answer(($0, $1)) }
        }
    }

    func withdraw(_ question: AnyObject) { _ = questions.withdraw(question) }
}
