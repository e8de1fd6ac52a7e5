import LoadingKitCore
import LoadingKitHAR
import LoadingKitPrimitives
import LoadingKitTransport

/// Something that the inspector is told on the event loop of a session.
enum TrafficInput: Sendable {
    case session(SessionIdentity, name: String)
    case load(LoadRecording.Moment, LoadNotes)
    case event(SessionIdentity, SessionEventRecord, detail: String)
    case connections(SessionIdentity, [ConnectionState])
    case held(HeldLoad)
    case released(HeldLoad)
}

/// Takes what happens in sessions, on any thread, until the inspector's loop reads it.
final class TrafficInbox: SessionEventObserver, Sendable {
    private struct State {
        var inputs: [TrafficInput] = []
        var isMissing = false
        var isCalled = false
    }

    /// The inputs at which the inspector is called, which otherwise reads them from time to time.
    private static let fullCount = 4096
    /// The inputs beyond which further ones are dropped, as the inspector cannot keep up.
    private static let mostInputs = 262_144

    private let state = Guarded(State())
    private let call: @Sendable () -> Void

    /// - Parameter call: called when the inputs are to be read at once.
    init(call: @escaping @Sendable () -> Void) { self.call = call }

    func session(_ session: SessionIdentity, did event: SessionEventRecord, detail: String) {
        add(.event(session, event, detail: detail))
    }

    func add(_ input: TrafficInput) {
        let isFull = state.withLock { state in
            if state.inputs.count < Self.mostInputs { state.inputs.append(input) } else { state.isMissing = true }
            guard state.inputs.count >= Self.fullCount, !state.isCalled else { return false }
            state.isCalled = true
            return true
        }
        if isFull { call() }
    }

    /// The inputs since the last call, and whether some are missing.
    func take() -> (inputs: [TrafficInput], isMissing: Bool) {
        state.withLock { state in
            defer { state = State() }
            return (state.inputs, state.isMissing)
        }
    }
}
