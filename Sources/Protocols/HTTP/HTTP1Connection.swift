import Foundation
import LoadingKitCore
import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitTransport

/// One HTTP/1.1 connection: moves bytes between its socket and the codec's state machine, for one exchange at a time.
/// Others may have been sent ahead, in its ``Pipeline``: each is carried when those before it are answered.
///
/// Telling an exchange something may end it, and with it this connection's part; so after each call the state is
/// looked at anew.
final class HTTP1Connection: HTTPStream, ByteStreamHandler, @unchecked Sendable {  // confined to `loop`
    /// A body of which at least so much is left is read straight into the receiver's memory, in bytes.
    private static let directReadThreshold = 4096

    /// What may be left of a response that nobody wants any more for the connection to be kept: less than this costs
    /// less to read than a new connection costs to open. In bytes, and in seconds for them to arrive.
    private static let drainLimit = 64 * 1024
    private static let drainTime = 2.0

    /// Reads in a row before the loop's other connections have their turn.
    private static let readsInARow = 16

    private enum State {
        case idle
        case carrying(HTTPExchange)
        /// The rest of a response is read and dropped: its exchange is gone, or waits to be carried next.
        case draining(budget: Int, LoopTimer, next: HTTPExchange?)
        case closed
    }

    private let stream: ByteStream
    private let pool: OriginPool
    private let loop: EventLoop
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    @exclusivity(unchecked) private var codec = ClientConnection()
    @exclusivity(unchecked) private var state = State.idle
    private var sender: RequestSender?
    private var continueTimer: LoopTimer?
    @exclusivity(unchecked) private var headBuffer: [UInt8] = []
    /// Bytes that were received and that the exchange has had no room for.
    @exclusivity(unchecked) private var held: [UInt8]?
    @exclusivity(unchecked) private var isReused = false
    /// The requests that were sent behind the one that is carried, or whose response is drained.
    private var pipeline = Pipeline()
    /// Whether the last response was of HTTP/1.1.
    @exclusivity(unchecked) private var speaksHTTP11 = false
    /// Whether a byte, and whether the head, of the response has come.
    @exclusivity(unchecked) private var hasReceived = false
    @exclusivity(unchecked) private var hasResponse = false
    /// Whether that did not say how long its body is.
    @exclusivity(unchecked) private var isOpenEnded = false
    @exclusivity(unchecked) private var writeError: (any Error)?
    private let metrics: ConnectionMetrics

    /// What the connection was authenticated with.
    @exclusivity(unchecked) private var credentials: BoundCredentials?

    /// Among the process's connections; nil as long as this one has not been idle.
    @exclusivity(unchecked) private var membership: IdleConnections.Membership?

    /// If idle: since when, and until when a request may be sent on it.
    @exclusivity(unchecked) private var idleSince = MonotonicTime.distantFuture
    @exclusivity(unchecked) private var safeUntil = MonotonicTime.distantFuture
    /// For how long it was idle before the request that it carries, in seconds.
    @exclusivity(unchecked) private var idleTime = 0.0

    /// When, if idle, the connection is to be closed.
    @exclusivity(unchecked) var idleUntil = MonotonicTime.distantFuture

    init(_ stream: ByteStream, _ pool: OriginPool) {
        self.stream = stream
        self.pool = pool
        loop = stream.loop
        metrics = ConnectionMetrics(
            stream.info, protocolName: stream.info.tls?.alpn ?? "http/1.1", isProxied: pool.isProxied)
        stream.handler = self
    }

    // MARK: From the pool

    /// Whether an idle connection can carry another exchange. The event that reports its end, or bytes that are not the
    /// answer to any request, may be waiting behind the one that brought the exchange.
    var isUsable: Bool {
        guard case .idle = state, isInTime else { return false }
        return !stream.isDead
    }

    private var isInTime: Bool { idleUntil > loop.now && safeUntil > loop.now }

    /// Closes an idle connection that cannot be used. The server may have closed it, unnoticed so far.
    func discard() {
        if isInTime {
            pool.serverClosedIdle(after: loop.now.seconds(since: idleSince))
        }
        close()
    }

