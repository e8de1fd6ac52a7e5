import LoadingKitPrimitives

/// The connections of one route, and the requests that wait for one. The pool decides which request uses which
/// connection, when connections are opened, and when they are closed.
///
/// It is a value without sockets, clock or timers. Each input is a method that leaves the pool consistent and returns
/// actions, which ``ConnectionPoolDriver`` carries out. An identifier that the pool does not contain belongs to an
/// object that has ended meanwhile. It changes nothing.
///
/// ```
///                      ALPN "h2"                    GOAWAY with HTTP_1_1_REQUIRED,
///    ┌─────────────┐ ────────────▶ ┌───────┐        401 with NTLM, no extended CONNECT
///    │ undetermined│               │ http2 │ ──────────────┐
///    └─────────────┘ ────────────▶ └───────┘               ▼
///          │           ALPN else     ▲             ┌───────┐
///          └─────────────────────────┼───────────▶ │ http1 │
///                                    └──────────── └───────┘
///                        ALPN "h2", or no response to HTTP/1.1
/// ```
struct HTTPConnectionPool: Sendable, CustomStringConvertible {
    struct Configuration: Sendable {
        var limit = 6
        /// Whether a TLS handshake decides the version.
        var isSecure = false
        var allowsHTTP2 = true
        /// Whether the server is known to support HTTP/2, by prior knowledge or from earlier connections.
        var startsWithHTTP2 = false
        var isForUpgrade = false
        /// Whether the requests may switch on a stream, too (RFC 8441).
        var mayUpgradeStreams = false
        /// In seconds. Servers commonly close an idle connection after 60 to 75.
        var idleTimeout = defaultIdleTimeout

        static let defaultIdleTimeout = 55.0
        /// The age after which a connection takes no new requests, in seconds, because addresses and certificates change.
        static let maximumAge = 3600.0
    }

    struct Request: Sendable, Equatable {
        let id: RequestID
        /// Older requests have smaller numbers.
        let number: UInt64
        var priority: Float = 0.5
        var needsFreshConnection = false
        /// Whether the request goes before others that have not been on a connection.
        var goesFirst = false
        var user = RequestUser.none
        var allowsPipelining = false
        var mayBeSentAhead = false
    }

    struct Attempt: Sendable {
        let id: AttemptID
        let offersHTTP2: Bool
        /// The request on whose behalf the program was last challenged.
        var challenged: RequestID?
        var isChallenging = false
    }

    /// The version that the server supports, as far as it is known.
    enum Version: Sendable {
        /// One connection is opened, and its ALPN result awaited, before there are more.
        case undetermined
        case http1(HTTP1Connections)
        /// `former` were opened in HTTP/1.1 before, and are used while they last.
        case http2(HTTP2Connections, former: HTTP1Connections)
    }

    /// Pauses after a server has closed connections without reading their requests, or has refused streams.
    struct BackOff: Sendable {
        enum Pause: Sendable {
            case none
            /// No connection is opened.
            case ofConnections
            /// No connection is opened, and HTTP/2 connections get no requests either.
            case ofStreams
        }

        /// Pauses before the second, third, … attempt, in seconds.
        static let pauses = [0.05, 0.2, 0.8, 3.2]

        var connectionRefusals = 0
        /// Pauses in a row without any response in between.
        var streamRefusals = 0
        var pause = Pause.none

        var isPausing: Bool { pause != .none }
        var holdsStreams: Bool { pause == .ofStreams }
    }

    let configuration: Configuration
    var version: Version
    var waiting = RequestQueue()
    var attempts: [Attempt] = []
    var attemptCount = 0
    /// Whether a server that could not interpret HTTP/1.1 was offered HTTP/2.
    var hasOfferedHTTP2 = false
    var mayChallenge = false
    var backOff = BackOff()
    var willServeQueue = false
    var sendsAheadLater = false
    var isClosing: Bool
    /// The number of requests after which the server ended the last HTTP/2 connection in an orderly way.
    var requestsPerConnection: Int?
    /// Set before each input, while the host has other pools.
    var share = HostConnections.Share()
    /// The request for which attempts that time out keep their places while other pools wait (``keepPlace(_:)``).
    var requestWithKeptPlace: RequestID?
    /// Whether fewer connections could be opened than the waiting requests needed, when this was last tried.
    var lacksRoom = false

