import DequeModule
import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives
import Synchronization

/// Something that the inspector is told on the event loop of a session.
enum TrafficInput: Sendable {
    case load(LoadSnapshot)
    case event(SessionIdentity, SessionEventRecord, detail: String)
    case connections(SessionIdentity, [ConnectionState])
    case held(HeldLoad)
    case released(HeldLoad)
}

/// The notes of a load at a moment. One object, as inputs are moved more often than read.
final class LoadSnapshot: Sendable {
    let notes: LoadNotes
    /// The bytes of the bodies of a load that has ended.
    let size: Int

    init(_ notes: LoadNotes) {
        self.notes = notes
        size = notes.result == nil ? 0 : notes.size
    }
}

/// Keeps the inputs of all sessions, from any thread, until the inspector's loop takes them: ten times a second while a
/// page is open, and not at all otherwise. The earliest inputs are dropped where there are too many.
final class TrafficInbox: SessionEventObserver, Sendable {
    /// The name of a session that has been made.
    struct Session: Sendable {
        let identity: SessionIdentity
        let name: String
    }

    private struct State {
        var sessions: Deque<Session> = []
        var inputs: Deque<TrafficInput> = []
        var bodyBytes = 0
        var hasDropped = false

        mutating func append(_ input: TrafficInput, _ limits: Limits) -> [TrafficInput] {
            inputs.append(input)
            if case .load(let load) = input { bodyBytes += load.size }
            var dropped: [TrafficInput] = []
            while inputs.count > limits.count || bodyBytes > limits.bodyBytes,
                let first = inputs.popFirst()
            {
                if case .load(let load) = first { bodyBytes -= load.size }
                hasDropped = true
                dropped.append(first)
            }
            return dropped
        }
    }

    private struct Limits {
        /// A load has about eight inputs.
        let count: Int
        let bodyBytes: Int

        static let whileRead = Limits(count: 131_072, bodyBytes: 64 << 20)
        /// Inputs that nobody reads fit into the cache of the processor. More of them would make each load dearer.
        static let whileUnread = Limits(count: 8_192, bodyBytes: 8 << 20)
    }

    private static let mostSessions = 1_000

    private let state = Guarded(State())
    private let isRead = Atomic<Bool>(false)

    /// Whether a page is open. Then inputs about the middle of a load are wanted, too.
    var isWatched: Bool { isRead.load(ordering: .relaxed) }

    func set(isWatched: Bool) { isRead.store(isWatched, ordering: .relaxed) }

    func session(_ session: SessionIdentity, did event: SessionEventRecord, detail: String) {
        add(.event(session, event, detail: detail))
    }

    func add(_ input: TrafficInput) {
        // Dropped inputs are released when the lock is free.
        let limits = isWatched ? Limits.whileRead : .whileUnread
        let dropped = state.withLock { $0.append(input, limits) }
        withExtendedLifetime(dropped) {}
    }

    /// Other inputs name the session, and may be kept longer: a program may make a session for each load.
    func add(_ session: Session) {
        state.withLock { state in
            state.sessions.append(session)
            if state.sessions.count > Self.mostSessions { state.sessions.removeFirst() }
        }
    }

    /// The sessions and the inputs since the last call, and whether some inputs were dropped.
    func take() -> (sessions: [Session], inputs: [TrafficInput], hasDropped: Bool) {
        let taken = state.withLock { exchange(&$0, for: State()) }
        return (Array(taken.sessions), Array(taken.inputs), taken.hasDropped)
    }
}
