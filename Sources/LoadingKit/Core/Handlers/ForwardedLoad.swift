import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// A load that a handler forwarded to those after it; its body goes to a feed that the handler reads.
final class ForwardedLoad: LoadReceiver, @unchecked Sendable {  // confined to the event loop of `outer`
    private enum State {
        case new
        case loading(any LoopHandler, UnsafeContinuation<LoadedResponse, any Error>?)
        case ended
    }

    private let outer: CustomLoad
    private var state = State.new
    private let feed: BodyFeed
    /// Those that are over; a program reads them from any thread.
    private let transactions = Guarded<[TransactionRecord]>([])

    init(_ outer: CustomLoad) {
        self.outer = outer
        feed = BodyFeed(outer.loop)
    }

    func begin(_ request: URLRequest, _ continuation: UnsafeContinuation<LoadedResponse, any Error>) {
        outer.loop.perform { self.start(request, continuation) }
    }

    func cancel() {
        outer.loop.perform { self.end(with: CancellationError()) }
    }

    private func start(_ request: URLRequest, _ continuation: UnsafeContinuation<LoadedResponse, any Error>) {
        guard case .new = state, let resources = outer.resources else {
            return continuation.resume(throwing: CancellationError())
        }
        do {
            let handler = try resources.core.makeLoad(
                request, task: resources.task, isOwnRequest: false, from: resources.next)
            state = .loading(handler, continuation)
            feed.onDemand = { [weak self] in self?.consumerIsReady() }
            feed.onCancel = { [weak self] in self?.end(with: CancellationError()) }
            handler.begin(self)
        } catch {
            state = .ended
            continuation.resume(throwing: HandlerError.unwrapped(error, url: request.url))
        }
    }

    private func consumerIsReady() {
        if case .loading(let handler, _) = state { handler.receiverDidBecomeReady() }
    }

    private func end(with error: (any Error)?) {
        guard case .loading(let handler, let continuation) = state else {
            state = .ended
            return
        }
        state = .ended
        handler.end()
        continuation?.resume(throwing: error ?? LoadFailure(.badServerResponse, "the load ended without a response"))
        feed.finish(error)
    }

    /// From any thread.
    var transactionMetrics: [URLSessionTaskTransactionMetrics] {
        let anchor = WallClockAnchor(date: Date(), monotonicTime: TimeSource.system.now)
        return transactions.withLock { $0 }.map { record in
            URLSessionTaskTransactionMetrics(
                request: record.request, response: record.response, timings: record.timings, anchor: anchor)
        }
    }

    // MARK: LoadReceiver

    func receive(_ response: URLResponse) -> Flow {
        guard case .loading(let handler, let continuation) = state else { return .wait }
        state = .loading(handler, nil)
        continuation?.resume(
            returning: LoadedResponse(response: response, body: LoadedBody(reader: BodyReader(feed)), load: self))
        return .more
    }

    func receive(informational response: HTTPURLResponse) {
        outer.withReceiver { $0.receive(informational: response) }
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow { feed.append(Data(bytes)) }

    func receive(_ data: Data) -> Flow { feed.append(data) }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { nil }

    func bodyBufferFilled(_ count: Int) -> Flow { .more }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        let decide = LoopTransfer(decide)
        outer.withReceiver {
            $0.redirect(to: request, refusal: refusal, response: response, decide: decide.value)
        }
    }

    var answersChallenges: Bool { outer.answersChallenges }

    var challengeDelegate: AnyObject? { outer.challengeDelegate }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        let decide = LoopTransfer(decide)
        outer.withReceiver { $0.challenge(challenge, decide: decide.value) }
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) { outer.withReceiver { $0.withdraw(challenge) } }

    func requestNewBodyStream(_ give: @escaping (InputStream?) -> Void) {
        let give = LoopTransfer(give)
        outer.withReceiver { $0.requestNewBodyStream(give.value) }
    }

    /// What a handler makes of the response is not what was received: the delegate is not asked.
    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        decide(response)
    }

    func didSendBody(_ count: Int, expected: Int64) { outer.withReceiver { $0.didSendBody(count, expected: expected) } }

    func noteActivity() { outer.withReceiver { $0.noteActivity() } }

    func queueStateDidChange(isQueued: Bool) { outer.withReceiver { $0.queueStateDidChange(isQueued: isQueued) } }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        let transaction = transaction()
        transactions.withLock { $0.append(transaction) }
        outer.withReceiver { $0.collect(transaction) }
    }

    func finish() { end(with: nil) }

    func fail(_ error: any Error) {
        end(with: HandlerError.unwrapped(error, url: outer.resources?.task.currentRequest?.url))
    }
}
