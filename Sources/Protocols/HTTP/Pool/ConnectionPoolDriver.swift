import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport
import Logging

/// Carries out the decisions of an ``HTTPConnectionPool``. The driver holds the exchanges, connections and attempts
/// behind the pool's identifiers, passes their events to the pool as inputs, and runs the resulting actions. Confined
/// to the session's loop.
///
/// An action may cause another input at once. The actions of the second input run after those of the first.
final class ConnectionPoolDriver {
    private enum Connection {
        case http1(HTTP1Connection)
        case http2(HTTP2Connection)
    }

    typealias Submission = (exchange: HTTPExchange, needsFreshConnection: Bool)

    /// The reason why an attempt failed, and the times of its steps.
    private struct ConnectFailure {
        let error: any Error
        let timings: ConnectTimings?
    }

    let record: RouteRecord
    let origin: OriginRecord
    /// The driver retains the session. The session retains the driver while the route has work.
    let session: HTTPSession
    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private var pool: HTTPConnectionPool
    /// The submitted exchanges that have no connection yet.
    @exclusivity(unchecked) private var exchanges = SlotTable<Submission>()
    @exclusivity(unchecked) private var connections = SlotTable<Connection>()
    private var attempts: [HTTPConnectionPool.AttemptID: ConnectionAttempt] = [:]
    private var pauseTimer: LoopTimer?
    @exclusivity(unchecked) private var isRunning = false
    /// Actions that were returned while others were running.
    @exclusivity(unchecked) private var pending: [(actions: HTTPConnectionPool.Actions, failure: ConnectFailure?)] = []

    init(_ record: RouteRecord, _ origin: OriginRecord, _ session: HTTPSession, isClosing: Bool) {
        self.record = record
        self.origin = origin
        self.session = session
        pool = HTTPConnectionPool(HTTPConnectionPool.Configuration(record, session.settings), isClosing: isClosing)
        if record.server.speaksHTTP2Alone { pool.serverSpeaksHTTP2Alone() }
    }

    var route: Route { record.route }
    private var loop: EventLoop { session.loop }
    var logger: Logger { session.settings.logger }
    var isProxied: Bool { route.proxy != nil }

    /// Whether the driver's exchanges request a switch to another protocol.
    var isForUpgrade: Bool { route.isForUpgrade }

    var hasIdleConnection: Bool { pool.hasIdleConnection }

