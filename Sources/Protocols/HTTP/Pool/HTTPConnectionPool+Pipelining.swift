import LoadingKitPrimitives

/// Requests that are sent before the requests ahead of them are answered (RFC 9112 §9.3.2).
extension HTTPConnectionPool {
    /// The requests that an active HTTP/1.1 connection could be sent before it has answered.
    struct RoomAhead: Sendable {
        let connection: ConnectionID
        let binding: Binding
        /// The number of unanswered requests behind the current one.
        var count: Int
        var room: Int
    }

    /// The pipelined connections that still take requests.
    func pipelined(_ now: MonotonicTime) -> [ConnectionID] {
        let connections = http1
        return connections.pipelined.filter { connections.retirement(of: $0) > now }
    }

    mutating func roomAheadDidChange() -> Actions {
        var actions = Actions()
        sendAheadIfRoom(&actions)
        return actions
    }

    mutating func sendAheadIfRoom(_ actions: inout Actions) {
        guard waiting.count > attempts.count, !sendsAheadLater, !http1.pipelined.isEmpty else { return }
        sendsAheadLater = true
        actions += .sendAheadLater
    }

    /// Sends requests ahead on busy connections. A connection of its own is better for a request, so only requests that
    /// would otherwise wait are pipelined, in their order. A request that may not be sent ahead, or for which the
    /// program is being asked, holds back those behind it.
    ///
    /// - Parameter rooms: the rooms of the ``pipelined(_:)`` connections; empty if the server does not support pipelining.
    mutating func sendAhead(on rooms: [RoomAhead]) -> Actions {
        var actions = Actions()
        sendsAheadLater = false
        // If a call of `serveQueue` is scheduled, it comes first, and schedules this one again.
        // A connection that is to be closed for another pool takes no more.
        guard !willServeQueue, !rooms.isEmpty, !self.share.givesWay else { return actions }
        var rooms = rooms
        let share = fairShare(rooms)
        // The first waiting requests get the connections that are being opened.
        while let next = waiting.prefix(attempts.count + 1).dropFirst(attempts.count).first,
            !next.needsFreshConnection, next.mayBeSentAhead, !isChallenged(next.id),
            let index = shortest(rooms, below: share, for: next)
        {
            waiting.remove(next.id)
            rooms[index].count += 1
            rooms[index].room -= 1
            actions += .assignAhead(next.id, rooms[index].connection)
        }
        for room in rooms { actions += .flushAhead(room.connection) }
        return actions
    }

    private func isChallenged(_ request: RequestID) -> Bool {
        attempts.contains { $0.isChallenging && $0.challenged == request }
    }

    /// The largest number for one connection, so that connections that will soon be free have requests, too.
    func fairShare(_ rooms: [RoomAhead]) -> Int {
        let count = rooms.reduce(waiting.count - attempts.count) { $0 + $1.count }
        let connections = max(1, http1.activeCount)
        return (count + connections - 1) / connections
    }

    func shortest(_ rooms: [RoomAhead], below limit: Int, for request: Request) -> Int? {
        rooms.indices.filter { rooms[$0].room > 0 && rooms[$0].count < limit && rooms[$0].binding.suits(request.user) }
            .min { rooms[$0].count < rooms[$1].count }
    }
}
