import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Answers challenges that concern connections.
package protocol SessionChallengeAnswerer: AnyObject, Sendable {
    /// Passes the challenge of a connection for which no task waits to the session's delegate. The method for a task's
    /// challenges might refuse the connection, but cannot be called without a task. If the delegate has only this
    /// method, `leaveToTask` is called, and then the challenge is cancelled.
    func answer(
        withoutTask challenge: URLAuthenticationChallenge, _ decide: @escaping ChallengeDecision,
        leaveToTask: @escaping () -> Void)
}

/// The load that has forwarded a request. Confined to its event loop.
protocol ForwardingLoad: AnyObject, Sendable {
    var loop: EventLoop { get }
    /// Makes the load of a forwarded request by the handlers after this load's. Nil where this load has ended.
    func makeLoad(_ request: URLRequest) throws -> (any LoopHandler)?
    /// The URL of the task's request.
    var currentURL: URL? { get }
    /// The stream that is the body of this load's request.
    var bodyStream: InputStream? { get }
    /// The number of the request body's bytes that the forwarded loads have sent.
    var forwardedBytesSent: Int64 { get set }
    /// The forwarded loads that have not ended.
    var forwarded: [ForwardedLoad] { get set }
    /// A forwarded load waits in the queue for a connection, or no longer does.
    func forwardedQueueStateDidChange()

    /// The session of the load's task. Nil after the load's end.
    var session: (any SessionChallengeAnswerer)? { get }
    /// Nil after the load's end.
    var receiver: (any LoadReceiver)? { get }
    /// Whether the receiver has no room.
    var isBlocked: Bool { get }
    /// Runs `body` with the receiver, unless the load has ended.
    func withReceiver(_ body: @escaping @Sendable (any LoadReceiver) -> Void)
    /// Calls the receiver with an event of the forwarded load.
    @discardableResult
    func pass(_ body: (any LoadReceiver) -> Flow) -> Flow
    func passingDidEnd(_ response: PassedResponse)

    /// Read from any thread.
    var isOver: Bool { get }
    /// The reason for the load's end; nil until then.
    var ending: LoadEnd? { get }
}

/// A load that a handler has forwarded to the handlers after it.
///
///     head ──response──▶ body ──LoadContext.receive(_:as:)──▶ session
///
/// The handler waits for the head. It then reads the body from a feed, or has the session receive the rest of the body.
final class ForwardedLoad: ForwardingReceiver, @unchecked Sendable {  // confined to the event loop of `outer`
    private enum Source {
        case new
        case loading(any LoopHandler)
        case ended
    }

    private enum Destination {
        case head(UnsafeContinuation<LoadedResponse, any Error>)
        case body
        case session(PassedResponse)
        /// No data is needed any longer.
        case none
    }

    /// The target of a redirect response, and the reason why it must not be followed.
    struct Redirection {
        var request: URLRequest
        let refusal: LoadFailure?
        /// The response that redirects.
        let response: URLResponse
    }

    private let outer: any ForwardingLoad
    private let returnsRedirects: Bool
    /// Whether the handler has replaced the body's stream, which the delegate does not know: it can give no other.
    private var hasOwnStream = false
    private var source = Source.new
    private var destination = Destination.none
    private let feed: BodyFeed
    /// Whether the feed is empty, so that the session receives directly.
    private var isFeedDrained = false
    /// Whether the session is to get the head again, because the body begins anew.
    private var beginsAnew = false
    /// The response that has replaced the one that the handler has. A handler of another load reads it from any thread.
    private let later = Guarded<URLResponse?>(nil)
    /// Whether this load waits in the queue for a connection.
    private(set) var isQueued = false
    /// Whether the source is waiting, and has to be resumed.
    private var isSourceWaiting = false
    /// Set before the response is returned to the handler.
    private(set) var redirection: Redirection?
    /// The challenges, and the responses that redirect, about which the receiver has not decided yet.
    private var openQuestions: [AnyObject] = []
    /// The load's failure, where it waits for the decision about the load's redirect.
    private var failure: (any Error)?
    /// The load's own end, before that of the load that forwarded it.
    private var ownEnd: LoadEnd?
    // These apply where the load goes on after the end of the one that forwarded it.
    /// Whether the program decides about the connections of the task.
    private var programDecides = false
    /// Whether the task's own delegate does so: ``decider``, which may be gone.
    private var delegateDecides = false
    private weak var decider: AnyObject?
    private weak var session: (any SessionChallengeAnswerer)?
    /// The finished transactions; a program reads them from any thread.
    private let transactions = Guarded<[TransactionRecord]>([])

