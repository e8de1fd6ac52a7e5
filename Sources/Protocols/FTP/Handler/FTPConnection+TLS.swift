import Foundation
import LoadingKitCore
import LoadingKitTransport

/// The load that a control connection is made for puts the questions of its TLS handshake to the program.
extension FTPConnection: TLSDecider {
    var decidesTrust: Bool { load?.receiver?.answersChallenges ?? false }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let trust = ServerTrust(evaluation)
        let space = URLProtectionSpace(
            tlsHost: key.server.host, port: Int(key.server.port), serverTrust: trust)
        challenge(space, proposing: nil) { answer(TrustDecision($0, $1, about: trust)) }
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        let space = URLProtectionSpace(
            tlsHost: key.server.host, port: Int(key.server.port), distinguishedNames: authorities.map { Data($0) })
        let proposed = session.settings.credentialStorage?.defaultIdentity(for: space)
        challenge(space, proposing: proposed) { [weak self] disposition, credential in
            let decision = IdentityDecision(disposition, credential, proposed: proposed)
            self?.identity = decision
            answer(decision)
        }
    }

    private func challenge(
        _ space: URLProtectionSpace, proposing credential: URLCredential?, _ answer: @escaping ChallengeDecision
    ) {
        guard let receiver = load?.receiver, receiver.answersChallenges else {
            return answer(.performDefaultHandling, nil)
        }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        question = challenge
        receiver.challenge(challenge) { [weak self] disposition, credential in
            guard let self, question === challenge else { return }
            question = nil
            answer(disposition, credential)
        }
    }
}

/// Decides about the TLS of a data connection: the server is the one that the program has decided about, and no other.
final class FTPDataDecider: TLSDecider {
    private let certificates: [Certificate]
    private let identity: IdentityDecision?
    let ownSessionScope: String?
    /// Where the server was verified by the rules, so are its data connections.
    let decidesTrust: Bool

    init(_ connection: FTPConnection) {
        certificates = connection.certificates
        identity = connection.identity
        ownSessionScope = connection.ownSessionScope
        decidesTrust = connection.info?.tls?.certificateFailure != nil
    }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let isSame = evaluation.chain.first != nil && evaluation.chain.first == certificates.first
        answer(isSame ? .trust : .refuse)
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        answer(identity ?? .none)
    }
}
