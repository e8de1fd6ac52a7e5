import LoadingKitPrimitives

/// Requests that are sent before those ahead of them are answered (RFC 9112 §9.3.2).
extension HTTPConnectionPool {
    /// What an active connection of HTTP/1.1 could be sent before it has answered.
    struct RoomAhead: Sendable {
        let connection: ConnectionID
        let binding: Binding
        /// How many requests are ahead of their answers.
        var count: Int
        /// How many more may be.
        var room: Int
    }

    var pipelined: [ConnectionID] { http1.pipelined }

    /// A pipelined connection may be sent more.
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

    /// Sends requests ahead on connections that are busy (RFC 9112 §9.3.2).
    ///
    /// A connection of its own is better for a request than a place behind another: pipelined is what would otherwise wait, in
    /// its order. One that may not be sent ahead, and is next, has all behind it wait until it has its connection.
    ///
    /// - Parameter rooms: of the ``pipelined`` connections; none where the server has not borne it.
    mutating func sendAhead(on rooms: [RoomAhead]) -> Actions {
        var actions = Actions()
        sendsAheadLater = false
        // Where connections are to be made, that comes first, and this after it.
        guard !willServeQueue, !rooms.isEmpty else { return actions }
        var rooms = rooms
        let share = fairShare(rooms)
        // The first of those that wait are for the connections that are being made.
        while let next = waiting.prefix(attempts.count + 1).dropFirst(attempts.count).first,
            !next.needsFreshConnection, next.mayBeSentAhead,
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

    /// How many a connection has ahead at most, so that those that will soon be free have something to do, too.
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
