import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// One HTTP/1.1 connection. It moves bytes between its socket and the codec's state machine, for one exchange at a
/// time. Requests of other exchanges may have been sent ahead, in its ``Pipeline``. Each of them becomes active when
/// the requests before it are answered.
///
/// ```
///                     carry                     the response is complete
///   ┌──────┐ ──────────────────────▶ ┌────────┐ ──────────────────────▶ idle, or active with the next of the pipeline
///   │ idle │                         │ active │
///   └──────┘ ◀──┐                    └────────┘ ── abandoned, or restarted ──▶ ┌──────────┐
///               └─────────────────────────────── the rest has come ────────── │ draining │
///                                                                             └──────────┘
///   Any state ── end of the stream, error, or a state that forbids reuse ──▶ closed
/// ```
///
/// A call of an exchange may end this exchange, and thereby change this connection's state. The state is therefore
/// checked again after each call.
final class HTTP1Connection: HTTPStream, ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// The largest rest of an abandoned response for which the connection is kept, in bytes and in seconds: reading it
    /// costs less than opening a connection.
    static let drainLimit = 64 * 1024
    static let drainTime = 2.0

    enum State {
        case idle(since: MonotonicTime)
        case active(HTTPExchange)
        /// The rest of a response is read and dropped.
        case draining(Draining)
        case closed
    }

    struct Draining {
        var budget: Int
        let timer: LoopTimer
        var next: HTTPExchange?
    }

    enum Writing {
        case done
        /// Sending waits for the socket, for the body's source, or until the task is resumed.
        case sending(RequestSender)
        /// The head is sent. The body is sent when the server requests it, or when the timer fires.
        case awaitingContinue(RequestSender, LoopTimer)
        /// Bytes that were received before the error count: a server may respond and close without reading all of the
        /// request.
        case failed(any Error)
    }

    enum ResponseProgress {
        case awaited
        case begun
        case head(isOpenEnded: Bool)
    }

    enum Reading {
        case flowing
        /// The exchange takes no more bytes for now. These bytes were received, and not yet passed to it.
        case held(unread: [UInt8])
    }

    let stream: ByteStream
    let pool: ConnectionPoolDriver
    let loop: EventLoop
    let metrics: ConnectionMetrics
    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) var id = HTTPConnectionPool.ConnectionID(index: -1, generation: 0)
    @exclusivity(unchecked) var codec = ClientConnection()
    @exclusivity(unchecked) var state: State
    @exclusivity(unchecked) var writing = Writing.done
    @exclusivity(unchecked) var reading = Reading.flowing
    @exclusivity(unchecked) var response = ResponseProgress.awaited
    @exclusivity(unchecked) var keepAlive = HTTP1KeepAlive()
    /// The requests that were sent behind the active exchange's request, or behind the one whose response is drained.
    var pipeline = Pipeline()
    @exclusivity(unchecked) var identityQuestion: IdentityQuestion?
    @exclusivity(unchecked) var headBuffer: [UInt8] = []
    @exclusivity(unchecked) var requestCount = 0
    @exclusivity(unchecked) private(set) var binding = HTTPConnectionPool.Binding.none
    /// Nil until the connection has been idle.
    @exclusivity(unchecked) private var membership: IdleConnections.Membership?

    init(_ stream: ByteStream, _ pool: ConnectionPoolDriver) {
        self.stream = stream
        self.pool = pool
        loop = stream.loop
        state = .idle(since: stream.loop.now)
        metrics = ConnectionMetrics(
            stream.info, protocolName: stream.info.tls?.alpn ?? "http/1.1", isProxied: pool.isProxied)
        stream.handler = self
    }

    func isActive(_ exchange: ExchangeNumber) -> Bool {
        if case .active(let current) = state { current.number == exchange } else { false }
    }

    var hasResponse: Bool { if case .head = response { true } else { false } }

    var connectionState: ConnectionState {
        let isIdle = if case .idle = state { true } else { false }
        var now = ConnectionState(stream.info, .http1, isIdle ? .idle : .active)
        now.requestCount = requestCount
        return now
    }

    // MARK: From the pool

    /// The current time if the connection is not idle.
    var idleSince: MonotonicTime { if case .idle(let since) = state { since } else { loop.now } }

    /// False if an unread event reports the connection's end, or bytes that are not a response to any request.
    var isUsable: Bool {
        guard case .idle = state else { return false }
        return !stream.isDead
    }

    /// Closes an idle connection that the server has closed, which was not noticed before.
    func discard() {
        if case .idle(let since) = state { pool.serverDidCloseIdle(after: loop.now.seconds(since: since)) }
        close()
    }

    /// The connection joins the process's idle ones, some of which are closed if there are too many.
    func didBecomeIdle() {
        let membership = membership ?? IdleConnections.Membership(on: loop) { [self] in closeIfChosen() }
        self.membership = membership
        membership.connectionDidBecomeIdle()
    }

    private func closeIfChosen() {
        guard case .idle = state, membership?.isChosen == true else { return }
        close()
        pool.connectionDidClose(id, .idle)
    }

    func carry(_ exchange: HTTPExchange, isReused: Bool) {
        guard case .idle(let since) = state else { return exchange.restartElsewhere() }
        membership?.connectionDidBecomeActive()
        keepAlive.requestWillBegin(isReused: isReused, idleTime: isReused ? loop.now.seconds(since: since) : 0)
        requestCount &+= 1
        state = .active(exchange)
        response = .awaited
        pipeline.begin()
        exchange.use(stream.info, metrics, isReused: isReused)
        // The exchange may end before its response is complete, for example with a redirect. The connection stays bound if
        // the server refuses the request: it may have refused the authenticated user.
        if let user = exchange.authentication.binding { binding = binding.joined(with: user) }
        send(exchange)
    }

    func close() {
        if case .draining(let draining) = state { draining.timer.cancel() }
        state = .closed
        withdrawIdentityQuestion()
        stopSending()
        reading = .flowing
        membership = nil
        stream.close()
    }

    // MARK: The end of an exchange

    /// - Parameter hasRest: whether bytes are left behind the response.
    func complete(_ exchange: HTTPExchange, hasRest: Bool = false) {
        guard pipeline.isEmpty else { return proceed(after: exchange, hasRest: hasRest) }
        let isReusable = isAllSent && codec.canCarryAnotherRequest && !hasRest && !hasUnexpectedInput
        if isReusable { state = .idle(since: loop.now) } else { close() }
        exchange.ended()
        if isReusable { pool.connectionDidBecomeIdle(self) } else { pool.connectionDidClose(id, .retired) }
    }

    /// Whether bytes follow that would be taken for the response to the next request.
    private var hasUnexpectedInput: Bool { stream.mayHaveInput && stream.isDead }

    /// The server has switched to the protocol that the request named. A tunnel owns the connection from now on.
    func switchOver(_ exchange: HTTPExchange, _ upgrade: any HTTPUpgrade, rest: [UInt8]) {
        guard isAllSent else { return end(with: LoadFailure.switchedEarly, .begun) }
        let tunnel = HTTP1Tunnel(stream, exchange, upgrade, rest: rest)
        leaveToProgram()
        exchange.assigned(to: tunnel)
        pool.connectionDidClose(id, .taken)
        tunnel.start()
    }

    func takeConnection(from number: ExchangeNumber) throws -> TakenConnection? {
        guard case .active(let exchange) = state, exchange.number == number, codec.isSwitching,
            case .held(let unread) = reading
        else { return nil }
        guard exchange.isRequestSent else { throw LoadFailure.switchedEarly }
        leaveToProgram()
        stream.handler = nil
        pool.connectionDidClose(id, .taken)
        return TakenConnection(stream: stream, rest: unread)
    }

    private func leaveToProgram() {
        reading = .flowing
        state = .closed
        membership = nil
    }

    func abandon(_ exchange: ExchangeNumber) {
        if case .draining(var draining) = state, draining.next?.number == exchange {
            draining.next = nil
            state = .draining(draining)
        } else if isActive(exchange) {
            drain(next: nil)
        } else {
            pipeline.abandon(exchange)
            // No exchange waits behind the response that is drained.
            if case .draining = state, !hasResponse, !pipeline.isAwaited { leave() }
        }
    }

    func restart(_ number: ExchangeNumber) -> StreamRestart {
        guard case .active(let exchange) = state, exchange.number == number else { return .elsewhere }
        if pipeline.isEmpty { return drain(next: exchange) ? .here : .elsewhere }
        drain(next: nil)
        return .inTurn
    }

    var isExclusive: Bool { true }
    var connectionInfo: ConnectionInfo { stream.info }

    // MARK: Draining

    /// Returns false if the connection cannot be used again.
    @discardableResult
    private func drain(next: HTTPExchange?) -> Bool {
        // Without an answer to its question for a client certificate the server sends nothing more. Requests that were
        // sent ahead may wait a short time for a response that has not begun.
        guard identityQuestion == nil, hasResponse || pipeline.isAwaited, isSendingOver,
            codec.directBodyBytes <= Self.drainLimit
        else {
            leave()
            return false
        }
        beginDraining(next: next)
        if case .held = reading { readLater() }
        return true
    }

    func beginDraining(next: HTTPExchange?) {
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.drainTime)) { [weak self] in
            self?.giveUpDraining()
        }
        state = .draining(Draining(budget: Self.drainLimit, timer: timer, next: next))
    }

    func giveUpDraining() {
        guard case .draining(let draining) = state else { return }
        leave()
        draining.next?.restartElsewhere()
    }

    /// A response that no exchange receives is complete.
    func drained(hasRest: Bool = false) {
        guard case .draining(let draining) = state else { return }
        draining.timer.cancel()
        guard pipeline.isEmpty else { return proceed(after: nil, hasRest: hasRest) }
        // A user may have taken longer to answer a challenge than the server keeps the connection.
        guard codec.canCarryAnotherRequest, !hasRest, !stream.isDead else { return giveUpDraining() }
        state = .idle(since: loop.now)
        guard let next = draining.next else { return pool.connectionDidBecomeIdle(self) }
        next.assigned(to: self)
        carry(next, isReused: true)
    }

    private func leave() {
        // A server that ignores requests sent ahead of its responses does not respond.
        if pipeline.isInUse, case .awaited = response,
            loop.now >= pipeline.lastTurn.advanced(bySeconds: Self.drainTime)
        {
            pool.pipelineDidBreak()
        }
        close()
        sendAgain(.unknown)
        pool.connectionDidClose(id, .unusable)
    }

    // MARK: The end of the connection

    func end(with error: any Error, _ processing: StreamFailure.Processing) {
        let last = state
        close()
        switch last {
        case .active(let exchange):
            breakPipeline(error)
            // The server closed the connection as idle. It does so after the time for which the connection was idle
            // before the request.
            if processing == .unknown { pool.serverDidCloseIdle(after: keepAlive.idleTime) }
            let isForAnother = !hasResponse && pool.offerHTTP2IfMisunderstood(stream.info)
            exchange.failed(StreamFailure(error: error, processing: isForAnother ? .notSent : processing))
            pool.connectionDidClose(id, .lost)
        case .draining(let draining):
            breakPipeline(error)
            pool.connectionDidClose(id, .lost)
            draining.next?.restartElsewhere()
        case .idle:
            pool.connectionDidClose(id, .lost)
        case .closed:
            break
        }
    }

    /// Whether the server may have processed a request to which it has not responded.
    var processingWithoutResponse: StreamFailure.Processing {
        guard case .awaited = response else { return .begun }
        if isUnsent { return .notSent }
        return keepAlive.isReused ? .unknown : .begun
    }
}

extension LoadFailure {
    static var switchedEarly: LoadFailure {
        LoadFailure(.badServerResponse, "the server switched to another protocol before it had the request")
    }
}
