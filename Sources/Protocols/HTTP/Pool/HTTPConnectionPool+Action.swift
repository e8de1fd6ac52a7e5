extension HTTPConnectionPool {
    typealias RequestID = SlotID
    typealias ConnectionID = SlotID
    /// The number of attempts before this one.
    typealias AttemptID = Int

    /// The work to do after an input, in the order of the list.
    enum Action: Sendable, Equatable {
        /// Send the request on the connection. If the connection has closed or the request is over,
        /// that is the pool's next input.
        case assign(RequestID, ConnectionID, ConnectionUse)
        /// Send the request behind those that the connection has not answered yet (RFC 9112 §9.3.2).
        case assignAhead(RequestID, ConnectionID)
        /// Write the requests that were assigned ahead.
        case flushAhead(ConnectionID)
        /// The connection has no request for now.
        case keepIdle(ConnectionID)
        case close(ConnectionID)
        /// The connection gets no more requests, and closes with its current ones.
        case retire(ConnectionID)
        /// Send a PING, and report the connection's slots when the server has answered.
        case check(ConnectionID)
        case startAttempt(AttemptID, offersHTTP2: Bool)
        case cancelAttempt(AttemptID)
        case fail(RequestID, Failure)
        /// Whether the request waits and no connection is being opened for it.
        case reportQueued(RequestID, Bool)
        /// Call ``serveQueue(now:)`` after the loop's current work.
        case serveQueueLater
        /// Call ``sendAhead(on:)`` after the loop's scheduled work.
        case sendAheadLater
        /// Call ``pauseDidEnd(now:)`` after this number of seconds.
        case startPause(seconds: Double)
        case cancelPause
        /// The pool has no work and no connections.
        case release
    }

    /// The state of a connection when it is assigned to a request.
    enum ConnectionUse: Sendable, Equatable {
        case fresh
        /// The connection has just answered another request.
        case atOnce
        /// The connection was idle. The server may have closed it meanwhile.
        case fromIdle
        /// The connection carries many requests at a time.
        case stream
    }

    enum Failure: Sendable, Equatable {
        case attemptFailed
        /// The server supports only HTTP/2, and does not allow a WebSocket over it (RFC 8441).
        case opensNoWebSocket
        /// The server has ended several connections, or allowed them no streams, before they carried a request.
        case connectionRefused
    }

    /// Actions in order. Most inputs return one action, for which no memory is allocated.
    struct Actions: Sendable {
        private var first: Action?
        private var rest: [Action] = []

        static func += (actions: inout Actions, action: Action) {
            if actions.first == nil { actions.first = action } else { actions.rest.append(action) }
        }

        var isEmpty: Bool { first == nil }

        @inline(__always)
        func forEach(_ body: (Action) throws -> Void) rethrows {
            if let first { try body(first) }
            for action in rest { try body(action) }
        }
    }
}
