import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Validates a stale response that was served as an answer. No request waits for the validation (RFC 5861 §3).
final class BackgroundValidation: LoadReceiver {
    private let load: CachedExchange
    private let loop: EventLoop
    private let timeout: TimeInterval
    private unowned let session: SessionCache
    /// Ends a load that takes too long, as there is no task whose clock would end it.
    private var timer: LoopTimer?
    private var isOver = false

    init(_ stored: StoredResponse, _ request: URLRequest, _ resources: LoadResources, _ session: SessionCache) {
        self.session = session
        loop = resources.loop
        timeout = resources.core.idleTimeout(of: request)
        load = CachedExchange(request, resources, session, validating: stored)
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

    func receive(_ response: URLResponse) -> Flow { .more }
    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow { .more }
    func receive(_ data: Data) -> Flow { .more }
    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { nil }
    func bodyBufferFilled(_ count: Int) -> Flow { .more }

    /// A redirect is not followed: its target is loaded when it is requested.
    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        loop.executeLater { decide(false) }
    }

    /// There is no program to answer a challenge.
    var answersChallenges: Bool { false }

    var challengeDelegate: AnyObject? { nil }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        decide(.performDefaultHandling, nil)
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) {}

    func requestNewBodyStream(_ give: @escaping (InputStream?) -> Void) { give(nil) }
    func requestNewBodyStream(from offset: Int64, _ give: @escaping (InputStream?) -> Void) { give(nil) }
    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        decide(response)
    }
    func didSendBody(_ count: Int, expected: Int64) {}

    func bodyWillBeSentAgain(_ count: Int64) {}
    func noteActivity() {}
    func receive(informational response: HTTPURLResponse) {}
    func queueStateDidChange(isQueued: Bool) {}
    func collect(_ transaction: @autoclosure () -> TransactionRecord) {}
    func finish() { end() }
    func fail(_ error: any Error) { end() }
}
