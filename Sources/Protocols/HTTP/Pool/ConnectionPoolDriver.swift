import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitProxies
import LoadingKitTransport
import Logging

/// Carries out the decisions of an ``HTTPConnectionPool``. The driver holds the objects behind the pool's identifiers,
/// passes their events to the pool, and runs the resulting actions. An action may cause another input at once, whose
/// actions run after those of the first. Confined to the session's loop.
final class ConnectionPoolDriver: RoutePool {
    private enum Connection {
        case http1(HTTP1Connection)
        case http2(HTTP2Connection)

        var stream: ByteStream {
            switch self {
            case .http1(let connection): connection.stream
            case .http2(let connection): connection.stream
            }
        }
    }

    private struct ConnectFailure {
        let error: any Error
        let timings: ConnectTimings?
        /// The number of the connection.
        let number: UInt32
    }

    let record: RouteRecord
    let origin: OriginRecord
    /// The driver retains the session. The session retains the driver while the route has work.
    let session: HTTPSession
    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private var storedPool: HTTPConnectionPool
    @exclusivity(unchecked) private var exchanges = SlotTable<Submission>()
    @exclusivity(unchecked) private var connections = SlotTable<Connection>()
    /// HTTP/2 connections that carry their last requests.
    private var leaving: [HTTP2Connection] = []
    private var attempts: [HTTPConnectionPool.AttemptID: ConnectionAttempt] = [:]
    private var pauseTimer: LoopTimer?
    @exclusivity(unchecked) private var isRunning = false
    /// Actions that were returned while others were running.
    @exclusivity(unchecked) private var pending: [(actions: HTTPConnectionPool.Actions, failure: ConnectFailure?)] = []

    init(_ record: RouteRecord, _ origin: OriginRecord, _ session: HTTPSession) {
        self.record = record
        self.origin = origin
        self.session = session
        storedPool = HTTPConnectionPool(
            HTTPConnectionPool.Configuration(record, session.settings), isClosing: session.isClosed)
        if record.server.speaksHTTP2Alone { storedPool.serverSpeaksHTTP2Alone() }
    }

    /// Each input begins with the pool's present share of its host's connections.
    private var pool: HTTPConnectionPool {
        @inline(__always) _read { yield storedPool }
        @inline(__always) _modify {
            if let host { storedPool.share = host.share(of: self) }
            yield &storedPool
        }
    }

    var route: Route { record.route }
    private var loop: EventLoop { session.loop }
    var logger: Logger { session.settings.logger }
    var isProxied: Bool { route.proxy != nil }
    var isForUpgrade: Bool { route.isForUpgrade }
    var hasIdleConnection: Bool { pool.hasIdleConnection }

