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
    /// The largest rest of an abandoned response, in bytes, for which the connection is kept: reading less than this
    /// costs less than opening a connection. `drainTime` is the limit for its arrival, in seconds.
    static let drainLimit = 64 * 1024
    static let drainTime = 2.0

    enum State {
        case idle(since: MonotonicTime)
        /// The exchange's request is being sent, and its response received.
        case active(HTTPExchange)
        /// The rest of a response is read and dropped. Its exchange is over, or will be carried again.
        case draining(Draining)
        case closed
    }

    struct Draining {
        /// The number of body bytes that may still arrive.
        var budget: Int
        let timer: LoopTimer
        /// The exchange that the connection carries after the rest has arrived.
        var next: HTTPExchange?
    }

    /// The progress of sending the active exchange's request.
    enum Writing {
        case done
        /// Sending waits until the socket has room, or until the body's source has delivered its next piece.
        case sending(RequestSender)
        /// The head is sent. The body is sent when the server requests it, or when the timer fires.
        case awaitingContinue(RequestSender, LoopTimer)
        /// Bytes that were received before the error count: a server may respond and close without reading all of the
        /// request.
        case failed(any Error)
    }

    /// The progress of the response that is awaited or drained.
    enum ResponseProgress {
        case awaited
        /// At least one byte of the response was received.
        case begun
        /// The response's head was received.
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
    /// The connection's identifier in its pool.
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
    /// Memory for the next request's head.
    @exclusivity(unchecked) var headBuffer: [UInt8] = []
    /// The user whose requests the connection may carry.
    @exclusivity(unchecked) private(set) var binding = HTTPConnectionPool.Binding.none
    /// The connection's membership in the process's idle connections; nil until the connection has been idle.
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

    func isActive(_ exchange: HTTPExchange) -> Bool {
        if case .active(let current) = state { current === exchange } else { false }
    }

    var hasResponse: Bool { if case .head = response { true } else { false } }

    // MARK: From the pool

    /// The time since which the connection is idle; the current time if it is not idle.
    var idleSince: MonotonicTime { if case .idle(let since) = state { since } else { loop.now } }

    /// Whether an idle connection can carry an exchange. It cannot if an unread event reports its end, or bytes that
    /// are not a response to any request.
    var isUsable: Bool {
        guard case .idle = state else { return false }
        return !stream.isDead
    }

    /// Closes an idle connection that cannot be used: the server has closed it, which was not noticed before.
    func discard() {
        if case .idle(let since) = state { pool.serverDidCloseIdle(after: loop.now.seconds(since: since)) }
        close()
    }

    /// No exchange waits for the connection. It becomes one of the process's idle connections, some of which are closed
    /// if there are too many.
    func didBecomeIdle() {
        let membership = membership ?? IdleConnections.Membership(on: loop) { [self] in closeIfChosen() }
        self.membership = membership
        membership.connectionDidBecomeIdle()
    }

    private func closeIfChosen() {
        guard case .idle = state, membership?.isChosen == true else { return }
        close()
        pool.connectionDidClose(self)
    }

    func carry(_ exchange: HTTPExchange, isReused: Bool) {
        guard case .idle(let since) = state else { return exchange.restartElsewhere() }
        membership?.connectionDidBecomeActive()
        keepAlive.requestWillBegin(isReused: isReused, idleTime: isReused ? loop.now.seconds(since: since) : 0)
        state = .active(exchange)
        response = .awaited
        pipeline.begin()
        exchange.use(stream.info, metrics, isReused: isReused)
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

    /// - Parameter hasRest: whether bytes that were read are left behind the response.
    func complete(_ exchange: HTTPExchange, hasRest: Bool = false) {
        guard pipeline.isEmpty else { return proceed(after: exchange, hasRest: hasRest) }
        let isReusable = isAllSent && codec.canCarryAnotherRequest && !hasRest && !hasUnexpectedInput
        if isReusable { state = .idle(since: loop.now) } else { close() }
        if let credentials = exchange.authentication.boundCredentials {
            binding = pool.session.binding(of: credentials)
        }
        exchange.ended()
        if isReusable { pool.connectionDidBecomeIdle(self) } else { pool.connectionDidClose(self) }
    }

    /// Whether unexpected bytes follow the last response. They would be taken for the response to the next request.
    private var hasUnexpectedInput: Bool { stream.mayHaveInput && stream.isDead }

    /// The server has switched to the protocol that the request named. A tunnel owns the connection from now on.
    func switchOver(_ exchange: HTTPExchange, _ upgrade: any HTTPUpgrade, rest: [UInt8]) {
        guard isAllSent else { return end(with: LoadFailure.switchedEarly, .begun) }
        let tunnel = HTTP1Tunnel(stream, exchange, upgrade, rest: rest)
        leaveToProgram()
        exchange.assigned(to: tunnel)
        pool.connectionDidClose(self)
        tunnel.start()
    }

    func takeConnection(from exchange: HTTPExchange) throws -> TakenConnection? {
        guard isActive(exchange), codec.isSwitching, case .held(let unread) = reading else { return nil }
        guard exchange.isRequestSent else { throw LoadFailure.switchedEarly }
        leaveToProgram()
        stream.handler = nil
        pool.connectionDidClose(self)
        return TakenConnection(stream: stream, rest: unread)
    }

    private func leaveToProgram() {
        reading = .flowing
        state = .closed
        membership = nil
    }

    func abandon(_ exchange: HTTPExchange) {
        if case .draining(var draining) = state, draining.next === exchange {
            draining.next = nil
            state = .draining(draining)
        } else if isActive(exchange) {
            drain(next: nil)
        } else {
            pipeline.abandon(exchange)
            // No exchange waits behind the response that is drained.
            if case .draining = state, !hasResponse, !pipeline.isAwaited { leave(to: nil) }
        }
    }

    func restart(_ exchange: HTTPExchange) {
        guard isActive(exchange) else { return exchange.restartElsewhere() }
        if pipeline.isEmpty { return drain(next: exchange) }
        drain(next: nil)
        exchange.restartInTurn()
    }

    /// An upgrade's bytes are sent only after the connection was handed to its tunnel.
    func outputDidBecomeReady() {}

    var isExclusive: Bool { true }

    var connectionInfo: ConnectionInfo { stream.info }

    // MARK: Draining

    private func drain(next: HTTPExchange?) {
        // The server waits for a client certificate that nobody will provide.
        guard identityQuestion == nil else { return leave(to: next) }
        // Requests that were sent ahead may wait a short time for a response that has not begun.
        guard hasResponse || pipeline.isAwaited, isSendingOver, codec.directBodyBytes <= Self.drainLimit else {
            return leave(to: next)
        }
        beginDraining(next: next)
        if case .held = reading { readLater() }
    }

    func beginDraining(next: HTTPExchange?) {
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.drainTime)) { [weak self] in
            self?.giveUpDraining()
        }
        state = .draining(Draining(budget: Self.drainLimit, timer: timer, next: next))
    }

    func giveUpDraining() {
        if case .draining(let draining) = state { leave(to: draining.next) }
    }

    /// A response that no exchange receives is complete.
    func drained(hasRest: Bool = false) {
        guard case .draining(let draining) = state else { return }
        draining.timer.cancel()
        guard pipeline.isEmpty else { return proceed(after: nil, hasRest: hasRest) }
        // A user may have taken longer to answer a challenge than the server keeps the connection.
        guard codec.canCarryAnotherRequest, !hasRest, !stream.isDead else { return leave(to: draining.next) }
        state = .idle(since: loop.now)
        guard let next = draining.next else { return pool.connectionDidBecomeIdle(self) }
        next.assigned(to: self)
        carry(next, isReused: true)
    }

    /// The connection cannot be used again, not even by the exchange that it was to carry next.
    private func leave(to next: HTTPExchange?) {
        // A server that ignores requests sent ahead of its responses does not respond.
        if pipeline.isInUse, case .awaited = response,
            loop.now >= pipeline.lastTurn.advanced(bySeconds: Self.drainTime)
        {
            pool.pipelineDidBreak()
        }
        close()
        sendAgain(.unknown)
        pool.connectionDidClose(self)
        next?.restartElsewhere()
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
            pool.connectionDidClose(self)
        case .draining(let draining):
            breakPipeline(error)
            pool.connectionDidClose(self)
            draining.next?.restartElsewhere()
        case .idle:
            pool.connectionDidClose(self)
        case .closed:
            break
        }
    }

    /// The server's possible processing of a request to which it has not responded.
    var processingWithoutResponse: StreamFailure.Processing {
        if case .awaited = response, keepAlive.isReused { .unknown } else { .begun }
    }
}

extension LoadFailure {
    static var switchedEarly: LoadFailure {
        LoadFailure(.badServerResponse, "the server switched to another protocol before it had the request")
    }
}
