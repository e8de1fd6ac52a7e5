import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport
import Logging

/// The connections to one origin, and the exchanges that wait for one, in order.
final class OriginPool {
    /// What the origin's server speaks, as far as is known.
    private enum Speaks {
        /// One connection is made, and its ALPN awaited, before there are more.
        case unknown
        case http1
        case http2
    }

    let route: Route
    /// Held, and holding this while there is something to do for the origin: see `retireIfUnused`.
    let pool: ConnectionPool
    private let limit: Int
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    @exclusivity(unchecked) private var speaks: Speaks
    /// Whether a WebSocket's server was offered HTTP/2 because it made nothing of HTTP/1.1.
    private var hasOfferedHTTP2 = false
    /// The last used is used first, so that what is not needed grows old.
    @exclusivity(unchecked) private var idle: [HTTP1Connection] = []
    @exclusivity(unchecked) private(set) var busyCount = 0
    /// The busy connections that others may be sent on, too, before what they carry is answered.
    @exclusivity(unchecked) private(set) var pipelined: [HTTP1Connection] = []
    @exclusivity(unchecked) var willSendAhead = false
    /// Connections that take new streams, or did and may again.
    @exclusivity(unchecked) private var multiplexed: [HTTP2Connection] = []
    @exclusivity(unchecked) private(set) var attempts: [ObjectIdentifier: ConnectionAttempt] = [:]
    /// How many of the attempts have put a question to a program.
    @exclusivity(unchecked) private var heldCount = 0
    /// Whether a program of those that an attempt was made for has a say in the server's trust.
    private var asksPrograms = false
    @exclusivity(unchecked) var waiting = RequestQueue()
    /// Whether it will soon be looked whether connections are to be made.
    @exclusivity(unchecked) private(set) var opensSoon = false
    /// How many connections in a row the server has closed without a look at their requests.
    private var refusals = 0
    /// While no connection is made after one of these.
    @exclusivity(unchecked) private var pauseTimer: LoopTimer?

    init(_ route: Route, _ pool: ConnectionPool) {
        self.route = route
        self.pool = pool
        limit = max(1, pool.settings.httpMaximumConnectionsPerHost)
        if pool.speaksHTTP2Alone(route) {
            (speaks, hasOfferedHTTP2) = (.http2, true)
        } else if route.origin.isSecure {
            speaks = pool.settings.allowsHTTP2 && !route.isForUpgrade ? .unknown : .http1
        } else {
            let isHTTP2 = pool.settings.assumesHTTP2 && !route.isForwarded && route.switching != .inHTTP1
            speaks = isHTTP2 ? .http2 : .http1
        }
    }

    var logger: Logger { pool.settings.logger }
    var isProxied: Bool { route.proxy != nil }

    /// Whether its exchanges ask their connections to switch to another protocol.
    var isForUpgrade: Bool { route.isForUpgrade }

    var hasIdle: Bool { !idle.isEmpty || multiplexed.contains(where: \.isIdle) }

    // MARK: Exchanges

    func submit(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
        if waiting.isEmpty, let connection = multiplexed.first(where: { $0.room > 0 }) {
            return carry(exchange, on: connection)
        }
        if !needsFreshConnection, waiting.isEmpty, let connection = popIdle(for: exchange) {
            return carry(exchange, on: connection, isReused: true)
        }
        waiting.insert(RequestQueue.Entry(exchange, needsFreshConnection: needsFreshConnection))
        exchange.isQueued(true)
        openSoon()
    }

    /// When what happens now has happened: a connection that has brought a redirect may be free by then.
    private func openSoon() {
        guard !opensSoon else { return }
        opensSoon = true
        pool.loop.executeLater { [self] in
            opensSoon = false
            openAsNeeded()
            tellServed()
            hasRoomAhead()
        }
    }

    /// How many of those that wait, wait for a connection that is being made: they are in no queue, and their time runs.
    private var served: Int {
        switch speaks {
        case .http1: attempts.count - heldCount
        case .unknown, .http2:
            attempts.count > heldCount || multiplexed.contains(where: \.awaitsSettings) ? waiting.count : 0
        }
    }

