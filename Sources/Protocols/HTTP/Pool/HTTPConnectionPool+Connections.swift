import LoadingKitPrimitives

extension HTTPConnectionPool {
    /// An HTTP/1.1 connection was opened. It is useless, and closed, if the server supports only HTTP/2.
    ///
    /// - Parameters:
    ///   - attempt: nil if another pool has opened the connection.
    ///   - until: the time at which the connection is closed if no request uses it.
    ///   - retiresAt: the time after which it takes no requests.
    mutating func connectionDidOpen(
        _ connection: ConnectionID, by attempt: AttemptID?, until: MonotonicTime, retiresAt: MonotonicTime,
        now: MonotonicTime
    ) -> Actions {
        var actions = Actions()
        let attempt = attempt.flatMap { removeAttempt($0) }
        if isHTTP2, attempt?.offersHTTP2 != true, configuration.isSecure {
            actions += .close(connection)
            attemptDidEnd(now, &actions)
            return actions
        }
        becomeHTTP1(&actions)
        updateHTTP1 { $0.note(connection, retiresAt: retiresAt) }
        if let request = takeNext(for: attempt) {
            assign(request, connection, .fresh, &actions)
        } else {
            keep(connection, .none, until: until, now, &actions)
        }
        attemptDidEnd(now, &actions)
        return actions
    }

    mutating func connectionDidOpen(
        _ connection: ConnectionID, by attempt: AttemptID?, slots: StreamSlots, retiresAt: MonotonicTime,
        now: MonotonicTime
    ) -> Actions {
        var actions = Actions()
        _ = attempt.flatMap { removeAttempt($0) }
        if !isHTTP2 { version = .http2(HTTP2Connections(), former: http1) }
        updateHTTP2 { $0.insert(HTTP2Connections.Entry(id: connection, slots: slots, retiresAt: retiresAt)) }
        fill(connection, now, &actions)
        attemptDidEnd(now, &actions)
        return actions
    }

    mutating func becomeHTTP1(_ actions: inout Actions) {
        switch version {
        case .http1: break
        case .undetermined: version = .http1(HTTP1Connections())
        case .http2(let connections, let former):
            version = .http1(former)
            for entry in connections.entries { actions += .retire(entry.id) }
        }
    }

    /// The connection has ended its request.
    ///
    /// - Parameter until: the time after which the connection is closed, or not used any more, if it stays idle.
    mutating func connectionDidBecomeIdle(
        _ connection: ConnectionID, _ binding: Binding, until: MonotonicTime, now: MonotonicTime
    ) -> Actions {
        reuse(connection, .atOnce, binding, until: until, now)
    }

    mutating func reuse(
        _ connection: ConnectionID, _ use: ConnectionUse, _ binding: Binding, until: MonotonicTime,
        _ now: MonotonicTime
    ) -> Actions {
        var actions = Actions()
        let retirement = updateHTTP1 { $0.deactivate(connection) ? $0.retirement(of: connection) : nil }
        guard let retirement else { return actions }
        if !waiting.isEmpty, retirement > now, !share.givesWay,
            let request = waiting.first(where: {
                (use == .fresh || !$0.needsFreshConnection) && binding.suits($0.user)
            })
        {
            if use != .fresh, needsPlaceOfFreeConnection(now) {
                actions += .close(connection)
            } else {
                waiting.remove(request.id)
                assign(request, connection, use, &actions)
                endSurplusAttempts(&actions)
            }
            serveWaiting(now, &actions)
        } else {
            keep(connection, binding, until: min(until, retirement), now, &actions)
        }
        return actions
    }

    /// Whether the first request needs a new connection, for which there is only the place of one that has become free.
    /// It would otherwise wait for as long as newer requests take each of those.
    private func needsPlaceOfFreeConnection(_ now: MonotonicTime) -> Bool {
        waiting.first?.needsFreshConnection == true && attempts.isEmpty && wantedAttempts > 0 && !backOff.isPausing
            && connectionCount(now) + 1 == min(limit, share.limit)
    }

    mutating func keep(
        _ connection: ConnectionID, _ binding: Binding, until: MonotonicTime, _ now: MonotonicTime,
        _ actions: inout Actions
    ) {
        if isClosing || until <= now || binding == .spent || share.givesWay {
            actions += .close(connection)
            releaseIfUnused(&actions)
        } else {
            updateHTTP1 { $0.keep(connection, binding, until: until) }
            actions += .keepIdle(connection)
        }
        // A request that waits for a new connection may now take this connection's place.
        serveWaiting(now, &actions)
    }

    /// Its requests that may be sent again are submitted again.
    mutating func connectionDidClose(_ connection: ConnectionID, now: MonotonicTime) -> Actions {
        var actions = Actions()
        let wasHTTP1 = updateHTTP1 { $0.deactivate(connection) || $0.removeIdle(connection) }
        if wasHTTP1 || updateHTTP2({ $0.remove(connection) }) != nil {
            serveWaiting(now, &actions)
        }
        releaseIfUnused(&actions)
        return actions
    }