    // MARK: Exchanges

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        run(pool.submit(register(exchange, needsFreshConnection), now: loop.now))
    }

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

    func priorityDidChange(_ exchange: HTTPExchange) {
        guard let request = exchange.requestID else { return }
        run(pool.changePriority(of: request, to: exchange.priority))
    }

    private func register(_ exchange: HTTPExchange, _ needsFreshConnection: Bool) -> HTTPConnectionPool.Request {
        let id = exchanges.insert((exchange, needsFreshConnection))
        exchange.requestID = id
        let allowsPipelining = exchange.allowsPipelining
        // A request is sent ahead only once. A server that answers no request sent ahead costs each one connection.
        return HTTPConnectionPool.Request(
            id: id, number: exchange.number, priority: exchange.priority, needsFreshConnection: needsFreshConnection,
            goesFirst: needsFreshConnection || exchange.hasHadTurn, user: Self.user(of: exchange),
            allowsPipelining: allowsPipelining, mayBeSentAhead: allowsPipelining && !exchange.hasHadTurn)
    }

    /// The request's user, for the choice of a connection that was authenticated for one user.
    private static func user(of exchange: HTTPExchange) -> HTTPConnectionPool.RequestUser {
        if exchange.transaction.fields.contains(.authorization) { return .ownField }
        guard exchange.target?.hasUserInfo == true, let credential = exchange.request.url?.credential else {
            return .none
        }
        return .named(HTTPConnectionPool.UserCredential(credential))
    }

    // MARK: Actions

    private func run(_ actions: HTTPConnectionPool.Actions, _ failure: ConnectFailure? = nil) {
        reportUse()
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
        case .retire(let connection): retire(connection)
        case .check(let connection): if case .http2(let connection)? = connections[connection] { connection.check() }
        case .startAttempt(let attempt, let offersHTTP2): start(attempt, offersHTTP2: offersHTTP2)
        case .cancelAttempt(let attempt): attempts.removeValue(forKey: attempt)?.cancel()
        case .fail(let request, let reason): fail(request, reason, failure)
        case .reportQueued(let request, let isQueued): exchanges[request]?.exchange.setQueued(isQueued)
        case .serveQueueLater: later { $0.serveQueue(now: $1) }
        case .sendAheadLater: loop.executeLater { [weak self] in self?.sendAhead() }
        case .startPause(let seconds): startPause(seconds)
        case .cancelPause: endPause()
        case .release: if pool.isUnused { release() }
        }
    }

    /// Another driver may have replaced this one already.
    private func release() {
        guard record.pool === self else { return }
        record.pool = nil
        origin.routeDidEnd(record)
    }

    /// Runs the input in a later turn of the loop, and retains the driver until then.
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
        if let failure = cleartextFailure(of: exchange) {
            giveBack(id, use)
            return exchange.fail(failure)
        }
        switch connections[id] {
        case .http1(let connection) where use == .fromIdle && !connection.isUsable:
            remove(id, .lost)
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

    /// The host may have required `https` while the request waited.
    private func cleartextFailure(of exchange: HTTPExchange) -> LoadFailure? {
        if route.origin.isSecure || exchange.session.settings.hsts.isEmpty { return nil }
        return exchange.cleartextFailure
    }

    private func retire(_ id: HTTPConnectionPool.ConnectionID) {
        guard case .http2(let connection)? = remove(id, .retired) else { return }
        connection.retire()
        guard connection.life.isClosed else { return leaving.append(connection) }
        // The end of its last stream was not reported to the pool, which may be kept until then. Now the pool may be about
        // to get the request that needs another connection.
        later { $0.connectionDidClose(id, now: $1) }
    }

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
        switch remove(id, session.isClosed ? .sessionEnded : .idle) {
        case .http1(let connection):
            noteIdleTime(of: connection)
            connection.close()
        case .http2(let connection): connection.close()
        case nil: break
        }
    }

    private func fail(
        _ request: HTTPConnectionPool.RequestID, _ reason: HTTPConnectionPool.Failure, _ failure: ConnectFailure?
    ) {
        guard let exchange = exchanges.remove(request)?.exchange else { return }
        exchange.requestID = nil
        let error: any Error =
            switch reason {
            case .attemptFailed, .connectionRefused: failure?.error ?? LoadFailure.connectionRefused
            case .opensNoWebSocket: LoadFailure.opensNoWebSocket
            }
        exchange.failedToConnect(error, failure?.timings, failure?.number)
    }

    // MARK: The host's other pools

    /// Nil where the host has no other pool. Connections for upgrades have a limit of their own.
    private var host: HostPools? {
        guard let host = origin.host, !isForUpgrade else { return nil }
        return host
    }

    func reportUse() { if let host { host.poolDidChange(self, storedPool.use(loop.now), on: loop) } }
    func makeRoom() { run(pool.makeRoom(now: loop.now)) }
    func useRoom() { run(pool.useRoom(now: loop.now)) }

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
        session.watchNetworks()
        let attempt = ConnectionAttempt(self, id)
        attempts[id] = attempt
        if route.hasTLS, attempt.mayChallenge { pool.attemptMayChallenge() }
        let time = ConnectTime(session.settings.connectTimeout, ofRoute: attempt.challenged?.connectLimit)
        attempt.hasAnotherRoute = time.hasAnotherRoute
        attempt.connect(offersHTTP2: offersHTTP2, in: time) { [weak self] result in
            self?.attempt(id, didEndWith: result)
        }
    }

    private func attempt(_ id: HTTPConnectionPool.AttemptID, didEndWith result: Result<ByteStream, any Error>) {
        guard let ended = attempts.removeValue(forKey: id) else { return }
        let number = ended.handle?.number ?? 0
        let timings = ended.end()
        switch result {
        case .success(let stream):
            session.proxies.proxyDidConnect(route.proxy)
            attempt(id, didOpen: stream)
        case .failure(let error):
            // The attempt had a part of the time of a request that may be over by now. The next request may be on its last
            // route, and has all of its own time.
            let hasAnotherRoute = ended.hasAnotherRoute && challenged(for: id)?.hasAnotherRoute != false
            let reason = HTTPConnectionPool.AttemptFailure(error, hasAnotherRoute: hasAnotherRoute)
            run(
                pool.attemptDidFail(id, reason, now: loop.now),
                ConnectFailure(error: error, timings: timings, number: number))
            routeDidFail(error, number)
        }
    }

    /// The other exchanges that wait here take their other routes, if they have any.
    private func routeDidFail(_ error: any Error, _ number: UInt32) {
        guard LoadFailure.isOfRoute(error) else { return }
        session.proxies.proxyDidFail(route.proxy, error)
        guard connections.isEmpty else { return }
        let waiting = exchanges.ids.compactMap { exchanges[$0]?.exchange }.filter(\.hasAnotherRoute)
        for exchange in waiting.sorted(by: { $0.number < $1.number }) {
            withdraw(exchange)
            exchange.failedToConnect(error, nil, number)
        }
    }

    private func attempt(_ id: HTTPConnectionPool.AttemptID, didOpen stream: ByteStream) {
        if isHTTP2(stream), pool.hasOfferedHTTP2 { record.server.speaksHTTP2Alone = true }
        guard isForAll else { return begin(stream, by: id) }
        let carriesMany = isHTTP2(stream) && !isForUpgrade
        let handedOver = takeWaiting(for: id)
        session.pool(of: origin.undecided(record), origin).adopt(stream, handedOver)
        // Each of the other pools would open a connection of its own.
        if carriesMany { for pool in origin.decidedPools(like: record) { pool.handOverIfUndecided() } }
    }

    private func takeWaiting(for attempt: HTTPConnectionPool.AttemptID?) -> [Submission] {
        let (requests, actions) = pool.handOver(attempt)
        let waiting = requests.compactMap { exchanges.remove($0.id) }
        run(actions)
        return waiting
    }

    func handOverIfUndecided() {
        guard isForAll else { return }
        let handedOver = takeWaiting(for: nil)
        session.pool(of: origin.undecided(record), origin).take(handedOver)
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

    func adopt(_ stream: ByteStream, _ handedOver: [Submission]) {
        if record.server.speaksHTTP2Alone { pool.serverSpeaksHTTP2Alone() }
        take(handedOver)
        begin(stream, by: nil)
    }

    func take(_ handedOver: [Submission]) {
        for (exchange, needsFreshConnection) in handedOver {
            exchange.reroute(record)
            submit(exchange, needsFreshConnection: needsFreshConnection)
        }
    }

    private func begin(_ stream: ByteStream, by attempt: HTTPConnectionPool.AttemptID?) {
        session.events.note(
            .connectionOpened(isHTTP2(stream) ? .http2 : .http1), connection: stream.info.number,
            "\(stream.info.remote)")
        let retiresAt = loop.now.advanced(bySeconds: HTTPConnectionPool.Configuration.maximumAge)
        if isHTTP2(stream) {
            let connection = HTTP2Connection(stream, self)
            connection.id = connections.insert(.http2(connection))
            run(
                pool.connectionDidOpen(
                    connection.id, by: attempt, slots: connection.slots, retiresAt: retiresAt, now: loop.now))
        } else {
            let connection = HTTP1Connection(stream, self)
            connection.id = connections.insert(.http1(connection))
            run(
                pool.connectionDidOpen(
                    connection.id, by: attempt, until: idleUntil(), retiresAt: retiresAt, now: loop.now))
        }
    }

    private func idleUntil() -> MonotonicTime { loop.now.advanced(bySeconds: pool.configuration.idleTimeout) }

    // MARK: From attempts

    func challenged(for attempt: HTTPConnectionPool.AttemptID) -> HTTPExchange? {
        pool.requestToChallenge(for: attempt).flatMap { exchanges[$0]?.exchange }
    }

    func attemptDidChallenge(_ attempt: HTTPConnectionPool.AttemptID, for exchange: HTTPExchange?) {
        run(pool.attemptDidChallenge(attempt, for: exchange?.requestID))
    }

    func attemptChallengeDidEnd(_ attempt: HTTPConnectionPool.AttemptID) { run(pool.attemptChallengeDidEnd(attempt)) }

    // MARK: From connections

    /// The pool no longer uses the connection. An HTTP/2 connection that is retired may still have streams.
    @discardableResult
    private func remove(_ id: HTTPConnectionPool.ConnectionID, _ end: ConnectionEnd) -> Connection? {
        guard let connection = connections.remove(id) else { return nil }
        session.events.note(.connectionClosed(end), connection: connection.stream.info.number)
        return connection
    }

    func connectionDidClose(_ id: HTTPConnectionPool.ConnectionID, _ end: ConnectionEnd) {
        remove(id, end)
        leaving.removeAll { $0.id == id }
        run(pool.connectionDidClose(id, now: loop.now))
    }

    func connectionDidBecomeIdle(_ connection: HTTP1Connection) {
        run(
            pool.connectionDidBecomeIdle(
                connection.id, connection.binding, until: idleUntil(of: connection), now: loop.now))
    }

    /// The time until which an idle connection is used: as long as the server states, but not in the last tenth of the
    /// time after which the server closed one before. It might close it while a request is on its way.
    private func idleUntil(of connection: HTTP1Connection) -> MonotonicTime {
        var seconds = min(pool.configuration.idleTimeout, connection.keepAlive.idleLimit ?? .infinity)
        if let recorded = record.server.idleTime { seconds = min(seconds, Self.usedShare * recorded) }
        return connection.idleSince.advanced(bySeconds: seconds)
    }

    /// The server has closed a connection that was idle for `seconds`.
    func serverDidCloseIdle(after seconds: Double) {
        if seconds >= Self.shortestIdleTime { record.server.idleTime = seconds }
    }

    /// The part of the recorded time in which an idle connection is used.
    private static let usedShare = 0.9
    /// A connection that was closed after a shorter time, in seconds, was not closed as idle.
    private static let shortestIdleTime = 0.5

    /// Corrects the recorded time after which the server closes idle connections, before this one is closed. The server
    /// may have closed one for another reason, for example because it was restarted.
    ///
    /// A connection that is open after a tenth more than the recorded time disproves it: the next ones may be idle for
    /// longer than this one was. A connection that is open at about the recorded time proves little: the server may
    /// close the next one while a request is on its way. The recorded time then grows slowly, so that a connection is
    /// used at that time only after several others, at most about twenty, that the server did not close.
    private func noteIdleTime(of connection: HTTP1Connection) {
        guard let recorded = record.server.idleTime else { return }
        let seconds = loop.now.seconds(since: connection.idleSince)
        guard seconds >= Self.usedShare * recorded, connection.isUsable else { return }
        record.server.idleTime = seconds > 1.1 * recorded ? 2 * seconds : 1.01 * recorded
    }

    /// Whether a request without a response should be sent again over HTTP/2. A server that supports nothing else may
    /// select no protocol in the handshake (RFC 7301 §3.2).
    func offerHTTP2IfMisunderstood(_ connection: ConnectionInfo) -> Bool {
        connection.tls?.alpn == nil && pool.offerHTTP2IfPossible()
    }

    // MARK: Pipelining

    func roomAheadDidChange() { run(pool.roomAheadDidChange()) }

    private func sendAhead() {
        guard !record.server.breaksPipelines else { return run(pool.sendAhead(on: [])) }
        let rooms = pool.pipelined(loop.now).compactMap { id in
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
        if let failure = cleartextFailure(of: exchange) { return exchange.fail(failure) }
        guard let connection = http1(id) else { return submit(exchange, needsFreshConnection: needsFreshConnection) }
        connection.sendAhead(exchange)
    }

    /// The connection ended without an announcement, or was silent, while requests were sent ahead.
    func pipelineDidBreak() {
        record.server.breaksPipelines = true
        logger.debug(
            "\(route.origin.authority) does not support pipelining: the session sends it no more requests ahead")
    }

    // MARK: From connections of HTTP/2

    func streamSlotsDidChange(_ connection: HTTP2Connection) {
        run(
            pool.streamSlotsDidChange(
                of: connection.id, to: connection.slots, until: idleUntil(), now: loop.now))
    }

    /// - Parameter unprocessed: the number of streams that the server has not processed.
    func connectionWillClose(_ connection: HTTP2Connection, _ end: ConnectionEnd, unprocessed: Int = 0) {
        if remove(connection.id, end) != nil, !connection.life.isClosed { leaving.append(connection) }
        run(pool.connectionWillClose(connection.id, unprocessed: unprocessed, now: loop.now))
    }

    /// The connection has ended before the server's SETTINGS, for which the exchanges waited.
    func connectionDidFail(_ connection: HTTP2Connection, _ error: any Error) {
        remove(connection.id, .lost)
        run(
            pool.connectionDidFail(connection.id, now: loop.now),
            ConnectFailure(error: error, timings: nil, number: connection.stream.info.number))
    }

    /// Returns whether the requests may be sent again that the server has closed a connection without reading.
    func connectionWasRefused() -> Bool { pause(pool.connectionWasRefused()) }

    /// Returns whether the refused stream's request may be sent again.
    func streamWasRefused() -> Bool { pause(pool.streamWasRefused()) }

    private func pause(_ refusal: (maySendAgain: Bool, actions: HTTPConnectionPool.Actions)) -> Bool {
        run(refusal.actions)
        return refusal.maySendAgain
    }

    func streamDidAnswer() { pool.streamDidAnswer() }
    func connectionDidAnswer() { run(pool.connectionDidAnswer(now: loop.now)) }
    func requireHTTP1() { run(pool.requireHTTP1(now: loop.now)) }
    func streamsCannotUpgrade() { run(pool.streamsCannotUpgrade(now: loop.now)) }

    // MARK: From the session

    var waitingCount: Int { pool.waiting.count }

    func addConnections(to snapshot: inout SessionSnapshot) {
        snapshot.connections += attempts.values.map { ConnectionState(opening: $0.number) }
        for id in connections.ids {
            switch connections[id] {
            case .http1(let connection): snapshot.connections.append(connection.connectionState)
            case .http2(let connection):
                snapshot.connections.append(connection.state(listsStreams: snapshot.listsStreams))
            case nil: break
            }
        }
        snapshot.connections += leaving.map { $0.state(listsStreams: snapshot.listsStreams) }
    }

    func closeExpired() { run(pool.closeExpired(now: loop.now)) }
    func retireAll() { run(pool.retireAll(now: loop.now)) }

    func networkDidChange(afterSleep: Bool) {
        let watched = route.use.isSelectedBySystem ? connections.ids : []
        var stale = watched.filter { connections[$0]?.stream.hasLostRoute == true }
        if afterSleep { stale += pool.http1.idleConnections }
        run(pool.networkDidChange(stale: stale, now: loop.now))
        for connection in leaving { connection.check() }
    }

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
    fileprivate init(_ error: any Error, hasAnotherRoute: Bool) {
        switch error {
        case let error as ProxyError:
            switch error.cause {
            case .unanswered: self = .timedOut
            case .unreachable(let failure) where failure.cause != .timedOut: self = .unreachable
            case .silent, .unreachable: self = hasAnotherRoute ? .other : .timedOut
            case _: self = .other
            }
        case let error as TransportError:
            switch error.cause {
            case .timedOut: self = hasAnotherRoute ? .other : .timedOut
            case .alert(let alert, _) where alert.isAboutProtocols: self = .speaksNoneOffered
            case _: self = error.phase == .resolve || error.phase == .connect ? .unreachable : .other
            }
        case _: self = .other
        }
    }
}

extension LoadFailure {
    fileprivate static var opensNoWebSocket: LoadFailure {
        LoadFailure(
            .secureConnectionFailed,
            "the server supports only HTTP/2, and does not allow a WebSocket over it (RFC 8441)")
    }

    fileprivate static var connectionRefused: LoadFailure {
        LoadFailure(
            .networkConnectionLost,
            "the server ended its connections, or allowed them no streams, before a request was sent")
    }
}

extension HTTPSession {
    /// A session's HTTP state. Its pools are run by drivers.
    static func of(_ core: SessionCore) -> HTTPSession {
        core.resource { HTTPSession($0, makePool: ConnectionPoolDriver.init) }
    }
}