    init(_ outer: any ForwardingLoad, returnsRedirects: Bool) {
        self.outer = outer
        self.returnsRedirects = returnsRedirects
        feed = BodyFeed(outer.loop)
    }

    // MARK: From the handler that forwards, on any thread

    func begin(_ request: URLRequest, _ continuation: UnsafeContinuation<LoadedResponse, any Error>) {
        outer.loop.perform { self.start(request, continuation) }
    }

    func cancel() {
        outer.loop.perform { self.stop() }
    }

    func isForwarded(by load: any ForwardingLoad) -> Bool { outer === load }

    /// The response that has replaced the one that the handler has.
    var laterResponse: URLResponse? { later.withLock { $0 } }

    // MARK: On the loop

    private func start(_ request: URLRequest, _ continuation: UnsafeContinuation<LoadedResponse, any Error>) {
        guard case .new = source else { return continuation.resume(throwing: CancellationError()) }
        do {
            guard let handler = try outer.makeLoad(request) else {
                return continuation.resume(throwing: CancellationError())
            }
            source = .loading(handler)
            destination = .head(continuation)
            hasOwnStream = request.httpBodyStream !== outer.bodyStream
            noteDeciders()
            outer.forwarded.append(self)
            // The closures hold this object until the feed's end, which comes when the load ends, or its reader is
            // released. A weak reference would cost each load a side table.
            feed.onDemand = { self.resumeSource() }
            feed.onCancel = { self.stop() }
            // This load sends again the bytes of the body that earlier ones have sent.
            if outer.forwardedBytesSent > 0 { bodyWillBeSentAgain(outer.forwardedBytesSent) }
            handler.begin(self)
        } catch {
            source = .ended
            continuation.resume(throwing: HandlerError.unwrapped(error, url: request.url))
        }
    }

    private func noteDeciders() {
        guard let receiver, receiver.answersChallenges else { return }
        programDecides = true
        session = outer.session
        decider = receiver.challengeDelegate
        delegateDecides = decider != nil
    }

    /// - Parameter atOnce: whether the session's load ends without the data that still waits for it.
    private func end(with error: (any Error)?, atOnce: Bool = false) {
        if case .loading(let handler) = source {
            source = .ended
            handler.end()
        }
        source = .ended
        outer.forwarded.removeAll { $0 === self }
        for question in openQuestions { withdraw(question) }
        switch destination {
        case .head(let continuation):
            destination = .none
            continuation.resume(
                throwing: error ?? URLError(LoadFailure.withoutResponse, url: outer.currentURL))
            feed.finish(error)
        case .body: feed.finish(error)
        case .session(let response):
            feed.finish(error)
            if atOnce { endPassing(response, error) } else { passWaiting() }
        case .none: break
        }
    }

    private func resumeSource() {
        isSourceWaiting = false
        if case .loading(let handler) = source { handler.receiverDidBecomeReady() }
    }

    // MARK: The session receives the rest

    /// The session has the response's head from `outer`, and gets the rest from this load.
    func pass(_ response: PassedResponse) {
        feed.onDemand = nil
        feed.onCancel = nil
        destination = .session(response)
        guard !outer.isBlocked else { return receiverDidBlock() }
        passWaiting()
        if isSourceWaiting, !outer.isBlocked { resumeSource() }
    }

    /// Ends the load, and the session's reception of it.
    func stop() { end(with: CancellationError(), atOnce: true) }

    /// Whether the load cannot go on after the end of the one that forwarded it: there is no response yet, or the
    /// receiver has to decide. A body can still be read.
    var needsReceiver: Bool {
        if case .head = destination { true } else { !openQuestions.isEmpty }
    }

    func receiverDidBlock() {
        if case .loading(let handler) = source { handler.receiverDidBlock() }
    }

    func receiverDidBecomeReady() {
        passWaiting()
        if case .session = destination, !outer.isBlocked { resumeSource() }
    }