    /// A stream of an HTTP/2 connection has ended, or the server has changed the number of streams that it allows. If a
    /// stream has ended while the pool gives way, the connection takes no further request.
    ///
    /// - Parameter until: the time at which the connection is closed if it is idle now.
    mutating func streamSlotsDidChange(
        of connection: ConnectionID, to slots: StreamSlots, until: MonotonicTime, now: MonotonicTime
    ) -> Actions {
        var actions = Actions()
        if share.givesWay, !slots.awaitsServer, let entry = http2[connection], slots.open < entry.slots.open {
            _ = updateHTTP2 { $0.remove(connection) }
            actions += .retire(connection)
            serveWaiting(now, &actions)
            // As after GOAWAY, the pool is kept until the other streams have ended.
            if slots.open == 0 { releaseIfUnused(&actions) }
            return actions
        }
        guard updateHTTP2({ $0.set(slots, of: connection) }) else { return actions }
        fill(connection, now, &actions)
        if let entry = http2[connection], entry.isIdle, !entry.slots.awaitsServer {
            if isClosing || !entry.hasSlot(now) {
                _ = updateHTTP2 { $0.remove(connection) }
                actions += .close(connection)
                if entry.assignedCount == 0 { backOffOrFail(&actions) }
                releaseIfUnused(&actions)
            } else if entry.idleUntil == .distantFuture {
                updateHTTP2 { $0.keep(connection, until: until) }
                actions += .keepIdle(connection)
            }
        }
        serveWaiting(now, &actions)
        return actions
    }

    mutating func fill(_ connection: ConnectionID, _ now: MonotonicTime, _ actions: inout Actions) {
        guard !waiting.isEmpty, !backOff.holdsStreams else { return }
        while http2[connection]?.hasSlot(now) == true, let request = waiting.popFirst() {
            updateHTTP2 { $0.takeSlot(of: connection) }
            actions += .assign(request.id, connection, .stream)
        }
        if http2[connection]?.slots.awaitsServer == false { cancelSurplusAttempts(&actions) }
    }

    /// GOAWAY. The pool is kept until the connection has ended: unprocessed requests are submitted again.
    mutating func connectionWillClose(_ connection: ConnectionID, unprocessed: Int, now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard let entry = updateHTTP2({ $0.remove(connection) }) else { return actions }
        noteEnd(after: entry.assignedCount - unprocessed, unprocessed: unprocessed)
        if entry.assignedCount == 0 { backOffOrFail(&actions) }
        serveWaiting(now, &actions)
        return actions
    }

    /// The connection has ended before the server's settings, for which the requests waited. It counts as a failed
    /// attempt.
    mutating func connectionDidFail(_ connection: ConnectionID, now: MonotonicTime) -> Actions {
        var actions = Actions()
        guard updateHTTP2({ $0.remove(connection) }) != nil else { return actions }
        if let request = takeNext(for: nil) { actions += .fail(request.id, .attemptFailed) }
        attemptDidEnd(now, &actions)
        return actions
    }

    /// Servers that end each connection after a number of requests commonly use 1,000 or more. With a smaller number, a
    /// single connection would make requests wait for the next one. If no request was left unprocessed, the connection
    /// ended for another reason: it was idle, or the server is shutting down.
    mutating func noteEnd(after count: Int, unprocessed: Int) {
        requestsPerConnection = unprocessed > 0 && 1...100 ~= count ? count : nil
    }

    /// Sends requests over HTTP/1.1 from now on. Attempts that offer HTTP/2 are cancelled, even while the program
    /// decides about one: their connections would use HTTP/2 again.
    mutating func requireHTTP1(now: MonotonicTime) -> Actions {
        var actions = Actions()
        becomeHTTP1(&actions)
        for index in attempts.indices.reversed() where attempts[index].offersHTTP2 {
            cancelAttempt(at: index, &actions)
        }
        serveWaiting(now, &actions)
        return actions
    }

    /// The server allows no streams to switch to another protocol. If it does not support HTTP/1.1 either, requests
    /// fail.
    mutating func streamsCannotUpgrade(now: MonotonicTime) -> Actions {
        var actions = Actions()
        becomeHTTP1(&actions)
        if hasOfferedHTTP2 {
            while let request = waiting.popFirst() { actions += .fail(request.id, .opensNoWebSocket) }
            cancelSurplusAttempts(&actions)
        }
        serveWaiting(now, &actions)
        releaseIfUnused(&actions)
        return actions
    }

    // MARK: Idle connections

    mutating func closeExpired(now: MonotonicTime) -> Actions { closeIdle(all: false, now) }

    /// Makes later requests open new connections: the idle connections are closed, the active ones take no further
    /// request, and attempts begin anew. An attempt about which the program is deciding stays: it would have to be asked
    /// again.
    mutating func retireAll(now: MonotonicTime) -> Actions {
        var actions = Actions()
        cancelSurplusAttempts(&actions)
        for index in attempts.indices.reversed() where !attempts[index].isChallenging {
            cancelAttempt(at: index, &actions)
        }
        for connection in updateHTTP1({ $0.popIdle(before: .distantFuture) }) { actions += .close(connection) }
        abandon(http1.activeConnections + http2.entries.map(\.id), now, &actions)
        return actions
    }

