import LoadingKitPrimitives

/// A session that has not been released.
package protocol LiveSession: AnyObject, Sendable {
    var identity: SessionIdentity { get }
    /// Calls `read` with the session's events, on its event loop.
    func readEvents(_ read: @escaping @Sendable (SessionEvents) -> Void)
}

/// A session's entry among the live ones, as long as its `URLSession` has it. A weak reference to the session itself would
/// make each of its references dearer, for each load.
final class SessionEntry: Sendable {
    fileprivate let session: any LiveSession

    fileprivate init(_ session: any LiveSession) { self.session = session }

    deinit { LiveSessions.remove(session.identity) }
}

/// The sessions of the process that have not been released, and the followers that are told of new ones. Used from any
/// thread.
package enum LiveSessions {
    private struct WeakEntry: Sendable {
        weak let entry: SessionEntry?
    }

    private struct State: Sendable {
        /// By the sessions' numbers.
        var entries: [Int: WeakEntry] = [:]
        var followers: [Int: @Sendable (any LiveSession) -> Void] = [:]
        var lastFollower = 0
    }

    private static let state = Guarded(State())

    static func add(_ session: any LiveSession) -> SessionEntry {
        let entry = SessionEntry(session)
        let followers = state.withLock { state in
            state.entries[session.identity.number] = WeakEntry(entry: entry)
            return state.followers.values
        }
        for follower in followers { follower(session) }
        return entry
    }

    fileprivate static func remove(_ identity: SessionIdentity) { state.withLock { $0.entries[identity.number] = nil } }

    /// Calls `follower` with each session: here with those that there are, and later with each new one, before any other
    /// thread has it.
    ///
    /// - Returns: the number for ``unfollow(_:)``.
    package static func follow(_ follower: @escaping @Sendable (any LiveSession) -> Void) -> Int {
        let (number, entries) = state.withLock { state in
            state.lastFollower += 1
            state.followers[state.lastFollower] = follower
            return (state.lastFollower, state.entries.values.compactMap(\.entry))
        }
        for entry in entries { follower(entry.session) }
        return number
    }

    package static func unfollow(_ number: Int) { state.withLock { $0.followers[number] = nil } }

    static var count: Int { state.withLock { $0.entries.count } }

    /// The sessions that there are, in no order.
    package static var all: [any LiveSession] {
        // The last reference to an entry is not released while the lock is held, which its end takes.
        let entries = state.withLock { $0.entries.values.compactMap(\.entry) }
        return entries.map(\.session)
    }
}