    /// Connections are made for others than before.
    private func tellServed() {
        for exchange in waiting.serve(served) { exchange.isQueued(false) }
    }

    /// The program is asked for a proxy's credential, or has answered.
    func heldAttemptsChanged() {
        countHeld()
        for exchange in waiting.serveNoMore(than: served) { exchange.isQueued(true) }
        tellServed()
    }

    /// The first of those that wait in whose name the program is not asked already.
    var exchangeToAsk: HTTPExchange? {
        let asked = attempts.values.compactMap(\.asked)
        let notAsked = waiting.first { entry in !asked.contains { $0 === entry.exchange } }
        return (notAsked ?? waiting.first)?.exchange
    }

    func withdraw(_ exchange: HTTPExchange) {
        guard waiting.remove(exchange) != nil else { return }
        cancelSurplusAttempts()
        openAsNeeded()
        if speaks == .http1 { tellServed() }
        hasRoomAhead()
        retireIfUnused()
    }

    private func carry(_ exchange: HTTPExchange, on connection: HTTP1Connection, isReused: Bool) {
        busyCount += 1
        exchange.isQueued(false)
        exchange.assigned(to: connection)
        // Not before it has answered once, and shown that it goes on.
        if isReused, exchange.allowsPipelining { pipelined.append(connection) }
        connection.carry(exchange, isReused: isReused)
        hasRoomAhead()
    }

    private func carry(_ exchange: HTTPExchange, on connection: HTTP2Connection) {
        exchange.isQueued(false)
        connection.carry(exchange)
    }

    /// Whether there is an HTTP/2 connection for an exchange that switches to another protocol, which it carries then.
    func carriesUpgrade(_ exchange: HTTPExchange) -> Bool {
        guard !exchange.logins.bindsToConnection,
            let connection = multiplexed.first(where: { $0.takesUpgrades && $0.room > 0 })
        else { return false }
        carry(exchange, on: connection)
        return true
    }

    // MARK: Connections

    private func popIdle(for exchange: HTTPExchange) -> HTTP1Connection? {
        while let last = idle.last {
            let connection: HTTP1Connection
            if last.isFor(exchange) {
                connection = idle.removeLast()
            } else if let index = idle.lastIndex(where: { $0.isFor(exchange) }) {
                connection = idle.remove(at: index)
            } else {
                return nil
            }
            if connection.isUsable { return connection }
            connection.discard()
        }
        return nil
    }

    private func openAsNeeded() {
        guard pauseTimer == nil else { return }
        while attempts.count < wantedAttempts,
            busyCount + idle.count + streamTakers + attempts.count < limit || closeOneIdle()
        {
            let attempt = ConnectionAttempt(
                self, offersHTTP2: speaks != .http1, storage: pool.settings.credentialStorage)
            let key = ObjectIdentifier(attempt)
            attempts[key] = attempt
            if route.origin.isSecure, attempt.decidesTrust { asksPrograms = true }
            let handle = pool.connect(route, offersHTTP2: attempt.offersHTTP2, for: attempt) { [weak self] result in
                // Kept alive by this closure, so that its identity is not given to another.
                withExtendedLifetime(attempt) { self?.finish(key, result) }
            }
            attempt.handle = handle
        }
    }

    /// Those that take no new streams count no more: they end with those that they have.
    private var streamTakers: Int { multiplexed.count(where: \.takesStreams) }

    /// One connection carries one exchange in HTTP/1.1, and many in HTTP/2: while it is not known which it will be, those
    /// that wait are better off with one.
    private var wantedAttempts: Int {
        switch speaks {
        case .http1: waiting.count
        case .unknown, .http2: multiplexed.contains(where: \.awaitsSettings) ? 0 : min(1, waiting.count)
        }
    }

