import LoadingKitPrimitives

extension HTTPConnectionPool {
    /// A request that was submitted, until it is assigned, failed or withdrawn.
    typealias RequestID = SlotID
    /// A connection, until it is closed, or retired.
    typealias ConnectionID = SlotID
    /// An attempt to make a connection: the number of those before it.
    typealias AttemptID = Int

    /// What is to be done after an input, in this order.
    enum Action: Sendable, Equatable {
        /// Send the request on the connection. Where the connection turns out to be closed, or the request to be gone, that is
        /// the pool's next input.
        case assign(RequestID, ConnectionID, ConnectionUse)
        /// Send the request behind those that the connection has not answered (RFC 9112 §9.3.2).
        case assignAhead(RequestID, ConnectionID)
        /// Write the requests that were assigned ahead.
        case flushAhead(ConnectionID)
        /// The connection has nothing to do for now.
        case keepIdle(ConnectionID)
        case close(ConnectionID)
        /// The connection gets no more requests, and closes when it has answered those that it has.
        case retire(ConnectionID)
        case startAttempt(AttemptID, offersHTTP2: Bool)
        case cancelAttempt(AttemptID)
        /// The request has come to nothing.
        case fail(RequestID, Failure)
        /// The request waits, and no connection is being made for it; or one is, from now on.
        case reportQueued(RequestID, Bool)
        /// Call ``serveQueue(now:)`` after what the event loop does now.
        case serveQueueLater
        /// Call ``sendAhead(on:)`` after what the event loop has to do already.
        case sendAheadLater
        /// Call ``pauseDidEnd()`` after so many seconds.
        case startPause(seconds: Double)
        case cancelPause
        /// The pool has no connection, no attempt and no request.
        case release
    }

    /// How a connection comes to a request.
    enum ConnectionUse: Sendable, Equatable {
        /// It was made, and has carried none.
        case fresh
        /// It has just answered another one.
        case atOnce
        /// It was idle: the server may have closed it meanwhile.
        case fromIdle
        /// It carries many at a time.
        case stream
    }

    enum Failure: Sendable, Equatable {
        /// For the reason that the attempt failed for.
        case attemptFailed
        /// The server speaks HTTP/2 alone, and does not let a WebSocket be opened over it (RFC 8441).
        case opensNoWebSocket
    }

    /// Actions in order. Most inputs bring one, for which no memory is allocated.
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
