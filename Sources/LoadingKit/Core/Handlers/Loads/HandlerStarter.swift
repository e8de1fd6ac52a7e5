import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Starts and stops a program's handler off the event loop, for both kinds of handlers.
///
/// A handler of Apple's kind may block in `startLoading()`, and in `stopLoading()`: each of them runs on a thread for
/// the program's code. A handler with `load(_:)` gets a Swift task. An override of `startLoading()` that calls the base
/// class's method runs on the thread first, and then gets the task.
final class HandlerStarter: @unchecked Sendable {  // `state` is guarded by its mutex
    private enum Phase {
        case new
        /// `startLoading()` is about to run on a thread, or waits for a free thread.
        case waiting(BlockingPool.Work, isQueued: Bool)
        /// `startLoading()` is running. `wantsLoad`: it has called the base class's method, which runs `load(_:)`.
        case starting(wantsLoad: Bool)
        /// `startLoading()` has returned; the handler calls its client from any thread.
        case started
        /// `load(_:)` is running in a task, which calls `stopLoading()` at its end.
        case loading
        case stopped
    }

    private struct State {
        var phase = Phase.new
        /// The task that runs `load(_:)`. It may be running before its handle arrives here.
        var task: Task<Void, Never>?
        /// The load has ended: `stopLoading()` is about to run, or has run.
        var isStopped = false
        /// The answers to the handler's challenges that are to be given after the one that is being given.
        var answers: [@Sendable () -> Void] = []
        var isAnswering = false
        /// The handler whose `stopLoading()` is called after the answers.
        var stopping: URLProtocolHandler?
    }

    /// The interval, in nanoseconds, after which `stopLoading()` again requests a thread that the system did not
    /// provide.
    private static let retryInterval: UInt64 = 100_000_000

    private let state = Guarded(State())
    private let program: LoadBehavior
    private let loop: EventLoop

    init(_ program: LoadBehavior, on loop: EventLoop) {
        self.program = program
        self.loop = loop
    }

    // MARK: On the loop

    /// - Returns: whether the handler waits for a free thread; it then notifies the context when it starts.
    func start(_ context: LoadContext) -> Bool {
        guard let handler = program.handler(overriding: .startLoading) else {
            // The base class's `startLoading()` need not be called: its only effect is this state.
            state.withLock { $0.phase = .starting(wantsLoad: true) }
            startTask(context)
            return false
        }
        let work = BlockingPool.Work({ self.run(handler, context) }) { refusal in
            context.end(LoadFailure(.resourceUnavailable, "startLoading() cannot be called: \(refusal)"))
        }
        state.withLock { $0.phase = .waiting(work, isQueued: false) }
        guard BlockingPool.userCode.run(work) == .waits else { return false }
        return state.withLock { state in
            guard case .waiting(let work, _) = state.phase else { return false }
            state.phase = .waiting(work, isQueued: true)
            return true
        }
    }

    /// Starts a detached task: the task that happens to have started the load is not the parent of the handler's task.
    /// Where that task awaits the load, its thread can start the handler's part at once, which avoids waking another
    /// thread.
    private func startTask(_ context: LoadContext) {
        let executor = program.runsOnLoop ? loop.executor : nil
        #if compiler(>=6.2)
            if loop.canBorrowThread {
                let isBegun = loop.borrowThread {
                    self.adopt(Task.immediateDetached(executorPreference: executor) { await self.runInTask(context) })
                }
                if isBegun { return }
            }
        #endif
        adopt(Task.detached(executorPreference: executor) { await self.runInTask(context) })
    }

    /// Called once, at the load's end.
    func stop() {
        let (isStarted, task, work) = state.withLock { state in
            state.isStopped = true
            switch state.phase {
            case .waiting(let work, _):
                state.phase = .stopped
                return (false, state.task, work as BlockingPool.Work?)
            case .started:
                state.phase = .stopped
                return (true, nil, nil)
            case .new, .starting, .loading, .stopped: return (false, state.task, nil)
            }
        }
        task?.cancel()
        if let work { BlockingPool.userCode.cancel(work) }
        if isStarted, case .handler(let handler) = program { stopOnThread(handler) }
    }