    /// Idle connections stand in the way of one that must be fresh.
    private func closeOneIdle() -> Bool {
        guard !idle.isEmpty else { return false }
        idle.removeFirst().close()
        return true
    }

    private func finish(_ key: ObjectIdentifier, _ result: Result<ByteStream, any Error>) {
        guard let attempt = removeAttempt(key) else { return }
        switch result {
        case .success(let stream): begin(stream, for: attempt)
        // Each exchange keeps its own time.
        case .failure(let error as TransportError) where error.cause == .timedOut: break
        case .failure(let error as TransportError) where error.isAboutProtocols: offerHTTP2(after: error, attempt)
        case .failure(let error as ProxyError):
            takeNext(for: attempt)?.failedToConnect(LoadFailure(error), attempt.timings)
        case .failure(let error): takeNext(for: attempt)?.failedToConnect(error, attempt.timings)
        }
        endSurplusAttempts()
        openAsNeeded()
        tellServed()
        retireIfUnused()
    }

    /// The server speaks none of what it was offered.
    private func offerHTTP2(after error: TransportError, _ attempt: ConnectionAttempt) {
        if !attempt.offersHTTP2, isOfferingHTTP2() { return }
        let speaksHTTP2Alone = hasOfferedHTTP2 && !attempt.offersHTTP2
        takeNext(for: attempt)?.failedToConnect(
            speaksHTTP2Alone ? LoadFailure.opensNoWebSocket : error, attempt.timings)
    }

    /// A WebSocket is opened over HTTP/1.1, which nearly all servers have. One that makes nothing of it is offered HTTP/2,
    /// too, once: false when that was in vain.
    private func isOfferingHTTP2() -> Bool {
        if hasOfferedHTTP2 { return speaks == .http2 }
        guard route.switching == .inAnyVersion, route.origin.isSecure, pool.settings.allowsHTTP2 else { return false }
        hasOfferedHTTP2 = true
        speaks = .http2
        return true
    }

    /// Whether a request that got no response is worth being sent again over another version: a server of HTTP/2 alone may
    /// choose no protocol in the handshake (RFC 7301 §3.2), and then makes nothing of what it gets.
    func mayHaveMisunderstood(_ connection: ConnectionInfo) -> Bool {
        connection.tls?.alpn == nil && isOfferingHTTP2()
    }

    /// The exchange that an attempt was made for: the first, unless the program was asked in another's name.
    private func takeNext(for attempt: ConnectionAttempt?) -> HTTPExchange? {
        if let asked = attempt?.asked, let entry = waiting.remove(asked) { return entry.exchange }
        return waiting.popFirst()?.exchange
    }

    /// Takes over a connection that was made for others than all of the session's tasks, and those that wait for it.
    func adopt(_ stream: ByteStream, _ entries: [RequestQueue.Entry]) {
        for entry in entries {
            entry.exchange.reroute(route)
            waiting.insert(entry)
            entry.exchange.isQueued(true)
        }
        if pool.speaksHTTP2Alone(route) { hasOfferedHTTP2 = true }
        begin(stream, for: nil)
        openSoon()
    }

    /// Whether the delegate that the pool is for has turned out not to decide about connections.
    private var isForAll: Bool {
        guard route.mayBeDecided, let receiver = waiting.first?.exchange.receiver else { return false }
        return receiver.challengeDelegate == nil
    }

    private func begin(_ stream: ByteStream, for attempt: ConnectionAttempt?) {
        let isHTTP2 = route.origin.isSecure ? stream.info.tls?.alpn == "h2" : speaks == .http2
        if isHTTP2, hasOfferedHTTP2 { pool.rememberHTTP2Alone(route) }
        if isForAll { return pool.share(stream, madeFor: waiting.removeAll(), route) }
        guard !isHTTP2 else {
            speaks = .http2
            let connection = HTTP2Connection(stream, self)
            multiplexed.append(connection)
            return hasRoom(connection)
        }
        // The server has turned out to speak HTTP/2 alone while this connection was made.
        if speaks == .http2, attempt?.offersHTTP2 != true, route.origin.isSecure { return stream.close() }
        speaks = .http1
        let connection = HTTP1Connection(stream, self)
        if let next = takeNext(for: attempt) {
            carry(next, on: connection, isReused: false)
        } else {
            keep(connection)
        }
    }

