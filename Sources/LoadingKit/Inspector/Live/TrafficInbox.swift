import DequeModule
import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives
import Synchronization

/// Something that the inspector is told on the event loop of a session.
enum TrafficInput: Sendable {
    case session(SessionIdentity, name: String)
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

/// Takes what happens in sessions, on any thread. Nothing else is done with it until a page is open: then the inspector's
/// loop takes it from time to time. The earliest inputs are dropped where there are too many.
final class TrafficInbox: SessionEventObserver, Sendable {
    private struct State {
        /// They are kept: other inputs name them.
        var sessions: [TrafficInput] = []
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

    private let state = Guarded(State())
    private let isRead = Atomic<Bool>(false)

    /// Whether a page is open, so that inputs that the next one makes needless are wanted, too.
    var isWatched: Bool { isRead.load(ordering: .relaxed) }

    func set(isWatched: Bool) { isRead.store(isWatched, ordering: .relaxed) }

    func session(_ session: SessionIdentity, did event: SessionEventRecord, detail: String) {
        add(.event(session, event, detail: detail))
    }

    func add(_ input: TrafficInput) {
        // Dropped inputs are released when the lock is free.
        let limits = isWatched ? Limits.whileRead : .whileUnread
        let dropped = state.withLock { state -> [TrafficInput] in
            guard case .session = input else { return state.append(input, limits) }
            state.sessions.append(input)
            return []
        }
        withExtendedLifetime(dropped) {}
    }

    /// All sessions, and the inputs since the last call; and whether some of these were dropped.
    func take() -> (inputs: [TrafficInput], hasDropped: Bool) {
        state.withLock { state in
            let inputs = state.sessions + state.inputs
            let hasDropped = state.hasDropped
            (state.inputs, state.bodyBytes, state.hasDropped) = ([], 0, false)
            return (inputs, hasDropped)
        }
    }
}