    /// Whether the server takes the requests of the connection for those of the user that the exchange is for.
    func isFor(_ exchange: HTTPExchange) -> Bool { credentials?.mayAuthenticate(exchange) ?? true }

    /// No exchange waits for the connection: it is one of the process's idle ones, of which some are closed when they are
    /// many.
    func stayIdle(safeUntil: MonotonicTime) {
        self.safeUntil = safeUntil
        idleSince = loop.now
        let membership = membership ?? IdleConnections.Membership(on: loop) { [self] in closeIfChosen() }
        self.membership = membership
        membership.connectionDidBecomeIdle()
    }

    private func closeIfChosen() {
        guard case .idle = state, membership?.isChosen == true else { return }
        close()
        pool.idleIsGone(self)
    }

    func carry(_ exchange: HTTPExchange, isReused: Bool) {
        membership?.connectionDidBecomeActive()
        state = .carrying(exchange)
        idleTime = loop.now.seconds(since: idleSince)
        idleSince = .distantFuture
        self.isReused = isReused
        hasReceived = false
        hasResponse = false
        idleUntil = .distantFuture
        pipeline.begin()
        exchange.use(stream.info, metrics, isReused: isReused)
        do {
            proceed(with: try RequestSender(exchange, &codec, buffer: &headBuffer), exchange)
        } catch {
            end(with: LoadFailure(.badURL, "the request cannot be sent: \(error)"), .begun)
        }
    }

    func close() {
        if case .draining(_, let timer, _) = state { timer.cancel() }
        state = .closed
        sender = nil
        continueTimer?.cancel()
        continueTimer = nil
        held = nil
        membership = nil
        stream.close()
    }

    // MARK: Sending

    func streamIsWritable(_ stream: ByteStream) {
        if case .carrying(let exchange) = state { proceedSending(exchange) }
        if !pipeline.isEmpty { flushAhead() }
    }

    private func proceedSending(_ exchange: HTTPExchange) {
        if let sender = sender.take() { proceed(with: sender, exchange) }
    }

    /// Most requests are sent at once, and their sender is not kept.
    private func proceed(with sender: consuming RequestSender, _ exchange: HTTPExchange) {
        let (head, body, framing) = (sender.headCount, sender.bodyCount, sender.framingCount)
        let progress = sender.proceed(stream, &codec)
        let sent = (
            head: sender.headCount - head, body: sender.bodyCount - body, framing: sender.framingCount - framing
        )
        if case .done = progress { headBuffer = sender.takeBuffer() } else { self.sender = sender }
        if sent.head > 0 { exchange.didSendHead(sent.head) }
        if sent.body > 0 || sent.framing > 0 { exchange.didSendBody(sent.body, framing: sent.framing) }
        guard isCarrying(exchange) else { return }
        act(on: progress, exchange)
    }

    private func act(on progress: RequestSender.Progress, _ exchange: HTTPExchange) {
        switch progress {
        case .done:
            exchange.timings.requestEnd = loop.now
        case .blocked:
            break
        case .needsPiece(let reader):
            readPiece(reader, exchange)
        case .awaitsContinue:
            waitForContinue(exchange)
        case .failed(let error as TransportError):
            failedToSend(error)
        case .failed(let error):
            end(with: error, .begun)
        }
    }

    /// A server may answer and close without reading all of the request: its answer is what counts (RFC 9112 §9.5).
    private func failedToSend(_ error: TransportError) {
        let wasSent = sender?.sentAnything ?? true
        sender = nil
        writeError = error
        if !wasSent { return end(with: error, .notSent) }
        // Not at once: another connection of the loop may be reading, into the same memory.
        loop.execute { [weak self] in self?.readMore() }
    }

    private func readPiece(_ reader: any BodySource, _ exchange: HTTPExchange) {
        reader.read { [loop] result in
            loop.perform { [weak self] in
                guard let self, isCarrying(exchange), sender != nil else { return }
                do {
                    try sender?.supply(result.get(), &codec)
                    proceedSending(exchange)
                } catch {
                    end(with: error, .begun)
                }
            }
        }
    }

