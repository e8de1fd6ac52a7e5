import LoadingKitPrimitives

/// The connections of one route, and the requests that wait for one: decides which request goes on which connection, when
/// connections are made, and when they are closed.
///
/// A value without sockets, clock or timers. Each input is a method, which leaves the pool consistent and returns what is to
/// be done; ``ConnectionPoolDriver`` does it. Identifiers that the pool does not know are those of what has ended meanwhile,
/// and change nothing.
///
/// ```
///                      ALPN "h2"                    GOAWAY with HTTP_1_1_REQUIRED,
///    ┌─────────────┐ ────────────▶ ┌───────┐        401 with NTLM, no extended CONNECT
///    │ undetermined│               │ http2 │ ──────────────┐
///    └─────────────┘ ────────────▶ └───────┘               ▼
///          │           ALPN else     ▲             ┌───────┐
///          └─────────────────────────┼───────────▶ │ http1 │
///                                    └──────────── └───────┘
///                        ALPN "h2", or no answer to what was sent in HTTP/1.1
/// ```
struct HTTPConnectionPool: Sendable, CustomStringConvertible {
    /// What does not change while the pool is there.
    struct Configuration: Sendable {
        /// How many connections there may be at a time.
        var limit = 6
        /// Whether a TLS handshake decides the version.
        var isSecure = false
        var allowsHTTP2 = true
        /// Whether the server is known to speak HTTP/2: by prior knowledge, or from before.
        var startsWithHTTP2 = false
        /// Whether the requests are for a switch to another protocol.
        var isForUpgrade = false
        /// Whether they may do so on a stream, too (RFC 8441).
        var mayUpgradeStreams = false
        /// How long an idle connection is kept, in seconds. Servers commonly close after 60 to 75.
        var idleTimeout = defaultIdleTimeout

        static let defaultIdleTimeout = 55.0
    }

    struct Request: Sendable, Equatable {
        let id: RequestID
        /// Its number among the session's: the older, the smaller.
        let number: UInt64
        var priority: Float = 0.5
        /// Whether no connection that has carried another one will do.
        var needsFreshConnection = false
        /// Whether it goes before those that have not been on a connection.
        var goesFirst = false
        var user = RequestUser.none
        /// Whether others may be sent behind it before it is answered.
        var allowsPipelining = false
        /// Whether it may be sent behind others.
        var mayBeSentAhead = false
    }

    /// A connection that is being made.
    struct Attempt: Sendable {
        let id: AttemptID
        let offersHTTP2: Bool
        /// The request in whose name the program was last challenged (for a proxy's credential, for trust in a server).
        var challenged: RequestID?
        /// Whether the program has yet to answer.
        var isChallenging = false
    }

    /// What the server speaks, as far as is known.
    enum Version: Sendable {
        /// One connection is made, and its ALPN awaited, before there are more.
        case undetermined
        case http1(HTTP1Connections)
        /// `former` were made in HTTP/1.1 before, and are used while they last.
        case http2(HTTP2Connections, former: HTTP1Connections)
    }

    /// A pause, as the server closes connections that it has taken without a look at their requests, or refuses streams.
    struct BackOff: Sendable {
        enum Pause: Sendable {
            case none
            /// No connection is made.
            case ofConnections
            /// Nor do the connections of HTTP/2 that there are get requests.
            case ofStreams
        }

        /// Pauses before the second, third, … attempt, in seconds.
        static let pauses = [0.05, 0.2, 0.8, 3.2]

        /// How many connections in a row were refused.
        var connectionRefusals = 0
        /// How many times in a row streams were refused, after a pause each, without an answer to any other.
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
    /// Whether a server that made nothing of HTTP/1.1 was offered HTTP/2.
    var hasOfferedHTTP2 = false
    /// Whether a program may be challenged for one of the attempts.
    var mayChallenge = false
    var backOff = BackOff()
    /// Whether ``serveQueue(now:)`` is to be called.
    var willServeQueue = false
    var sendsAheadLater = false
    /// Whether the session has ended, and keeps no idle connection.
    var isClosing: Bool
    /// After how many requests the server ended the last HTTP/2 connection in order.
    var requestsPerConnection: Int?

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

    // MARK: What it knows

    /// The connections of HTTP/1.1, whatever the server speaks now.
    var http1: HTTP1Connections {
        switch version {
        case .undetermined: HTTP1Connections()
        case .http1(let connections), .http2(_, let connections): connections
        }
    }

