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

extension StreamEngine: TLSDecider {
    var decidesTrust: Bool { delegates != nil }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let trust = ServerTrust(evaluation)
        request(URLProtectionSpace(tlsHost: task.host, port: task.port, serverTrust: trust), proposing: nil) {
            answer(TrustDecision($0, $1, about: trust))
        }
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        let space = URLProtectionSpace(
            tlsHost: task.host, port: task.port, distinguishedNames: authorities.map { Data($0) })
        let proposed = core.settings.credentialStorage?.defaultIdentity(for: space)
        request(space, proposing: proposed) { answer(IdentityDecision($0, $1, proposed: proposed)) }
    }

    private func request(
        _ space: URLProtectionSpace, proposing credential: URLCredential?, _ answer: @escaping ChallengeDecision
    ) {
        guard let delegates else { return answer(.performDefaultHandling, nil) }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        let answer = questions.open { answer($0, $1) }
        core.mailbox.post(for: task) { [session, task] in
            delegates.didReceive(challenge, session, task) { answer(($0, $1)) }
        }
    }
}