    private func waitForContinue(_ exchange: HTTPExchange) {
        guard continueTimer == nil else { return }
        let time = loop.now.advanced(bySeconds: RequestBody.continueTimeout)
        continueTimer = loop.schedule(at: time) { [weak self] in self?.sendBodyNow(exchange) }
    }

    private func sendBodyNow(_ exchange: HTTPExchange) {
        continueTimer?.cancel()
        continueTimer = nil
        guard isCarrying(exchange), sender?.isWaitingForContinue == true else { return }
        sender?.continueReceived()
        proceedSending(exchange)
    }

    // MARK: Receiving

    func streamIsReadable(_ stream: ByteStream) { readMore() }

    func exchangeIsBusy(_ exchange: HTTPExchange) {
        if isCarrying(exchange) && held == nil { held = [] }
    }

    func exchangeIsReady(_ exchange: HTTPExchange) {
        guard isCarrying(exchange), let bytes = held else { return }
        held = nil
        bytes.withUnsafeBytes { take($0) }
        readMore()
    }

    private func readMore() {
        for _ in 0..<Self.readsInARow {
            guard held == nil else { return }
            switch state {
            case .carrying(let exchange):
                guard readOnce(for: exchange) else { return }
            case .draining:
                guard readToScratch() else { return }
            case .idle:
                return readWhileIdle()
            case .closed:
                return
            }
        }
        loop.execute { [weak self] in self?.readMore() }
    }

    /// Straight into the receiver's memory where the body is long. False when there is no more to read now.
    private func readOnce(for exchange: HTTPExchange) -> Bool {
        let direct = codec.directBodyBytes
        guard direct >= Self.directReadThreshold, let memory = exchange.bodyBuffer(atMost: direct) else {
            return readToScratch()
        }
        let space = UnsafeMutableRawBufferPointer(rebasing: memory.prefix(direct))
        switch stream.read(into: space) {
        case .bytes(let count):
            let isComplete = codec.didReadBody(count)
            let flow = exchange.bodyBufferFilled(count)
            guard isCarrying(exchange) else {
                if isComplete { drained() }
                return true
            }
            if isComplete { complete(exchange) } else if flow == .wait { held = [] }
            return true
        case .wouldBlock: return false
        case .end: ended()
        case .failed(let error): failedToReceive(error)
        }
        return false
    }

