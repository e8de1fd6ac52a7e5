/// The effect of `resume()`, `suspend()` and `cancel()` on a task: the state that users see, and nothing else.
///
///     suspended(count 1) ──resume──▶ running ──suspend──▶ suspended(count n) ──resume × n──▶ running
///            └───────────────────────────┴──cancel──▶ canceling ──complete──▶ completed
///
/// Suspensions are counted, as on Apple's systems: a task suspended twice is resumed by the second `resume()`.
struct TaskLifecycle {
    enum Phase {
        case suspended(count: Int, hasStarted: Bool)
        case running
        case canceling
        case completed
    }

    /// The action that the engine has to carry out.
    enum Action {
        case none
        case start
        /// A running load is to be held back, or a held load is to be resumed, according to the state at the time of
        /// the action.
        case change
        /// `hasStarted` is false for a task that was never resumed: there is no load to end.
        case cancel(hasStarted: Bool)
    }

    /// Whether the program has cancelled the task before its end.
    private(set) var wasCancelled = false
    private(set) var phase: Phase

    init(_ phase: Phase = .suspended(count: 1, hasStarted: false)) { self.phase = phase }

    var hasStarted: Bool {
        if case .suspended(_, hasStarted: false) = phase { false } else { true }
    }

    mutating func resume() -> Action {
        switch phase {
        case .suspended(let count, let hasStarted) where count > 1:
            phase = .suspended(count: count - 1, hasStarted: hasStarted)
            return .none
        case .suspended(_, let hasStarted):
            phase = .running
            return hasStarted ? .change : .start
        case .running, .canceling, .completed:
            return .none
        }
    }

    mutating func suspend() -> Action {
        switch phase {
        case .suspended(let count, let hasStarted):
            phase = .suspended(count: count + 1, hasStarted: hasStarted)
            return .none
        case .running:
            phase = .suspended(count: 1, hasStarted: true)
            return .change
        case .canceling, .completed:
            return .none
        }
    }

    mutating func cancel() -> Action {
        let action = Action.cancel(hasStarted: hasStarted)
        switch phase {
        case .suspended, .running:
            phase = .canceling
            wasCancelled = true
            return action
        case .canceling, .completed:
            return .none
        }
    }

    mutating func complete() { phase = .completed }
}
