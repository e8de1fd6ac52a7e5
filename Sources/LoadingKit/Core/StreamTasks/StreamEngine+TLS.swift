import Foundation
import LoadingKitTransport

/// TLS on a connection that had none.
extension StreamEngine {
    func secure(_ channel: any StreamChannel) {
        do {
            let stream = try channel.handOver()
            let context = try TLSContext(TLSOptions(core.settings, host: task.host, alpn: []))
            let attempt = connector.secure(
                stream, tls: (context: context, serverName: task.host), asking: self,
                timeout: core.settings.connectTimeout
            ) { [weak self] result in
                guard let self, case .securing = state else { return }
                switch result {
                case .success(let stream): isOpen(StreamConnection(stream))
                case .failure(let error): end(with: error)
                }
            }
            state = .securing(attempt)
        } catch {
            end(with: error)
        }
    }
}

extension StreamEngine: TLSDecider {
    var decidesTrust: Bool { delegate.exist }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let trust = ServerTrust(evaluation)
        ask(URLProtectionSpace(tlsHost: task.host, port: task.port, serverTrust: trust), proposing: nil) {
            answer(TrustDecision($0, $1, about: trust))
        }
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        let space = URLProtectionSpace(
            tlsHost: task.host, port: task.port, distinguishedNames: authorities.map { Data($0) })
        let proposed = core.settings.credentialStorage?.defaultIdentity(for: space)
        ask(space, proposing: proposed) { answer(IdentityDecision($0, $1, proposed: proposed)) }
    }

    private func ask(
        _ space: URLProtectionSpace, proposing credential: URLCredential?, _ answer: @escaping ChallengeDecision
    ) {
        guard delegate.exist else { return answer(.performDefaultHandling, nil) }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        let answer = questions.ask { answer($0, $1) }
        core.mailbox.post { [delegate, session, task] in
            delegate.didReceive(challenge, session, task) { answer(($0, $1)) }
        }
    }
}