    private func readToScratch() -> Bool {
        switch stream.read(into: loop.scratch) {
        case .bytes(let count):
            hasReceived = true
            take(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
            return true
        case .wouldBlock: return false
        case .end: ended()
        case .failed(let error): failedToReceive(error)
        }
        return false
    }

    /// Nothing is expected on an idle connection: whatever comes, it cannot be used again.
    private func readWhileIdle() {
        let result = stream.read(into: loop.scratch)
        if case .wouldBlock = result { return }
        if case .end = result { pool.serverClosedIdle(after: loop.now.seconds(since: idleSince)) }
        close()
        pool.idleIsGone(self)
    }

    /// Gives the codec bytes, and the exchange what they mean, until either has enough.
    private func take(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        do {
            while let event = try nextEvent(bytes, &position) {
                let flow = handle(event, bytes, rest: position)
                switch state {
                case .carrying where flow == .wait:
                    held = Array(bytes[position...])
                    return
                case .carrying, .draining: continue
                case .idle, .closed: return
                }
            }
        } catch {
            end(with: error, hasResponse ? .begun : processingWithoutResponse)
        }
    }

    /// Counts what the next event took, for the metrics.
    private func nextEvent(
        _ bytes: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(HTTP1Error) -> ResponseParser.Event? {
        let start = position
        let event = try codec.next(bytes, &position)
        guard case .carrying(let exchange) = state, position > start else { return event }
        if !hasResponse {
            exchange.didReceiveHead(position - start)
        } else if case .body(let range)? = event {
            exchange.didReceiveFraming(position - start - range.count)
        } else {
            exchange.didReceiveFraming(position - start)
        }
        return event
    }

    /// `rest` is where in the bytes what follows the event begins.
    private func handle(_ event: ResponseParser.Event, _ bytes: UnsafeRawBufferPointer, rest: Int) -> Flow {
        let hasRest = rest < bytes.count
        switch (state, event) {
        case (.carrying(let exchange), .interim(let head)):
            exchange.receive(interim: head)
            if head.status == 100 { sendBodyNow(exchange) }
            return .more
        case (.carrying(let exchange), .head(let head, let framing)):
            hasResponse = true
            isOpenEnded = framing == .chunked || framing == .untilClose
            note(head)
            // A final response instead of `100 Continue`: the body is not wanted (RFC 9110 §10.1.1).
            if sender?.isWaitingForContinue == true { stopSending() }
            return exchange.receive(head, hasBody: framing != .none)
        case (.carrying(let exchange), .body(let range)):
            return exchange.receive(UnsafeRawBufferPointer(rebasing: bytes[range]))
        case (.carrying(let exchange), .trailers(let fields)):
            exchange.receive(trailers: fields)
            return .more
        case (.carrying(let exchange), .end):
            if codec.isSwitched, let upgrade = exchange.upgrade {
                switchOver(exchange, upgrade, rest: Array(bytes[rest...]))
            } else {
                complete(exchange, hasRest: hasRest)
            }
            return .more
        case (.draining(let budget, _, _), .head(let head, _)):
            hasResponse = true
            note(head)
            if codec.directBodyBytes > budget { giveUpDraining() }
            return .more
        case (.draining(let budget, let timer, let next), .body(let range)):
            state = .draining(budget: budget - range.count, timer, next: next)
            if budget < range.count { giveUpDraining() }
            return .more
        case (.draining, .end):
            drained(hasRest: hasRest)
            return .more
        case (.draining, .interim), (.draining, .trailers), (.idle, _), (.closed, _):
            return .more
        }
    }

    private func stopSending() {
        sender = nil
        continueTimer?.cancel()
        continueTimer = nil
    }

    private func note(_ head: ResponseHead) {
        speaksHTTP11 = head.version == .http1_1
        guard let hint = head.fields[.keepAlive], let timeout = KeepAliveHint.timeout(in: hint) else { return }
        // A second early, so that the server does not close while a request is on its way.
        idleUntil = loop.now.advanced(bySeconds: max(0, timeout - 1))
    }

    // MARK: The end of an exchange

    private func isCarrying(_ exchange: HTTPExchange) -> Bool {
        if case .carrying(let current) = state { current === exchange } else { false }
    }

    /// - Parameter hasRest: whether bytes that were read are left behind the response.
    private func complete(_ exchange: HTTPExchange, hasRest: Bool = false) {
        guard pipeline.isEmpty else { return proceed(after: exchange, hasRest: hasRest) }
        let isReusable =
            sender == nil && writeError == nil && codec.canCarryAnotherRequest && !hasRest && !hasUnexpectedInput
        if isReusable { state = .idle } else { close() }
        if let bound = exchange.logins.boundCredentials { credentials = bound }
        exchange.ended()
        if isReusable { pool.isFree(self) } else { pool.isGone(self) }
    }

    /// Whether something waits behind the last response, where no other is expected. It would be taken for the answer to
    /// the next request.
    private var hasUnexpectedInput: Bool { stream.mayHaveInput && stream.isDead }

    /// The server has switched to the protocol that the request asked for: a tunnel has the connection from now on.
    private func switchOver(_ exchange: HTTPExchange, _ upgrade: any HTTPUpgrade, rest: [UInt8]) {
        guard sender == nil else {
            return end(with: LoadFailure.switchedEarly, .begun)
        }
        let tunnel = HTTP1Tunnel(stream, exchange, upgrade, rest: rest)
        state = .closed
        membership = nil
        exchange.assigned(to: tunnel)
        tunnel.start()
        pool.isGone(self)
    }

    func takeConnection(from exchange: HTTPExchange) throws -> TakenConnection? {
        guard isCarrying(exchange), codec.isSwitching, let bytes = held else { return nil }
        guard exchange.timings.requestEnd != nil else { throw LoadFailure.switchedEarly }
        held = nil
        state = .closed
        membership = nil
        stream.handler = nil
        pool.isGone(self)
        return TakenConnection(stream: stream, rest: bytes)
    }

    /// A response that nobody wants is complete.
    private func drained(hasRest: Bool = false) {
        guard case .draining(_, let timer, let next) = state else { return }
        timer.cancel()
        release(to: next, hasRest: hasRest)
    }

    private func release(to next: HTTPExchange?, hasRest: Bool) {
        guard pipeline.isEmpty else { return proceed(after: nil, hasRest: hasRest) }
        // The person who was asked may have taken longer to answer than the server has waited.
        guard codec.canCarryAnotherRequest, !hasRest, !stream.isDead else { return leave(to: next) }
        state = .idle
        guard let next else { return pool.isFree(self) }
        next.assigned(to: self)
        carry(next, isReused: true)
    }

    /// The connection cannot be used again, neither by the exchange that it was to carry next.
    private func leave(to next: HTTPExchange?) {
        // A server that forgets what was sent ahead of its answers is silent.
        let isSilent = pipeline.isInUse && !hasReceived
        if isSilent, loop.now >= pipeline.lastTurn.advanced(bySeconds: Self.drainTime) { pool.pipelineBroke() }
        close()
        sendAgain(.unknown)
        pool.isGone(self)
        next?.restartElsewhere()
    }

    func abandon(_ exchange: HTTPExchange) {
        if case .draining(let budget, let timer, let next) = state, next === exchange {
            state = .draining(budget: budget, timer, next: nil)
        } else if isCarrying(exchange) {
            drain(next: nil)
        } else {
            pipeline.abandon(exchange)
            // Nobody waits behind the answer that nobody waits for.
            if case .draining = state, !hasResponse, !pipeline.isAwaited { leave(to: nil) }
        }
    }

    func restart(_ exchange: HTTPExchange) {
        guard isCarrying(exchange) else { return exchange.restartElsewhere() }
        if pipeline.isEmpty { return drain(next: exchange) }
        drain(next: nil)
        exchange.restartInTurn()
    }

    /// Nothing is sent for an upgrade before the connection is its own.
    func hasOutput() {}

    var isExclusive: Bool { true }

    private func drain(next: HTTPExchange?) {
        // Those behind may well wait a little for a response that has not begun.
        guard hasResponse || pipeline.isAwaited, sender == nil, codec.directBodyBytes <= Self.drainLimit else {
            return leave(to: next)
        }
        beginDraining(next: next)
        guard held != nil else { return }
        // Not from inside the exchange's own call. Until then nothing is read that came later.
        loop.execute { [weak self] in
            guard let self, case .draining = state, let bytes = held else { return }
            held = nil
            bytes.withUnsafeBytes { self.take($0) }
            readMore()
        }
    }

    private func beginDraining(next: HTTPExchange?) {
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: Self.drainTime)) { [weak self] in
            self?.giveUpDraining()
        }
        state = .draining(budget: Self.drainLimit, timer, next: next)
    }