    /// The base class's method has nothing left to cancel.
    private func stopOffTask() {
        if let handler = program.handler(overriding: .stopLoading) { stopOnThread(handler) }
    }

    private func stopOnThread(_ handler: URLProtocolHandler) {
        let isAnswering = state.withLock { state -> Bool in
            if state.isAnswering { state.stopping = handler }
            return state.isAnswering
        }
        if isAnswering { return }
        let work = BlockingPool.Work({ handler.stopLoading() }) { _ in
            // The method must be called: the handler may hold resources until then.
            self.loop.execute {
                let next = self.loop.now.advanced(byNanoseconds: Self.retryInterval)
                _ = self.loop.schedule(at: next) { self.stopOnThread(handler) }
            }
        }
        BlockingPool.userCode.run(work)
    }

    // MARK: From any thread

    /// Answers a challenge of the handler's, on a thread: after the answers before it, and before `stopLoading()`.
    func answer(_ give: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state -> Bool in
            state.answers.append(give)
            defer { state.isAnswering = true }
            return !state.isAnswering
        }
        if isFirst { Self.runOnThread { self.giveAnswers() } }
    }

    /// Runs what answers challenges on a thread, or in place where the system has none.
    static func runOnThread(_ answers: @escaping @Sendable () -> Void) {
        BlockingPool.answers.run(BlockingPool.Work(answers, orElse: { _ in answers() }))
    }

    private func giveAnswers() {
        while true {
            let (give, stopping) = state.withLock { state -> ((@Sendable () -> Void)?, URLProtocolHandler?) in
                guard state.answers.isEmpty else { return (state.answers.removeFirst(), nil) }
                state.isAnswering = false
                defer { state.stopping = nil }
                return (nil, state.stopping)
            }
            if let stopping { stopOnThread(stopping) }
            guard let give else { return }
            give()
        }
    }

    /// The base class's `startLoading()` was called: the handler uses `load(_:)`.
    func baseStartLoading() {
        state.withLock { state in
            if case .starting = state.phase { state.phase = .starting(wantsLoad: true) }
        }
    }

    /// The base class's `stopLoading()`.
    func cancelTask() { state.withLock { $0.task }?.cancel() }

    private func adopt(_ task: Task<Void, Never>) {
        let isStopped = state.withLock { state -> Bool in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    private func runInTask(_ context: LoadContext) async { if startDidReturn() { await load(context) } }

    /// Called on a thread for the program's code.
    private func run(_ handler: URLProtocolHandler, _ context: LoadContext) {
        let wasQueued = state.withLock { state -> Bool? in
            guard case .waiting(_, let isQueued) = state.phase else { return nil }
            state.phase = .starting(wantsLoad: false)
            return isQueued
        }
        // A load that ended while it waited has nothing to start or to stop.
        guard let wasQueued else { return }
        if wasQueued { context.leaveQueue() }
        handler.startLoading()
        guard startDidReturn() else { return }
        adopt(Task { await self.load(context) })
    }

    /// Whether `load(_:)` is to run.
    private func startDidReturn() -> Bool {
        let (wantsLoad, stops) = state.withLock { state -> (Bool, Bool) in
            guard case .starting(let wantsLoad) = state.phase else { return (false, false) }
            if state.isStopped {
                state.phase = .stopped
                return (false, true)
            }
            state.phase = wantsLoad ? .loading : .started
            return (wantsLoad, false)
        }
        if stops { stopOffTask() }
        return wantsLoad
    }

    /// Inlined, because a call of an asynchronous function checks the task's executor preference.
    @inline(__always)
    private func load(_ context: LoadContext) async {
        do {
            switch program {
            case .handler(let handler): try await handler.load(context)
            case .interceptor(let interceptor): try await interceptor.load(context)
            }
            context.end(nil)
        } catch {
            context.end(error)
        }
        stopOffTask()
        state.withLock { state in
            state.phase = .stopped
            state.task = nil
        }
    }
}