    // MARK: Exchanges

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        run(pool.submit(register(exchange, needsFreshConnection), now: loop.now))
    }

    /// Submits an exchange that switches to another protocol, if there is an HTTP/2 connection that allows the switch.
    /// Returns false if there is none.
    func submitUpgrade(_ exchange: HTTPExchange) -> Bool {
        guard !exchange.authentication.bindsToConnection,
            let connection = pool.connectionsWithSlot(loop.now).first(where: takesUpgrades)
        else { return false }
        run(pool.submit(register(exchange, false), on: connection))
        return true
    }

    private func takesUpgrades(_ connection: HTTPConnectionPool.ConnectionID) -> Bool {
        if case .http2(let connection)? = connections[connection] { connection.takesUpgrades } else { false }
    }

    func withdraw(_ exchange: HTTPExchange) {
        guard let request = exchange.requestID.take() else { return }
        exchanges.remove(request)
        run(pool.withdraw(request, now: loop.now))
    }

    private func register(_ exchange: HTTPExchange, _ needsFreshConnection: Bool) -> HTTPConnectionPool.Request {
        let id = exchanges.insert((exchange, needsFreshConnection))
        exchange.requestID = id
        let allowsPipelining = exchange.allowsPipelining
        return HTTPConnectionPool.Request(
            id: id, number: exchange.number, priority: exchange.priority, needsFreshConnection: needsFreshConnection,
            goesFirst: needsFreshConnection || exchange.hasHadTurn, user: session.user(of: exchange),
            allowsPipelining: allowsPipelining, mayBeSentAhead: allowsPipelining && !exchange.hasHadTurn)
    }

    // MARK: Actions

    private func run(_ actions: HTTPConnectionPool.Actions, _ failure: ConnectFailure? = nil) {
        guard !actions.isEmpty else { return }
        guard !isRunning else { return pending.append((actions, failure)) }
        isRunning = true
        actions.forEach { run($0, failure) }
        while !pending.isEmpty {
            let next = pending
            pending = []
            for (actions, failure) in next {
                actions.forEach { run($0, failure) }
            }
        }
        isRunning = false
    }

    private func run(_ action: HTTPConnectionPool.Action, _ failure: ConnectFailure?) {
        switch action {
        case .assign(let request, let connection, let use): assign(request, connection, use)
        case .assignAhead(let request, let connection): assignAhead(request, connection)
        case .flushAhead(let connection): http1(connection)?.flushAhead()
        case .keepIdle(let connection): keepIdle(connection)
        case .close(let connection): close(connection)
        case .retire(let connection): if case .http2(let retired)? = connections.remove(connection) { retired.retire() }
        case .startAttempt(let attempt, let offersHTTP2): start(attempt, offersHTTP2: offersHTTP2)
        case .cancelAttempt(let attempt): end(attempt)?.handle?.cancel()
        case .fail(let request, let reason): fail(request, reason, failure)
        case .reportQueued(let request, let isQueued): exchanges[request]?.exchange.setQueued(isQueued)
        case .serveQueueLater: later { $0.serveQueue(now: $1) }
        case .sendAheadLater: loop.executeLater { [weak self] in self?.sendAhead() }
        case .startPause(let seconds): startPause(seconds)
        case .cancelPause: endPause()
        case .release: if pool.isUnused { session.release(self) }
        }
    }

    /// Runs the input in a later turn of the loop, and retains this object until then.
    private func later(_ input: @escaping (inout HTTPConnectionPool, MonotonicTime) -> HTTPConnectionPool.Actions) {
        loop.executeLater { [self] in run(input(&pool, loop.now)) }
    }

    private func http1(_ id: HTTPConnectionPool.ConnectionID) -> HTTP1Connection? {
        if case .http1(let connection)? = connections[id] { connection } else { nil }
    }

    private func assign(
        _ request: HTTPConnectionPool.RequestID, _ id: HTTPConnectionPool.ConnectionID,
        _ use: HTTPConnectionPool.ConnectionUse
    ) {
        guard let (exchange, needsFreshConnection) = exchanges.remove(request) else { return giveBack(id, use) }
        exchange.requestID = nil
        switch connections[id] {
        case .http1(let connection) where use == .fromIdle && !connection.isUsable:
            connections.remove(id)
            let again = register(exchange, false)
            connection.discard()
            run(pool.connectionWasClosed(id, before: again, now: loop.now))
        case .http1(let connection):
            exchange.setQueued(false)
            exchange.assigned(to: connection)
            connection.carry(exchange, isReused: use != .fresh)
        case .http2(let connection):
            exchange.setQueued(false)
            connection.carry(exchange)
        case nil:
            submit(exchange, needsFreshConnection: needsFreshConnection)
        }
    }

    /// The exchange for which a connection was assigned is over.
    private func giveBack(_ id: HTTPConnectionPool.ConnectionID, _ use: HTTPConnectionPool.ConnectionUse) {
        switch connections[id] {
        case .http1(let connection):
            run(
                pool.requestWasGone(
                    id, use, connection.binding, until: idleUntil(of: connection), now: loop.now))
        case .http2(let connection): streamSlotsDidChange(connection)
        case nil: break
        }
    }

    private func keepIdle(_ id: HTTPConnectionPool.ConnectionID) {
        switch connections[id] {
        case .http1(let connection): connection.didBecomeIdle()
        case .http2(let connection): connection.didBecomeIdle()
        case nil: break
        }
        session.scheduleSweep()
    }

    private func close(_ id: HTTPConnectionPool.ConnectionID) {
        switch connections.remove(id) {
        case .http1(let connection): connection.close()
        case .http2(let connection): connection.close()
        case nil: break
        }
    }

    private func fail(
        _ request: HTTPConnectionPool.RequestID, _ reason: HTTPConnectionPool.Failure, _ failure: ConnectFailure?
    ) {
        guard let exchange = exchanges.remove(request)?.exchange else { return }
        exchange.requestID = nil
        switch reason {
        case .opensNoWebSocket:
            exchange.failedToConnect(LoadFailure.opensNoWebSocket, failure?.timings)
        case .attemptFailed:
            exchange.failedToConnect(failure?.error ?? LoadFailure.opensNoWebSocket, failure?.timings)
        }
    }

    // MARK: Pauses

    private func startPause(_ seconds: Double) {
        pauseTimer?.cancel()
        pauseTimer = loop.schedule(at: loop.now.advanced(bySeconds: seconds)) { [self] in
            pauseTimer = nil
            run(pool.pauseDidEnd(now: loop.now))
        }
    }

    private func endPause() {
        pauseTimer?.cancel()
        pauseTimer = nil
    }

    // MARK: Attempts

    private func start(_ id: HTTPConnectionPool.AttemptID, offersHTTP2: Bool) {
        let attempt = ConnectionAttempt(self, id)
        attempts[id] = attempt
        if route.hasTLS, attempt.mayChallenge { pool.attemptMayChallenge() }
        let time = ConnectTime(session.settings.connectTimeout, ofWay: attempt.challenged?.connectLimit)
        attempt.hasAnotherWay = time.hasAnotherWay
        attempt.handle = session.connect(route, offersHTTP2: offersHTTP2, in: time, for: attempt) {
            [weak self] result in
            self?.attempt(id, didEndWith: result)
        }
    }

    @discardableResult
    private func end(_ id: HTTPConnectionPool.AttemptID) -> ConnectionAttempt.Ended? {
        attempts.removeValue(forKey: id)?.end()
    }

    private func attempt(_ id: HTTPConnectionPool.AttemptID, didEndWith result: Result<ByteStream, any Error>) {
        guard let ended = end(id) else { return }
        switch result {
        case .success(let stream):
            session.proxies.proxyDidConnect(route.proxy)
            attempt(id, didOpen: stream)
        case .failure(let error):
            let reason = HTTPConnectionPool.AttemptFailure(error, hasAnotherWay: ended.hasAnotherWay)
            run(pool.attemptDidFail(id, reason, now: loop.now), ConnectFailure(error: error, timings: ended.timings))
            wayDidFail(error)
        }
    }

    /// The other exchanges that wait for this way take another way, too, if they have one.
    private func wayDidFail(_ error: any Error) {
        guard LoadFailure.isOfWay(error) else { return }
        session.proxies.proxyDidFail(route.proxy, error)
        guard connections.isEmpty else { return }
        let waiting = exchanges.ids.compactMap { exchanges[$0]?.exchange }.filter(\.hasAnotherWay)
        for exchange in waiting.sorted(by: { $0.number < $1.number }) {
            withdraw(exchange)
            exchange.failedToConnect(error, nil)
        }
    }

    private func attempt(_ id: HTTPConnectionPool.AttemptID, didOpen stream: ByteStream) {
        if isHTTP2(stream), pool.hasOfferedHTTP2 { record.server.speaksHTTP2Alone = true }
        guard isForAll else { return begin(stream, by: id) }
        let (requests, actions) = pool.handOver(id)
        let handedOver = requests.compactMap { exchanges.remove($0.id) }
        run(actions)
        session.share(stream, madeFor: handedOver, record, origin)
    }

    /// Whether the delegate for which the pool was made does not decide about connections.
    private var isForAll: Bool {
        guard route.mayBeDecided, let receiver = pool.firstWaiting.flatMap({ exchanges[$0]?.exchange.receiver }) else {
            return false
        }
        return receiver.challengeDelegate == nil
    }

    private func isHTTP2(_ stream: ByteStream) -> Bool {
        route.origin.isSecure ? stream.info.tls?.alpn == "h2" : pool.isHTTP2
    }

    /// Takes over a connection that was opened for one delegate's tasks, and the exchanges that wait for it. The
    /// connection is then shared by all of the session's tasks.
    func adopt(_ stream: ByteStream, _ handedOver: [Submission]) {
        if record.server.speaksHTTP2Alone { pool.serverSpeaksHTTP2Alone() }
        for (exchange, needsFreshConnection) in handedOver {
            exchange.reroute(record)
            submit(exchange, needsFreshConnection: needsFreshConnection)
        }
        begin(stream, by: nil)
    }

    private func begin(_ stream: ByteStream, by attempt: HTTPConnectionPool.AttemptID?) {
        if isHTTP2(stream) {
            let connection = HTTP2Connection(stream, self)
            connection.id = connections.insert(.http2(connection))
            run(
                pool.connectionDidOpen(
                    connection.id, by: attempt, slots: connection.slots, retiresAt: connection.retiresAt, now: loop.now)
            )
        } else {
            let connection = HTTP1Connection(stream, self)
            connection.id = connections.insert(.http1(connection))
            run(pool.connectionDidOpen(connection.id, by: attempt, until: idleUntil(), now: loop.now))
        }
    }

    /// The time at which a connection that is idle now must be closed.
    private func idleUntil() -> MonotonicTime { loop.now.advanced(bySeconds: pool.configuration.idleTimeout) }

    // MARK: From attempts

    /// The exchange whose program an attempt challenges.
    func challenged(for attempt: HTTPConnectionPool.AttemptID) -> HTTPExchange? {
        pool.requestToChallenge(for: attempt).flatMap { exchanges[$0]?.exchange }
    }

    func attemptDidChallenge(_ attempt: HTTPConnectionPool.AttemptID, for exchange: HTTPExchange?) {
        run(pool.attemptDidChallenge(attempt, for: exchange?.requestID))
    }

    func attemptChallengeDidEnd(_ attempt: HTTPConnectionPool.AttemptID) { run(pool.attemptChallengeDidEnd(attempt)) }

    // MARK: From connections of HTTP/1.1

    /// The connection has ended its exchange and can carry another one.
    func connectionDidBecomeIdle(_ connection: HTTP1Connection) {
        run(
            pool.connectionDidBecomeIdle(
                connection.id, connection.binding, until: idleUntil(of: connection), now: loop.now))
    }

    /// The time until which the connection is used: as long as the server states, but not in the last tenth of the time
    /// after which the server closed an idle connection before. The server might close it while a request is on its
    /// way.
    private func idleUntil(of connection: HTTP1Connection) -> MonotonicTime {
        let until = min(
            connection.idleSince.advanced(bySeconds: pool.configuration.idleTimeout), connection.keepAlive.until)
        guard let seconds = record.server.idleTime else { return until }
        return min(until, connection.idleSince.advanced(bySeconds: 0.9 * seconds))
    }

    func connectionDidClose(_ connection: HTTP1Connection) {
        connections.remove(connection.id)
        run(pool.connectionDidClose(connection.id, now: loop.now))
    }

    /// The server has closed a connection that was idle for `seconds`.
    func serverDidCloseIdle(after seconds: Double) {
        if seconds >= Self.shortestIdleTime { record.server.idleTime = seconds }
    }

    /// A connection that the server closes after a shorter time, in seconds, was closed for another reason.
    private static let shortestIdleTime = 0.5

    /// Whether a request without a response should be sent again over another version. A server that supports only
    /// HTTP/2 may select no protocol in the handshake (RFC 7301 §3.2), and then cannot interpret HTTP/1.1.
    func offerHTTP2IfMisunderstood(_ connection: ConnectionInfo) -> Bool {
        connection.tls?.alpn == nil && pool.offerHTTP2IfPossible()
    }

    // MARK: Pipelining

    func roomAheadDidChange() { run(pool.roomAheadDidChange()) }

    private func sendAhead() {
        guard !record.server.breaksPipelines else { return run(pool.sendAhead(on: [])) }
        let rooms = pool.pipelined.compactMap { id in
            http1(id).map {
                HTTPConnectionPool.RoomAhead(
                    connection: id, binding: $0.binding, count: $0.aheadCount, room: $0.roomAhead)
            }
        }
        run(pool.sendAhead(on: rooms))
    }

    private func assignAhead(_ request: HTTPConnectionPool.RequestID, _ id: HTTPConnectionPool.ConnectionID) {
        guard let (exchange, needsFreshConnection) = exchanges.remove(request) else { return }
        exchange.requestID = nil
        guard let connection = http1(id) else {
            return submit(exchange, needsFreshConnection: needsFreshConnection)
        }
        connection.sendAhead(exchange)
    }

    /// A connection ended without an announcement, or was silent, while requests were sent ahead of their responses.
    func pipelineDidBreak() {
        record.server.breaksPipelines = true
        logger.debug("\(route.origin.authority) does not bear pipelining: no more is done in this session")
    }

    // MARK: From connections of HTTP/2

    /// A stream has ended, or the server has changed the number of streams that it allows.
    func streamSlotsDidChange(_ connection: HTTP2Connection) {
        run(
            pool.streamSlotsDidChange(
                of: connection.id, to: connection.slots, until: idleUntil(), now: loop.now))
    }

    /// The connection takes no more streams. `unprocessed` is the number of its streams that were not processed.
    func connectionWillClose(_ connection: HTTP2Connection, unprocessed: Int = 0) {
        connections.remove(connection.id)
        run(pool.connectionWillClose(connection.id, unprocessed: unprocessed, now: loop.now))
    }

    func connectionDidClose(_ connection: HTTP2Connection) {
        connections.remove(connection.id)
        run(pool.connectionDidClose(connection.id, now: loop.now))
    }

    /// The server has closed a connection without reading its requests. Returns whether they may be sent again.
    func connectionWasRefused() -> Bool {
        let (maySendAgain, actions) = pool.connectionWasRefused()
        run(actions)
        return maySendAgain
    }

    /// The server has refused a stream. Returns whether its request may be sent again.
    func streamWasRefused() -> Bool {
        let (maySendAgain, actions) = pool.streamWasRefused()
        run(actions)
        return maySendAgain
    }

    func streamDidAnswer() { pool.streamDidAnswer() }

    func connectionDidAnswer() { run(pool.connectionDidAnswer(now: loop.now)) }

    func requireHTTP1() { run(pool.requireHTTP1(now: loop.now)) }

    func streamsCannotUpgrade() { run(pool.streamsCannotUpgrade(now: loop.now)) }

    // MARK: From the session

    func closeExpired() { run(pool.closeExpired(now: loop.now)) }

    func closeAllIdle() { run(pool.closeAllIdle(now: loop.now)) }

    func sessionDidEnd() { run(pool.sessionDidEnd(now: loop.now)) }
}