    private func giveUpDraining() {
        guard case .draining(_, _, let next) = state else { return }
        leave(to: next)
    }

    /// The server has closed its side in order.
    private func ended() {
        do {
            if let event = try codec.finish() {
                _ = handle(event, UnsafeRawBufferPointer(start: nil, count: 0), rest: 0)
            } else {
                end(with: LoadFailure(.networkConnectionLost, "the server closed the connection"), .unknown)
            }
        } catch {
            end(with: writeError ?? error, processingWithoutResponse)
        }
    }

    private func failedToReceive(_ error: TransportError) {
        end(with: writeError ?? error, processingWithoutResponse)
    }

    private var processingWithoutResponse: StreamFailure.Processing {
        isReused && !hasReceived ? .unknown : .begun
    }

    private func end(with error: any Error, _ processing: StreamFailure.Processing) {
        let last = state
        close()
        switch last {
        case .carrying(let exchange):
            breakPipeline(error)
            // The server has closed the connection as idle: it does so after as long as it was idle before the request.
            if processing == .unknown { pool.serverClosedIdle(after: idleTime) }
            let isForAnother = !hasResponse && pool.mayHaveMisunderstood(stream.info)
            exchange.failed(StreamFailure(error: error, processing: isForAnother ? .notSent : processing))
            pool.isGone(self)
        case .draining(_, _, let next):
            breakPipeline(error)
            pool.isGone(self)
            next?.restartElsewhere()
        case .idle:
            pool.idleIsGone(self)
        case .closed:
            break
        }
    }

