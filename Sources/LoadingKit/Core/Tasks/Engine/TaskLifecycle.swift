/// What `resume()`, `suspend()` and `cancel()` do to a task: the state that users see, and nothing else.
///
///     suspended(count 1) ──resume──▶ running ──suspend──▶ suspended(count n) ──resume × n──▶ running
///            └───────────────────────────┴──cancel──▶ canceling ──complete──▶ completed
///
/// Suspensions are counted, as Apple counts them: a task suspended twice is resumed by the second `resume()`.
struct TaskLifecycle {
    private enum Phase {
        case suspended(count: Int, hasStarted: Bool)
        case running
        case canceling
        case completed
    }

    /// What the engine has to do.
    enum Action {
        case none
        case start
        /// A load that goes on is to be held back, or one that is held back is to go on: whatever the state says by then.
        case change
        /// `hasStarted` is false for a task that was never resumed: there is no load to end.
        case cancel(hasStarted: Bool)
    }

    /// Whether the program has cancelled the task before it was over.
    private(set) var wasCancelled = false
    private var phase = Phase.suspended(count: 1, hasStarted: false)

    init() {}

    /// Of a task that an earlier run of the program has begun.
    init(begunAs state: URLSessionTask.State) {
        phase =
            switch state {
            case .suspended: .suspended(count: 1, hasStarted: true)
            case .running: .running
            case .canceling: .canceling
            case .completed: .completed
            }
    }

    var state: URLSessionTask.State {
        switch phase {
        case .suspended: .suspended
        case .running: .running
        case .canceling: .canceling
        case .completed: .completed
        }
    }

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
        switch phase {
        case .suspended(_, let hasStarted):
            phase = .canceling
            wasCancelled = true
            return .cancel(hasStarted: hasStarted)
        case .running:
            phase = .canceling
            wasCancelled = true
            return .cancel(hasStarted: true)
        case .canceling, .completed:
            return .none
        }
    }

    mutating func complete() { phase = .completed }
}
