import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Validates a stale response that was served as an answer. No request waits for the validation (RFC 5861 §3).
final class BackgroundValidation: ForwardingReceiver {
    /// No program takes the response.
    var receiver: (any LoadReceiver)? { nil }
    /// Whether the program decides about the connections of the task that was served.
    let answersChallenges: Bool
    /// The own delegate of that task, which decides about the connections that the validation may use.
    let challengeDelegate: AnyObject?

    let stored: StoredResponse
    private weak var owner: URLSession?
    private let load: CachedExchange
    private let loop: EventLoop
    private let timeout: TimeInterval
    private unowned let session: SessionCache
    /// Ends a load that takes too long, as there is no task whose clock would end it.
    private var timer: LoopTimer?
    private var isOver = false

    /// - Parameters:
    ///   - served: the receiver of the stale response.
    ///   - mark: when the cache was asked for it.
    init(
        _ stored: StoredResponse, _ request: URLRequest, _ resources: LoadResources, _ session: SessionCache,
        for served: any LoadReceiver, since mark: CacheMark?
    ) {
        answersChallenges = served.answersChallenges
        challengeDelegate = served.challengeDelegate
        self.stored = stored
        owner = resources.task.session
        self.session = session
        loop = resources.loop
        timeout = resources.core.idleTimeout(of: request)
        // The program's own conditions concern the program's version of the response, not the stored one.
        load = CachedExchange(
            RequestConditions.withoutConditions(request), resources, session, validating: stored, since: mark)
    }

    func begin() {
        if timeout > 0 {
            timer = loop.schedule(at: loop.now.advanced(bySeconds: timeout)) { [weak self] in self?.end() }
        }
        load.begin(self)
    }

    func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        load.end()
        session.validationDidEnd(self)
    }

    // MARK: LoadReceiver

    /// Other tasks will use the connection, so the session's delegate decides about it. Methods for a task's challenges
    /// are not called without a task: the handshake is cancelled then, and a later task validates the response.
    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        guard answersChallenges, challenge.protectionSpace.concernsSession else {
            return decide(.performDefaultHandling, nil)
        }
        guard challengeDelegate == nil, let owner else {
            session.leaveToTask(stored)
            return decide(.cancelAuthenticationChallenge, nil)
        }
        owner.answer(withoutTask: challenge, decide) { [self] in leaveToTask() }
    }

    private func leaveToTask() { if !isOver { session.leaveToTask(stored) } }

    /// A redirect is not followed: its target is loaded when it is requested.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        loop.executeLater { decide(false) }
    }

    func finish() { end() }
    func fail(_ error: any Error) { end() }
}
