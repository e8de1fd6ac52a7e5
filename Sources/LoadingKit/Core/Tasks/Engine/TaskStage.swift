import Foundation
import LoadingKitTransport

/// The progress of a task's load, and the reasons that hold it back. The engine carries out the returned actions when
/// this value is consistent: a reentrant call is an ordinary input.
///
/// ```
///     new                  preparing, or waitingForBeginDate where the date is in the future
///     waitingForBeginDate  preparing, when the date has come
///     preparing            loading; or postponed where the task is suspended, and preparing again when it is resumed
///     loading              postponed by a redirect or a load in its place; waitingForNetwork where there is none
///     waitingForNetwork    preparing, when the networks have changed or the task is resumed
///     each of them         ended
/// ```
struct TaskStage {
    /// The reasons why nothing may be reported to the program now.
    struct Hold: OptionSet {
        let rawValue: UInt8
        /// The task is suspended.
        static let suspended = Hold(rawValue: 1)
        /// The delegate has not yet decided about the response or a redirect.
        static let undecided = Hold(rawValue: 2)
        /// The delegate, the file, or the reader of `bytes`, is behind.
        static let behind = Hold(rawValue: 4)
        /// Everything has been received, and the sink has not stored all of it.
        static let completing = Hold(rawValue: 8)
        /// Many parts of a response were handed over in a row, and the loop's other work is done first.
        static let parts = Hold(rawValue: 16)
    }

    enum Step {
        case new
        case waitingForBeginDate(LoopTimer)
        /// The load waits for a prerequisite: an answer of the delegate, or the opening of a file.
        case preparing
        /// The request is loaded when the task is no longer suspended.
        case postponed(URLRequest)
        /// The request is loaded when the networks have changed.
        case waitingForNetwork(URLRequest)
        case loading(any LoopHandler, Progress)
        case ended
    }

    enum Progress {
        /// The handler may deliver more.
        case running
        /// The handler waits for `receiverDidBecomeReady()`.
        case blocked
        /// The load has ended; its end is reported when nothing holds it back.
        case finished(Result<Void, any Error>)
    }

    /// The action when a hold has ended.
    enum Release {
        case nothing
        /// The handler may deliver more.
        case proceed(any LoopHandler)
        /// The load's end is reported.
        case conclude(Result<Void, any Error>)
    }

    private(set) var step = Step.new
    private(set) var hold: Hold = []

    var isNew: Bool { if case .new = step { true } else { false } }

    var isOver: Bool { if case .ended = step { true } else { false } }

    var isLoading: Bool { if case .loading = step { true } else { false } }

    /// The handler of the request, also after it has finished.
    var handler: (any LoopHandler)? { if case .loading(let handler, _) = step { handler } else { nil } }

    /// Whether the load has succeeded, and its end was not reported yet.
    var hasSucceeded: Bool { if case .loading(_, .finished(.success)) = step { true } else { false } }

    /// Whether more may be reported to the program.
    var canDeliver: Bool { hold.isEmpty && !isOver }

    // MARK: Beginning

    /// Waits for the task's begin date. False where the task has ended: the caller must then cancel the timer.
    mutating func waitForBeginDate(_ timer: LoopTimer) -> Bool {
        switch step {
        case .new, .waitingForBeginDate:
            step = .waitingForBeginDate(timer)
            return true
        case .preparing, .postponed, .waitingForNetwork, .loading, .ended: return false
        }
    }

    /// Starts the preparation; false where the task has ended, or is beyond this step.
    mutating func prepare() -> Bool {
        switch step {
        case .new, .waitingForBeginDate, .preparing:
            step = .preparing
            return true
        case .postponed, .waitingForNetwork, .loading, .ended: return false
        }
    }

    /// The preparation is complete. Returns whether to load now: not while the task is suspended.
    mutating func requestIsPrepared(_ request: URLRequest) -> Bool {
        guard case .preparing = step else { return false }
        guard hold.contains(.suspended) else { return true }
        step = .postponed(request)
        return false
    }

    /// The handler is about to start; false where it must not.
    mutating func beginLoading(_ handler: any LoopHandler) -> Bool {
        guard case .preparing = step else { return false }
        step = .loading(handler, .running)
        return true
    }

    /// The postponed request, where the task is not suspended. The task is preparing from then on.
    mutating func takePostponed() -> URLRequest? {
        guard !hold.contains(.suspended) else { return nil }
        switch step {
        case .postponed(let request), .waitingForNetwork(let request):
            step = .preparing
            return request
        case .new, .waitingForBeginDate, .preparing, .loading, .ended: return nil
        }
    }

    // MARK: Holding back

    @inline(__always)
    mutating func hold(for reason: Hold) { hold.insert(reason) }

    /// The task is suspended. Returns the handler that has to wait.
    mutating func suspend() -> (any LoopHandler)? {
        hold.insert(.suspended)
        guard case .loading(let handler, .running) = step else { return nil }
        step = .loading(handler, .blocked)
        return handler
    }

    /// The handler has delivered data. Returns whether it may continue; if not, it is blocked from now on.
    @inline(__always)
    mutating func flow() -> Flow {
        if hold.isEmpty { return isOver ? .wait : .more }
        block()
        return .wait
    }

    private mutating func block() {
        if case .loading(let handler, .running) = step { step = .loading(handler, .blocked) }
    }

    /// Removes one reason; ``proceed()`` then returns the action.
    mutating func release(_ reason: Hold) { hold.remove(reason) }

    /// Continues, where nothing holds the task back.
    mutating func proceed() -> Release {
        guard hold.isEmpty else { return .nothing }
        switch step {
        case .loading(let handler, .blocked):
            step = .loading(handler, .running)
            return .proceed(handler)
        case .loading(_, .finished(let result)): return .conclude(result)
        case .loading(_, .running), .new, .waitingForBeginDate, .preparing, .postponed, .waitingForNetwork, .ended:
            return .nothing
        }
    }

    // MARK: The end of a load

    /// Replaces the current load by another request. Returns the handler that has to end.
    mutating func replaceLoad(by request: URLRequest) -> (any LoopHandler)? {
        guard case .loading(let handler, _) = step else { return nil }
        step = .postponed(request)
        hold.subtract([.undecided, .completing])
        return handler
    }

    /// The load has failed because there is no network. Returns the handler that has to end.
    mutating func waitForNetwork(with request: URLRequest) -> (any LoopHandler)? {
        switch step {
        case .loading(let handler, .running), .loading(let handler, .blocked):
            step = .waitingForNetwork(request)
            return handler
        case .loading(_, .finished), .new, .waitingForBeginDate, .preparing, .postponed, .waitingForNetwork, .ended:
            return nil
        }
    }

    /// The load has ended; false where it had ended before, or there is none.
    mutating func loadDidEnd(_ result: Result<Void, any Error>) -> Bool {
        switch step {
        case .loading(let handler, .running), .loading(let handler, .blocked):
            step = .loading(handler, .finished(result))
            return true
        case .loading(_, .finished), .new, .waitingForBeginDate, .preparing, .postponed, .waitingForNetwork, .ended:
            return false
        }
    }

    /// The task has ended. Returns the step that has to be ended.
    mutating func end() -> Step {
        defer { step = .ended }
        return step
    }
}