    init(_ configuration: Configuration, isClosing: Bool = false) {
        self.configuration = configuration
        self.isClosing = isClosing
        if configuration.startsWithHTTP2 {
            version = .http2(HTTP2Connections(), former: HTTP1Connections())
            hasOfferedHTTP2 = configuration.isSecure
        } else if configuration.isSecure, configuration.allowsHTTP2, !configuration.isForUpgrade {
            version = .undetermined
        } else {
            version = .http1(HTTP1Connections())
        }
    }

    // MARK: State

    var http1: HTTP1Connections {
        switch version {
        case .undetermined: HTTP1Connections()
        case .http1(let connections), .http2(_, let connections): connections
        }
    }

    var http2: HTTP2Connections {
        if case .http2(let connections, _) = version { connections } else { HTTP2Connections() }
    }

    /// Changes the HTTP/1.1 connections in place: `version` has no second reference to them meanwhile.
    @inline(__always)
    mutating func updateHTTP1<Result>(_ change: (inout HTTP1Connections) -> Result) -> Result {
        switch version {
        case .undetermined:
            var none = HTTP1Connections()
            return change(&none)
        case .http1(var connections):
            version = .undetermined
            defer { version = .http1(connections) }
            return change(&connections)
        case .http2(let streams, var connections):
            version = .undetermined
            defer { version = .http2(streams, former: connections) }
            return change(&connections)
        }
    }

    /// As ``updateHTTP1(_:)``.
    @inline(__always)
    mutating func updateHTTP2<Result>(_ change: (inout HTTP2Connections) -> Result) -> Result {
        guard case .http2(var connections, let former) = version else {
            var none = HTTP2Connections()
            return change(&none)
        }
        version = .undetermined
        defer { version = .http2(connections, former: former) }
        return change(&connections)
    }

    var isHTTP1: Bool { if case .http1 = version { true } else { false } }
    var isHTTP2: Bool { if case .http2 = version { true } else { false } }
    var isUnused: Bool { waiting.isEmpty && attempts.isEmpty && http1.isEmpty && http2.isEmpty }
    var hasIdleConnection: Bool { http1.hasIdle || http2.hasIdle }
    var firstWaiting: RequestID? { waiting.first?.id }

    /// The pool's state in one line, for logs and tests.
    var description: String {
        let version =
            switch version {
            case .undetermined: "undetermined"
            case .http1(let connections): "http1 \(connections)"
            case .http2(let connections, let former):
                "http2 \(connections)" + (former.isEmpty ? "" : ", former http1 \(former)")
            }
        let attempts =
            "attempts \(self.attempts.count)" + (challengingCount > 0 ? " of which challenge \(challengingCount)" : "")
        let states = [
            (backOff.isPausing, backOff.holdsStreams ? "pausing with streams" : "pausing"), (isClosing, "closing"),
        ].filter(\.0).map(\.1)
        return ([version, "waiting \(waiting.count)", attempts] + states).joined(separator: ", ")
    }

    /// The request on whose behalf an attempt challenges the program.
    func requestToChallenge(for attempt: AttemptID) -> RequestID? { next(for: attempts.first { $0.id == attempt }) }

    /// The request that an attempt is for: the one on whose behalf it has challenged the program, if that still waits,
    /// else the first one that no other attempt uses. The program's answer would otherwise be for another request.
    func next(for attempt: Attempt?) -> RequestID? {
        if let challenged = attempt?.challenged, waiting.contains(challenged) { return challenged }
        let taken = attempts.compactMap(\.challenged)
        return (waiting.first { !taken.contains($0.id) } ?? waiting.first)?.id
    }

    // MARK: Requests

    mutating func submit(_ request: Request, now: MonotonicTime) -> Actions {
        var actions = Actions()
        if waiting.isEmpty {
            if isHTTP2, !backOff.holdsStreams, let connection = http2.firstWithSlot(now) {
                updateHTTP2 { $0.takeSlot(of: connection) }
                actions += .assign(request.id, connection, .stream)
                return actions
            }
            if !request.needsFreshConnection, let connection = popIdle(for: request.user, now, &actions) {
                assign(request, connection, .fromIdle, &actions)
                return actions
            }
        }
        enqueue(request, &actions)
        return actions
    }