extension HTTPConnectionPool.Configuration {
    fileprivate init(_ record: RouteRecord, _ settings: SessionSettings) {
        let route = record.route
        limit = max(1, settings.httpMaximumConnectionsPerHost)
        isSecure = route.origin.isSecure
        allowsHTTP2 = settings.allowsHTTP2
        isForUpgrade = route.isForUpgrade
        mayUpgradeStreams = route.switching == .inAnyVersion
        startsWithHTTP2 =
            record.server.speaksHTTP2Alone
            || !isSecure && settings.assumesHTTP2 && !route.isForwarded && route.switching != .inHTTP1
    }
}

extension HTTPConnectionPool.AttemptFailure {
    /// - Parameter hasAnotherWay: whether the attempt had only a part of a request's time, which is not over yet.
    fileprivate init(_ error: any Error, hasAnotherWay: Bool) {
        if let error = error as? ProxyError, case .unanswered = error.cause {
            self = .timedOut
            return
        }
        guard let error = error as? TransportError else {
            self = .other
            return
        }
        if error.cause == .timedOut {
            self = hasAnotherWay ? .other : .timedOut
        } else if case .alert(let alert, _) = error.cause, alert.isAboutProtocols {
            self = .speaksNoneOffered
        } else {
            self = .other
        }
    }
}

extension LoadFailure {
    fileprivate static var opensNoWebSocket: LoadFailure {
        LoadFailure(
            .secureConnectionFailed,
            "the server speaks HTTP/2 alone, and does not let a WebSocket be opened over it (RFC 8441)")
    }
}