    /// Passes the data that arrived before the session received directly, and then the end.
    private func passWaiting() {
        while case .session(let response) = destination, !outer.isBlocked {
            if beginsAnew {
                beginsAnew = false
                outer.pass { $0.receive(response.head) }
                continue
            }
            switch feed.takeWaiting() {
            case .success(let piece?)?: outer.pass { $0.receive(piece) }
            case .success(nil)?: return endPassing(response, nil)
            case .failure(let error)?: return endPassing(response, error)
            case nil:
                isFeedDrained = true
                return
            }
        }
    }

    private func endPassing(_ response: PassedResponse, _ error: (any Error)?) {
        destination = .none
        outer.passingDidEnd(response)
        response.end(error)
    }

    private var isPassingDirectly: Bool {
        if case .session = destination { isFeedDrained && !outer.isBlocked } else { false }
    }

    func takeConnection() throws -> TakenConnection? {
        if case .loading(let handler) = source { try handler.takeConnection() } else { nil }
    }

    var stall: String? { if case .loading(let handler) = source { handler.stall } else { nil } }

    /// False where the head has arrived: the load has its answer.
    func answerAtDeadline() -> Bool {
        guard case .head = destination, case .loading(let handler) = source else { return false }
        return handler.answerAtDeadline()
    }

    /// Called from any thread.
    var transactionMetrics: [URLSessionTaskTransactionMetrics] {
        let anchor = WallClockAnchor(date: Date(), monotonicTime: TimeSource.system.now)
        return transactions.withLock { $0 }.map { $0.metrics(anchor) }
    }

    // MARK: From the handlers after it

    /// The first response is the handler's. After a further one, which a program's handler may send, the body begins
    /// anew.
    func receive(_ response: URLResponse) -> Flow {
        switch destination {
        case .head(let continuation):
            destination = .body
            // An interceptor after this load's handler may have given another response in place of the redirect's.
            if redirection?.response.isSameRedirect(as: response) == false { redirection = nil }
            continuation.resume(
                returning: LoadedResponse(
                    response: response, redirection: redirection?.request, body: LoadedBody(reader: BodyReader(feed)),
                    load: self))
            return .more
        case .body:
            beginAnew(with: response)
            return .more
        case .session:
            beginAnew(with: response)
            beginsAnew = true
            passWaiting()
            return outer.isBlocked ? .wait : .more
        case .none: return .wait
        }
    }

    /// A reader that sees that the body begins anew finds the response.
    private func beginAnew(with response: URLResponse) {
        let former = later.withLock { exchange(&$0, for: response) }
        withExtendedLifetime(former) {}
        feed.dropWaiting()
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        isPassingDirectly ? outer.pass { $0.receive(bytes) } : keep(Data(bytes))
    }

    func receive(_ data: Data) -> Flow { isPassingDirectly ? outer.pass { $0.receive(data) } : keep(data) }

    func receive(coded _: UnsafeRawBufferPointer) {}  // a handler may change the body

    private func keep(_ data: Data) -> Flow {
        let flow = feed.append(data)
        isFeedDrained = false
        isSourceWaiting = flow == .wait
        return flow
    }

    func bodyBuffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? {
        isPassingDirectly ? receiver?.bodyBuffer(atMost: count) : nil
    }