    /// None unless the server speaks HTTP/2.
    var http2: HTTP2Connections {
        if case .http2(let connections, _) = version { connections } else { HTTP2Connections() }
    }

    /// Changes the connections of HTTP/1.1 in place: the state has no second reference to them meanwhile.
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

    /// Whether there is nothing to do, and nothing to keep.
    var isUnused: Bool { waiting.isEmpty && attempts.isEmpty && http1.isEmpty && http2.isEmpty }

    var hasIdleConnection: Bool { http1.hasIdle || http2.hasIdle }

    var firstWaiting: RequestID? { waiting.first?.id }
    var waitingCount: Int { waiting.count }

    /// Whether an HTTP/2 connection takes no new requests any more.
    func isTooOld(_ connection: ConnectionID, _ now: MonotonicTime) -> Bool {
        http2[connection]?.takesRequests(now) == false
    }

    /// Its state in one line, for logs and tests.
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

    /// The request in whose name an attempt challenges the program: as before, where that one still waits; else the first
    /// that no other attempt has challenged the program for.
    func requestToChallenge(for attempt: AttemptID) -> RequestID? {
        if let challenged = attempts.first(where: { $0.id == attempt })?.challenged, waiting.contains(challenged) {
            return challenged
        }
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
        waiting.insert(request)
        actions += .reportQueued(request.id, true)
        guard !willServeQueue else { return }
        willServeQueue = true
        actions += .serveQueueLater
    }

    /// The request goes on an HTTP/2 connection that the caller has chosen among ``connectionsWithSlot(_:)``.
    mutating func submit(_ request: Request, on connection: ConnectionID) -> Actions {
        var actions = Actions()
        updateHTTP2 { $0.takeSlot(of: connection) }
        actions += .assign(request.id, connection, .stream)
        return actions
    }

    func connectionsWithSlot(_ now: MonotonicTime) -> [ConnectionID] {
        backOff.holdsStreams ? [] : http2.entries.filter { $0.hasSlot(now) }.map(\.id)
    }

    /// The request is over, or goes elsewhere.
    mutating func withdraw(_ request: RequestID, now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard waiting.remove(request) != nil else { return actions }
        cancelSurplusAttempts(&actions)
        serveWaiting(now, &actions)
        sendAheadIfRoom(&actions)
        releaseIfUnused(&actions)
        return actions
    }

    /// The request of an ``Action/assign(_:_:_:)`` was found to be over: the connection of HTTP/1.1 carries nothing.
    ///
    /// - Parameter use: how the connection came to that request. That one was idle is to be checked for the next request, too.
    mutating func requestWasGone(
        _ connection: ConnectionID, _ use: ConnectionUse, _ binding: Binding, until: MonotonicTime, now: MonotonicTime
    ) -> Actions {
        reuse(connection, use == .fresh ? .fresh : .fromIdle, binding, until: until, now)
    }

    /// The connection of an ``Action/assign(_:_:_:)`` was found to be closed: the request takes another.
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

    /// Takes out all that wait, for another pool, as what an attempt has made is of use there. None of the others goes on.
    mutating func handOver(_ attempt: AttemptID) -> (requests: [Request], actions: Actions) {
        var actions = Actions()
        _ = removeAttempt(attempt)
        let requests = waiting.removeAll()
        cancelSurplusAttempts(&actions)
        releaseIfUnused(&actions)
        return (requests, actions)
    }

    /// What happened when ``Action/serveQueueLater`` was returned has happened: a connection that has brought a redirect may be free
    /// by now.
    mutating func serveQueue(now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard willServeQueue else { return actions }
        willServeQueue = false
        useIdle(now, &actions)
        serveWaiting(now, &actions)
        sendAheadIfRoom(&actions)
        return actions
    }

    /// The first of those that wait may be one that no idle connection is for, and others behind it.
    mutating func useIdle(_ now: MonotonicTime, _ actions: inout Actions) {
        while http1.hasIdle,
            let request = waiting.first(where: { !$0.needsFreshConnection && http1.hasIdle(for: $0.user) }),
            let connection = popIdle(for: request.user, now, &actions)
        {
            waiting.remove(request.id)
            assign(request, connection, .fromIdle, &actions)
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
        // Not before it has answered once, and shown that it goes on.
        updateHTTP1 { $0.activate(connection, pipelines: use != .fresh && request.allowsPipelining) }
        actions += .assign(request.id, connection, use)
        sendAheadIfRoom(&actions)
    }
}
