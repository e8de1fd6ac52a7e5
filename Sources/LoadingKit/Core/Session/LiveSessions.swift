import LoadingKitPrimitives

/// A session that has not been released.
package protocol LiveSession: AnyObject, Sendable {
    var identity: SessionIdentity { get }
}

/// The sessions of the process that have not been released, and those who are told of new ones. Used from any thread.
package enum LiveSessions {
    private struct WeakSession: Sendable {
        weak let session: (any LiveSession)?
    }

    private struct State: Sendable {
        var sessions: [SessionIdentity: WeakSession] = [:]
        var followers: [Int: @Sendable (any LiveSession) -> Void] = [:]
        var lastFollower = 0
    }

    private static let state = Guarded(State())

    static func add(_ session: any LiveSession) {
        let followers = state.withLock { state in
            state.sessions[session.identity] = WeakSession(session: session)
            return state.followers.values
        }
        for follower in followers { follower(session) }
    }

    static func remove(_ identity: SessionIdentity) { state.withLock { $0.sessions[identity] = nil } }

    /// Calls `follower` with each session: here with those that there are, and later with each new one, before any other
    /// thread has it.
    ///
    /// - Returns: the number for ``unfollow(_:)``.
    package static func follow(_ follower: @escaping @Sendable (any LiveSession) -> Void) -> Int {
        let (number, sessions) = state.withLock { state in
            state.lastFollower += 1
            state.followers[state.lastFollower] = follower
            return (state.lastFollower, state.sessions.values.compactMap(\.session))
        }
        for session in sessions { follower(session) }
        return number
    }

    package static func unfollow(_ number: Int) { state.withLock { $0.followers[number] = nil } }

    static var count: Int { state.withLock { $0.sessions.count } }

    /// The sessions that there are, in no order.
    package static var all: [any LiveSession] { state.withLock { $0.sessions.values.compactMap(\.session) } }
}