    /// Another connection has served an exchange that one is being made for. That goes on, as it serves the next exchange:
    /// many short ones would have their connections cancelled over and over. Only what a program has a say in does not,
    /// as there might be nobody left to ask.
    private func endSurplusAttempts() {
        if asksPrograms || heldCount > 0 { cancelSurplusAttempts() }
    }

    /// Those who waited are gone.
    private func cancelSurplusAttempts() {
        if heldCount > 0 {
            for (key, attempt) in attempts where attempt.isHeld && !isWaiting(attempt.asked) { cancel(key) }
        }
        while attempts.count > waiting.count, let key = attempts.keys.first { cancel(key) }
    }

    /// Nobody would hear the answer of a program that was asked in the name of an exchange that is over.
    func isWaiting(_ exchange: HTTPExchange?) -> Bool { exchange.map(waiting.contains) ?? false }

    private func cancel(_ key: ObjectIdentifier) {
        let handle = attempts[key]?.handle
        removeAttempt(key)
        handle?.cancel()
    }

    @discardableResult
    private func removeAttempt(_ key: ObjectIdentifier) -> ConnectionAttempt? {
        guard let attempt = attempts.removeValue(forKey: key) else { return nil }
        if attempt.isHeld { countHeld() }
        attempt.end()
        return attempt
    }

    private func countHeld() { heldCount = attempts.values.count(where: \.isHeld) }

    // MARK: From HTTP/2 connections

    /// A stream has ended, or more are allowed.
    func hasRoom(_ connection: HTTP2Connection) {
        if connection.awaitsSettings { return }
        while connection.room > 0, let next = waiting.popFirst() { carry(next.exchange, on: connection) }
        cancelSurplusAttempts()
        guard connection.isIdle else { return }
        guard !pool.isClosed, connection.room > 0 else { return end(connection) }
        guard connection.idleUntil == .distantFuture else { return }
        connection.idleUntil = pool.loop.now.advanced(bySeconds: ConnectionPool.idleTimeout)
        connection.stayIdle()
        pool.scheduleSweep()
    }

    func end(_ connection: HTTP2Connection) {
        connection.close()
        isGone(connection)
    }

    // MARK: Servers that refuse connections

    /// Pauses before the second, third, … connection, in seconds: a server that refuses those that it has just taken is busy,
    /// or going down.
    private static let refusalPauses = [0.05, 0.2, 0.8, 3.2]

    /// The server has closed a connection without a look at its requests. Gives whether they may be sent again: after a
    /// pause, for which no other connection is made.
    func connectionWasRefused() -> Bool {
        guard refusals < Self.refusalPauses.count else { return false }
        let time = pool.loop.now.advanced(bySeconds: Self.refusalPauses[refusals])
        refusals += 1
        pauseTimer?.cancel()
        pauseTimer = pool.loop.schedule(at: time) { [weak self] in self?.pauseEnded() }
        return true
    }

    func connectionHasAnswered() {
        refusals = 0
        if pauseTimer != nil { pauseEnded() }
    }

    private func pauseEnded() {
        pauseTimer?.cancel()
        pauseTimer = nil
        openAsNeeded()
        tellServed()
    }

    /// No new streams on this one.
    func isLeaving(_ connection: HTTP2Connection) {
        multiplexed.removeAll { $0 === connection }
        openAsNeeded()
        tellServed()
    }

    /// The connection is closed, and carries nothing any more.
    func isGone(_ connection: HTTP2Connection) {
        isLeaving(connection)
        retireIfUnused()
    }

    /// The server wants to be asked over HTTP/1.1.
    func requireHTTP1() {
        speaks = .http1
        let leaving = multiplexed
        multiplexed = []
        for connection in leaving { connection.retire() }
    }