    mutating func closeIdle(all: Bool, _ now: MonotonicTime) -> Actions {
        var actions = Actions()
        if all { cancelSurplusAttempts(&actions) }
        for connection in updateHTTP1({ $0.popIdle(before: all ? .distantFuture : now) }) {
            actions += .close(connection)
        }
        let sparesUnsettled = !waiting.isEmpty
        for connection in updateHTTP2({ $0.popIdle(before: now, all: all, sparesUnsettled: sparesUnsettled) }) {
            actions += .close(connection)
        }
        serveWaiting(now, &actions)
        releaseIfUnused(&actions)
        return actions
    }

    /// The system's networks have changed. On HTTP/2 connections no stream begins before the server has answered.
    ///
    /// - Parameter stale: the connections on another route than new ones would take. They take no further request.
    mutating func networkDidChange(stale: [ConnectionID], now: MonotonicTime) -> Actions {
        var actions = Actions()
        for entry in http2.entries where !stale.contains(entry.id) {
            updateHTTP2 { $0.awaitServer(entry.id) }
            actions += .check(entry.id)
        }
        abandon(stale, now, &actions)
        return actions
    }

    /// The connections take no further request, and each is closed when it has none.
    private mutating func abandon(_ connections: [ConnectionID], _ now: MonotonicTime, _ actions: inout Actions) {
        var retiresSome = false
        for connection in connections {
            if let entry = updateHTTP2({ $0.remove(connection) }) {
                actions += entry.isIdle ? .close(connection) : .retire(connection)
                if !entry.isIdle { retiresSome = true }
            } else if updateHTTP1({ $0.removeIdle(connection) }) {
                actions += .close(connection)
            } else if http1.isActive(connection) {
                updateHTTP1 { $0.note(connection, retiresAt: now) }
            }
        }
        serveWaiting(now, &actions)
        // As after GOAWAY, the pool is kept until retired connections have ended.
        if !retiresSome { releaseIfUnused(&actions) }
    }

    mutating func sessionDidEnd(now: MonotonicTime) -> Actions {
        isClosing = true
        return closeIdle(all: true, now)
    }

    // MARK: Servers that refuse connections or streams

    /// The server has closed a connection without reading its requests: it is busy, or shutting down. Returns whether
    /// they may be sent again, after a pause in which no other connection is opened. They share it with the requests of
    /// all connections that are refused meanwhile.
    mutating func connectionWasRefused() -> (maySendAgain: Bool, actions: Actions) {
        backOff.isPausing ? (true, Actions()) : startPause(.ofConnections, after: \.connectionRefusals)
    }

    /// The server has ended a connection, or allows it no streams, before it carried one of the waiting requests. They
    /// wait for a pause. After the last pause the first of them fails.
    private mutating func backOffOrFail(_ actions: inout Actions) {
        guard !waiting.isEmpty else { return }
        let refusal = connectionWasRefused()
        refusal.actions.forEach { actions += $0 }
        guard !refusal.maySendAgain, let request = takeNext(for: nil) else { return }
        actions += .fail(request.id, .connectionRefused)
        endSurplusAttempts(&actions)
    }

    /// REFUSED_STREAM: the request was not processed. Returns whether it may be sent again, after a pause that it
    /// shares with all requests refused meanwhile.
    mutating func streamWasRefused() -> (maySendAgain: Bool, actions: Actions) {
        backOff.holdsStreams ? (true, Actions()) : startPause(.ofStreams, after: \.streamRefusals)
    }

    private mutating func startPause(
        _ pause: BackOff.Pause, after refusals: WritableKeyPath<BackOff, Int>
    ) -> (maySendAgain: Bool, actions: Actions) {
        var actions = Actions()
        let count = backOff[keyPath: refusals]
        guard BackOff.pauses.indices.contains(count) else { return (false, actions) }
        actions += .startPause(seconds: BackOff.pauses[count])
        backOff[keyPath: refusals] = count + 1
        backOff.pause = pause
        return (true, actions)
    }

    mutating func pauseDidEnd(now: MonotonicTime) -> Actions {
        var actions = Actions()
        if backOff.isPausing { endPause(now, &actions) }
        return actions
    }

    private mutating func endPause(_ now: MonotonicTime, _ actions: inout Actions) {
        let holdsStreams = backOff.holdsStreams
        backOff.pause = .none
        if holdsStreams { for entry in http2.entries { fill(entry.id, now, &actions) } }
        serveWaiting(now, &actions)
    }

    /// The server has responded to the first request of a connection.
    mutating func connectionDidAnswer(now: MonotonicTime) -> Actions {
        streamDidAnswer()
        var actions = Actions()
        guard backOff.pause == .ofConnections else { return actions }
        actions += .cancelPause
        endPause(now, &actions)
        return actions
    }

    /// The server has responded to another request of a connection. A pause goes on: the response says nothing about
    /// new connections. The next refusal begins with the shortest pause again.
    mutating func streamDidAnswer() {
        backOff.connectionRefusals = 0
        backOff.streamRefusals = 0
    }
}