    private mutating func enqueue(_ request: Request, _ actions: inout Actions) {
        if waiting.isEmpty { lacksRoom = false }
        waiting.insert(request)
        actions += .reportQueued(request.id, true)
        guard !willServeQueue else { return }
        willServeQueue = true
        actions += .serveQueueLater
    }

    /// A request that is to switch its stream to another protocol.
    ///
    /// - Parameter connection: one of ``connectionsWithSlot(_:)``.
    mutating func submit(_ request: Request, on connection: ConnectionID) -> Actions {
        var actions = Actions()
        updateHTTP2 { $0.takeSlot(of: connection, switches: true) }
        actions += .assign(request.id, connection, .stream)
        return actions
    }

    func connectionsWithSlot(_ now: MonotonicTime) -> [ConnectionID] {
        backOff.holdsStreams ? [] : http2.entries.filter { $0.hasSlot(now) }.map(\.id)
    }

    /// The request is over, or takes another route.
    mutating func withdraw(_ request: RequestID, now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard waiting.remove(request) != nil else { return actions }
        cancelSurplusAttempts(&actions)
        serveWaiting(now, &actions)
        sendAheadIfRoom(&actions)
        releaseIfUnused(&actions)
        return actions
    }

    mutating func changePriority(of request: RequestID, to priority: Float) -> Actions {
        waiting.change(request, priority: priority)
        var actions = servedRequestsDidChange()
        sendAheadIfRoom(&actions)
        return actions
    }

    /// The request of an ``Action/assign(_:_:_:)`` is over.
    ///
    /// - Parameter use: an idle connection must be checked for the next request, too.
    mutating func requestWasGone(
        _ connection: ConnectionID, _ use: ConnectionUse, _ binding: Binding, until: MonotonicTime, now: MonotonicTime
    ) -> Actions {
        reuse(connection, use == .fresh ? .fresh : .fromIdle, binding, until: until, now)
    }

    /// The connection of an ``Action/assign(_:_:_:)`` is closed. The request takes another one.
    mutating func connectionWasClosed(
        _ connection: ConnectionID, before request: Request, now: MonotonicTime
    ) -> Actions {
        var actions = Actions()
        _ = updateHTTP1 { $0.deactivate(connection) }
        if let next = popIdle(for: request.user, now, &actions) {
            assign(request, next, .fromIdle, &actions)
            return actions
        }
        enqueue(request, &actions)
        return actions
    }

    /// Returns all waiting requests, for another pool, which uses the attempt's connection, or has one already. Other
    /// attempts are ended.
    mutating func handOver(_ attempt: AttemptID?) -> (requests: [Request], actions: Actions) {
        var actions = Actions()
        _ = attempt.flatMap { removeAttempt($0) }
        let requests = waiting.removeAll()
        cancelSurplusAttempts(&actions)
        releaseIfUnused(&actions)
        return (requests, actions)
    }

    /// A connection that has delivered a redirect may be free by now.
    mutating func serveQueue(now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard willServeQueue else { return actions }
        willServeQueue = false
        useIdle(now, &actions)
        serveWaiting(now, &actions)
        sendAheadIfRoom(&actions)
        return actions
    }

    /// Assigns idle connections. None may suit the first request, while one suits a request behind it.
    mutating func useIdle(_ now: MonotonicTime, _ actions: inout Actions) {
        while http1.hasIdle,
            let request = waiting.first(where: { !$0.needsFreshConnection && http1.hasIdle(for: $0.user) }),
            let connection = popIdle(for: request.user, now, &actions)
        {
            waiting.remove(request.id)
            assign(request, connection, .fromIdle, &actions)
            endSurplusAttempts(&actions)
        }
    }

    mutating func popIdle(
        for user: RequestUser, _ now: MonotonicTime, _ actions: inout Actions
    ) -> ConnectionID? {
        var expired: [ConnectionID] = []
        let found = updateHTTP1 { $0.popIdle(for: user, now: now, expired: &expired) }
        for connection in expired { actions += .close(connection) }
        return found
    }

    mutating func assign(
        _ request: Request, _ connection: ConnectionID, _ use: ConnectionUse, _ actions: inout Actions
    ) {
        // A connection is pipelined only after it has answered once and was kept.
        updateHTTP1 { $0.activate(connection, pipelines: use != .fresh && request.allowsPipelining) }
        actions += .assign(request.id, connection, use)
        sendAheadIfRoom(&actions)
    }
}
