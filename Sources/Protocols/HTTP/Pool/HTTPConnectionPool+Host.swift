import LoadingKitPrimitives

/// The pool among those of its host, which have one limit together (``HostConnections``).
extension HTTPConnectionPool {
    /// HTTP/2 connections that take no new streams do not count. They end with their current streams.
    func connectionCount(_ now: MonotonicTime) -> Int {
        http1.count + http2.countOfThoseThatTakeRequests(now) + attempts.count
    }

    func hasRoomForConnection(_ now: MonotonicTime) -> Bool { connectionCount(now) < min(limit, share.limit) }

    /// The limit without regard to other pools.
    var limit: Int { max(1, configuration.limit) }

    func use(_ now: MonotonicTime) -> HostConnections.Use {
        HostConnections.Use(
            count: connectionCount(now),
            hasIdle: http1.hasIdle || idleHTTP2(now) != nil || http2.firstSwitchedAlone(now) != nil,
            waits: waitsForRoom(now))
    }

    /// Whether the connections of other pools leave no room for those that the requests need.
    private func waitsForRoom(_ now: MonotonicTime) -> Bool {
        lacksRoom && attempts.count < wantedAttempts && !backOff.isPausing && connectionCount(now) < limit
    }

    private func idleHTTP2(_ now: MonotonicTime) -> ConnectionID? {
        http2.firstIdle(now, sparesUnsettled: !waiting.isEmpty)
    }

    /// An attempt has timed out. Another one takes its place, also while the pool gives way: the requests would
    /// otherwise be queued again, and their timeouts begin anew. This ends with the request that is now the first.
    mutating func keepPlace(_ now: MonotonicTime) {
        guard share.givesWay else { return }
        if let request = requestWithKeptPlace, !waiting.contains(request) {
            requestWithKeptPlace = nil
        } else {
            if requestWithKeptPlace == nil { requestWithKeptPlace = firstWaiting }
            share.limit = connectionCount(now) + 1
        }
    }

    /// Another pool of the host needs a connection.
    mutating func makeRoom(now: MonotonicTime) -> Actions {
        var actions = Actions()
        if closeOneIdle(&actions) {
            releaseIfUnused(&actions)
            return actions
        }
        if let connection = idleHTTP2(now) {
            _ = updateHTTP2 { $0.remove(connection) }
            actions += .close(connection)
        } else if let connection = http2.firstSwitchedAlone(now) {
            _ = updateHTTP2 { $0.remove(connection) }
            actions += .retire(connection)
            // As after GOAWAY, the pool is kept until the streams have ended.
            return actions
        }
        releaseIfUnused(&actions)
        return actions
    }

    /// Other pools of the host have left room for a connection.
    mutating func useRoom(now: MonotonicTime) -> Actions {
        var actions = Actions()
        serveWaiting(now, &actions)
        return actions
    }
}
