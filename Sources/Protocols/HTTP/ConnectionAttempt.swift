import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A connection being made, and what is asked about its TLS handshake: the exchange that has waited for it longest puts
/// the challenge to its program. When that exchange ends without an answer the next one is asked, so that nobody's
/// connection depends on a task that is gone.
final class ConnectionAttempt: TLSDecider {
    private struct Question {
        let challenge: URLAuthenticationChallenge
        let answer: ChallengeDecision
    }

    var handle: (any PendingConnection)?
    /// Who was asked last.
    private(set) weak var asked: HTTPExchange?
    /// Whether the program of whom was asked last has given the connection up.
    private(set) var isRefused = false
    private weak var pool: OriginPool?
    private let origin: Origin
    private let storage: URLCredentialStorage?
    private var question: Question?
    /// How often somebody was asked: an answer to an earlier time is not heeded.
    private var askings = 0

    init(_ pool: OriginPool, _ origin: Origin, storage: URLCredentialStorage?) {
        self.pool = pool
        self.origin = origin
        self.storage = storage
    }

    /// The connection was made, or is not to be made: nobody is asked any more.
    func end() {
        question = nil
        asked?.stopAsking()
    }

    // MARK: TLSDecider

    var decidesTrust: Bool { pool?.exchangeToAsk()?.answersChallenges ?? false }

    func decide(_ evaluation: TrustEvaluation, _ answer: @escaping (TrustDecision) -> Void) {
        let trust = ServerTrust(evaluation)
        let space = URLProtectionSpace(tlsHost: origin.host, port: Int(origin.port), serverTrust: trust)
        put(space, proposing: nil) { [weak self] disposition, credential in
            self?.isRefused = disposition == .cancelAuthenticationChallenge || disposition == .rejectProtectionSpace
            switch disposition {
            case .useCredential: answer(credential?.accepts(trust) == true ? .trust : .verdict)
            case .performDefaultHandling: answer(.verdict)
            case .cancelAuthenticationChallenge: answer(.cancel)
            case .rejectProtectionSpace: answer(.refuse)
            }
        }
    }

    func chooseIdentity(_ authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void) {
        let space = URLProtectionSpace(
            tlsHost: origin.host, port: Int(origin.port), distinguishedNames: authorities.map { Data($0) })
        let proposed = storage?.defaultIdentity(for: space)
        put(space, proposing: proposed) { [weak self] disposition, credential in
            self?.isRefused = disposition == .cancelAuthenticationChallenge
            switch disposition {
            case .useCredential: answer(IdentityDecision(credential))
            case .performDefaultHandling: answer(IdentityDecision(proposed))
            case .cancelAuthenticationChallenge: answer(.cancel)
            case .rejectProtectionSpace: answer(.none)
            }
        }
    }

    // MARK: Asking

    private func put(
        _ space: URLProtectionSpace, proposing credential: URLCredential?, _ answer: @escaping ChallengeDecision
    ) {
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: credential, previousFailureCount: 0, failureResponse: nil,
            error: nil)
        question = Question(challenge: challenge, answer: answer)
        ask()
    }

    private func ask() {
        guard let question else { return }
        askings += 1
        guard let exchange = pool?.exchangeToAsk() else { return settle(askings, .performDefaultHandling, nil) }
        asked = exchange
        exchange.ask(question.challenge, for: self) { [weak self, askings] disposition, credential in
            self?.settle(askings, disposition, credential)
        }
    }

    private func settle(
        _ asking: Int, _ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?
    ) {
        guard asking == askings, let question else { return }
        self.question = nil
        asked?.stopAsking()
        question.answer(disposition, credential)
    }

    /// The exchange that is asked is over, and its program's answer counts no more.
    func exchangeIsOver() { ask() }
}

extension URLCredential {
    /// Whether it accepts a server with these certificates, not with others.
    fileprivate func accepts(_ other: ServerTrust) -> Bool { trust?.certificates == other.certificates }
}

extension IdentityDecision {
    fileprivate init(_ credential: URLCredential?) {
        guard let credential, let identity = credential.identity else {
            self = .none
            return
        }
        let chain = credential.certificates
        let isOwn = chain == identity.intermediates
        self = .send(isOwn ? identity.identity : identity.with(intermediates: chain)?.identity ?? identity.identity)
    }
}