    // MARK: Requests sent ahead

    /// How many requests may now be sent behind those that are not answered. None where the server has not shown that it
    /// keeps its connections, or where the answer in progress is long, or may be endless, or its receiver takes no more of it.
    var roomAhead: Int {
        guard case .carrying(let exchange) = state, isReused, speaksHTTP11, codec.canSendAhead, sender == nil,
            writeError == nil, held == nil, exchange.allowsPipelining
        else { return 0 }
        if hasResponse, isOpenEnded || codec.directBodyBytes > Self.drainLimit { return 0 }
        // What is there may be more than the response in progress, and be taken for the answer.
        if hasResponse, pipeline.isEmpty, stream.isDead { return 0 }
        return Pipeline.depth - 1 - pipeline.count
    }

    var aheadCount: Int { pipeline.count }

    /// Puts a request behind those that are not answered; ``flushAhead()`` sends it.
    func sendAhead(_ exchange: HTTPExchange) {
        exchange.assigned(to: self)
        exchange.isSentAhead()
        exchange.use(stream.info, metrics, isReused: true)
        do {
            try pipeline.append(exchange, &codec, now: loop.now)
        } catch {
            let failure = LoadFailure(.badURL, "the request cannot be sent: \(error)")
            exchange.failed(StreamFailure(error: failure, processing: .begun))
        }
    }

    func flushAhead() {
        guard writeError == nil, let error = pipeline.flush(to: stream) else { return }
        writeError = error
        // What was answered before counts.
        loop.execute { [weak self] in self?.readMore() }
    }

    /// A response is complete, and the next is for what was sent ahead; unless the server has said that there will be
    /// none: it looks at nothing that came after the request it said so to (RFC 9112 §9.6).
    private func proceed(after exchange: HTTPExchange?, hasRest: Bool) {
        let isAnnounced = !codec.awaitsResponse
        guard !isAnnounced, pipeline.isNextSent, pipeline.isAwaited else {
            close()
            exchange?.ended()
            if let writeError, !isAnnounced { breakPipeline(writeError) } else { sendAgain(.notSent) }
            return pool.isGone(self)
        }
        isReused = true
        hasReceived = hasRest
        hasResponse = false
        idleUntil = .distantFuture
        if let next = pipeline.takeNext(now: loop.now) {
            state = .carrying(next)
            next.isQueued(false)
        } else {
            beginDraining(next: nil)
        }
        exchange?.ended()
        pool.hasRoomAhead()
    }

    /// The connection has ended, and the server had not said so.
    private func breakPipeline(_ error: any Error) {
        guard pipeline.isInUse else { return }
        pool.pipelineBroke()
        sendAgain(.unknown, after: error)
    }

    /// Has what was sent ahead sent elsewhere: the last first, as each goes before those that wait.
    private func sendAgain(_ processing: StreamFailure.Processing, after error: (any Error)? = nil) {
        guard !pipeline.isEmpty else { return }
        let error = error ?? LoadFailure(.networkConnectionLost, "the connection was closed")
        for exchange in pipeline.takeAll().reversed() {
            exchange.failed(StreamFailure(error: error, processing: processing, isBehind: true))
        }
    }
}

extension LoadFailure {
    fileprivate static var switchedEarly: LoadFailure {
        LoadFailure(.badServerResponse, "the server switched to another protocol before it had the request")
    }
}