    func bodyBufferFilled(_ count: Int) -> Flow { outer.pass { $0.bodyBufferFilled(count) } }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        if returnsRedirects {
            redirection = Redirection(request: request, refusal: refusal, response: response)
            // Not in this call: the handler continues with the response when the load has ended.
            let decide = LoopTransfer(decide)
            return outer.loop.executeLater { decide.value(false) }
        }
        // The load that forwarded this one has ended: there is nobody to decide.
        guard outer.receiver != nil else { return stop() }
        let settle = LoopTransfer { [self] (follows: Bool) in
            openQuestions.removeAll { $0 === response }
            // While the session still receives, so that the redirect is part of the task's metrics.
            if follows { stop() } else if let failure { end(with: failure) }
            decide(follows)
        }
        openQuestions.append(response)
        outer.withReceiver { [self] receiver in
            guard !isOver else { return }
            receiver.redirect(to: request, refusal: refusal, response: response, decide: settle.value)
        }
    }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        guard outer.receiver != nil else { return challengeWithoutTask(challenge, decide) }
        let settle = LoopTransfer<ChallengeDecision> { [self] disposition, credential in
            openQuestions.removeAll { $0 === challenge }
            decide(disposition, credential)
        }
        openQuestions.append(challenge)
        outer.withReceiver { [self] receiver in
            if !isOver { receiver.challenge(challenge, decide: settle.value) }
        }
    }

    /// The task of the load has ended. The session's delegate decides about connections, which other tasks may use. A
    /// connection about which only the task's own delegate may decide is refused.
    private func challengeWithoutTask(
        _ challenge: URLAuthenticationChallenge, _ decide: @escaping ChallengeDecision
    ) {
        guard programDecides, challenge.protectionSpace.concernsSession else {
            return decide(.performDefaultHandling, nil)
        }
        guard !delegateDecides, let session else { return decide(.cancelAuthenticationChallenge, nil) }
        session.answer(withoutTask: challenge, decide) {}
    }

    var answersChallenges: Bool { receiver?.answersChallenges ?? programDecides }

    var challengeDelegate: AnyObject? {
        if let receiver { return receiver.challengeDelegate }
        // Where the delegate is gone, this object stands for it, so that the load uses no connection that others have
        // accepted.
        return delegateDecides ? decider ?? self : nil
    }

    func withdraw(_ question: AnyObject) {
        openQuestions.removeAll { $0 === question }
        let question = LoopTransfer(question)
        outer.withReceiver { $0.withdraw(question.value) }
        endIfDecided()
    }

    func requestNewBodyStream(from offset: Int64?, _ give: @escaping (InputStream?) -> Void) {
        if hasOwnStream || outer.receiver == nil { return give(nil) }
        let give = LoopTransfer(give)
        outer.withReceiver { $0.requestNewBodyStream(from: offset, give.value) }
    }

    /// A handler can change the response. The delegate is therefore called only where the session receives the response
    /// unchanged.
    func willCache(_ response: CachedURLResponse, decide: @escaping @Sendable (CachedURLResponse?) -> Void) {
        guard case .session = destination, !outer.isOver else { return decide(response) }
        outer.withReceiver { $0.willCache(response, decide: decide) }
    }

    func queueStateDidChange(isQueued: Bool) {
        self.isQueued = isQueued
        outer.forwardedQueueStateDidChange()
    }

    // These events do not affect the handler, and go to the receiver at once, as others that are not here.

    var receiver: (any LoadReceiver)? { outer.receiver }

    func didSendBody(_ count: Int, expected: Int64) {
        // A handler may report any number.
        outer.forwardedBytesSent &+= Int64(count)
        receiver?.didSendBody(count, expected: expected)
    }

    func bodyWillBeSentAgain(_ count: Int64) {
        outer.forwardedBytesSent &-= count
        receiver?.bodyWillBeSentAgain(count)
    }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        let transaction = transaction()
        transactions.withLock { $0.append(transaction) }
        receiver?.collect(transaction)
    }

    func finish() {
        ownEnd = .finished
        end(with: nil)
    }

    func fail(_ error: any Error) {
        let error = HandlerError.unwrapped(error, url: outer.currentURL)
        ownEnd = .failed(error)
        // A redirect is followed all the same, if the delegate accepts it.
        failure = error
        endIfDecided()
    }

    /// Ends a load that has failed, unless the delegate has to decide about a redirect.
    private func endIfDecided() {
        guard !isOver, let failure, !openQuestions.contains(where: { $0 is URLResponse }) else { return }
        end(with: failure)
    }

    private var isOver: Bool { if case .ended = source { true } else { false } }

    /// This load's own end, or the end of the load that forwarded it.
    var loadEnd: LoadEnd { ownEnd ?? outer.ending ?? .released }
}

extension URLResponse {
    /// Whether both redirect to the same URL: they are one object, or have the same status and `Location`.
    func isSameRedirect(as other: URLResponse) -> Bool {
        if self === other { return true }
        guard let own = self as? HTTPURLResponse, let other = other as? HTTPURLResponse else { return false }
        return own.statusCode == other.statusCode
            && own.value(forHTTPHeaderField: "Location") == other.value(forHTTPHeaderField: "Location")
    }
}