    /// The server lets no streams switch. Where it makes nothing of HTTP/1.1 either, nobody need try that again.
    func requireHTTP1ForUpgrades() {
        requireHTTP1()
        guard hasOfferedHTTP2 else { return }
        while let next = waiting.popFirst() { next.exchange.failedToConnect(LoadFailure.opensNoWebSocket, nil) }
    }

    // MARK: From connections

    /// The connection has ended its exchange and can carry another.
    func isFree(_ connection: HTTP1Connection) {
        isBusyNoMore(connection)
        if !waiting.isEmpty,
            let next = waiting.first(where: { !$0.needsFreshConnection && connection.isFor($0.exchange) })
        {
            waiting.remove(next.exchange)
            carry(next.exchange, on: connection, isReused: true)
            endSurplusAttempts()
        } else {
            keep(connection)
        }
    }

    /// The connection that carried an exchange is closed.
    func isGone(_ connection: HTTP1Connection) {
        isBusyNoMore(connection)
        openAsNeeded()
        if !waiting.isEmpty { tellServed() }
        retireIfUnused()
    }

    private func isBusyNoMore(_ connection: HTTP1Connection) {
        busyCount -= 1
        if !pipelined.isEmpty { pipelined.removeAll { $0 === connection } }
    }

    /// A connection that the server closes after less was closed for another reason, in seconds.
    private static let shortestIdleTime = 0.5

    /// The server has closed a connection that was idle for so many seconds.
    func serverClosedIdle(after seconds: Double) {
        if seconds >= Self.shortestIdleTime { pool.rememberIdleTime(seconds, of: route) }
    }

    /// Until when a connection that is idle from now on is used again: not in the last tenth of the time after which the
    /// server has closed one, as it may be closing it while the request is on its way.
    private var safeUntil: MonotonicTime {
        pool.idleTime(of: route).map { pool.loop.now.advanced(bySeconds: 0.9 * $0) } ?? .distantFuture
    }

    /// An idle connection was closed by the server.
    func idleIsGone(_ connection: HTTP1Connection) {
        idle.removeAll { $0 === connection }
        retireIfUnused()
    }

    private func keep(_ connection: HTTP1Connection) {
        guard !pool.isClosed else {
            connection.close()
            return retireIfUnused()
        }
        connection.idleUntil = min(
            connection.idleUntil, pool.loop.now.advanced(bySeconds: ConnectionPool.idleTimeout))
        idle.append(connection)
        connection.stayIdle(safeUntil: safeUntil)
        pool.scheduleSweep()
        // One that waits for a fresh connection may now have this one's place.
        openAsNeeded()
    }

    /// Closes what nobody uses, and has not used since `time`; for `distantFuture` all of that, what is being made too.
    func closeIdle(before time: MonotonicTime) {
        if time == .distantFuture { cancelSurplusAttempts() }
        let old = idle.filter { $0.idleUntil <= time || time == .distantFuture }
        idle.removeAll { connection in old.contains { $0 === connection } }
        for connection in old { connection.close() }
        for connection in multiplexed
        where connection.isIdle && (connection.idleUntil <= time || time == .distantFuture) {
            isLeaving(connection)
            connection.close()
        }
        openAsNeeded()
        retireIfUnused()
    }

    private func retireIfUnused() {
        let isUnused = idle.isEmpty && multiplexed.isEmpty && busyCount == 0 && attempts.isEmpty && waiting.isEmpty
        if isUnused { pool.isUnused(route, self) }
    }
}

extension TransportError {
    /// Whether the peer speaks none of the protocols that it was offered.
    fileprivate var isAboutProtocols: Bool {
        if case .alert(let alert, _) = cause { alert.isAboutProtocols } else { false }
    }
}

extension LoadFailure {
    fileprivate static var opensNoWebSocket: LoadFailure {
        LoadFailure(
            .secureConnectionFailed,
            "the server speaks HTTP/2 alone, and does not let a WebSocket be opened over it (RFC 8441)")
    }
}
