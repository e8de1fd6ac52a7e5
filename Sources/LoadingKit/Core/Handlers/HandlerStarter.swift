import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Starts and stops an author's handler off the event loop, whichever of its two shapes it has.
///
/// A handler of Apple's shape may block in `startLoading()`, so it gets a thread that may be blocked; one with
/// `load(_:)` gets a Swift task. Which shape a class has shows when its `startLoading()` is first called: only the
/// base class's leads to `load(_:)`. From then on the class's handlers start in a task at once.
final class HandlerStarter: @unchecked Sendable {  // `state` is guarded by its mutex
    private enum Phase {
        case new
        /// `startLoading()` runs; whether it asked for `load(_:)`.
        case starting(LoadContext, wantsLoad: Bool)
        /// `startLoading()` has returned; the handler tells its client from wherever it likes.
        case started
        /// `load(_:)` runs in a task, which calls `stopLoading()` at its end.
        case loading
        case stopped
    }

    private struct State {
        var phase = Phase.new
        /// The task that runs `load(_:)`. It may be running before its handle arrives here.
        var task: Task<Void, Never>?
        /// The load has ended: `stopLoading()` is due, or done.
        var isStopped = false
    }

    private static let loadShaped = Guarded<Set<ObjectIdentifier>>([])

    private let state = Guarded(State())
    private let handler: URLProtocolHandler

    init(_ handler: URLProtocolHandler) { self.handler = handler }

    private var shape: ObjectIdentifier { ObjectIdentifier(type(of: handler)) }

    func start(_ context: LoadContext, on loop: EventLoop) {
        state.withLock { $0.phase = .starting(context, wantsLoad: false) }
        if Self.loadShaped.withLock({ $0.contains(shape) }) {
            startTask(on: loop)
        } else {
            BlockingPool.shared.run { self.runOnThread() }
        }
    }

    /// Of nobody's: the task that happens to have started the load is no parent of the handler's. Where that task awaits the
    /// load, its thread can begin with the handler's part at once, which saves waking another.
    private func startTask(on loop: EventLoop) {
        #if compiler(>=6.2)
            if loop.borrowThread({ self.adopt(Task.immediateDetached { await self.runInTask() }) }) { return }
        #endif
        adopt(Task.detached { await self.runInTask() })
    }

    /// Called once, by the load's end.
    func stop() {
        let (isStarted, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            state.isStopped = true
            guard case .started = state.phase else { return (false, state.task) }
            state.phase = .stopped
            return (true, nil)
        }
        task?.cancel()
        if isStarted { BlockingPool.shared.run { [handler] in handler.stopLoading() } }
    }

    /// The base class's `startLoading()` was reached: the handler is one with `load(_:)`.
    func baseStartLoading() {
        state.withLock { state in
            guard case .starting(let context, _) = state.phase else { return }
            state.phase = .starting(context, wantsLoad: true)
        }
        let shape = shape
        Self.loadShaped.withLock { _ = $0.insert(shape) }
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

    private func runInTask() async {
        handler.startLoading()
        if let context = startReturned() { await load(context) }
    }

    private func runOnThread() {
        handler.startLoading()
        guard let context = startReturned() else { return }
        adopt(Task { await self.load(context) })
    }

    /// Gives the context when `load(_:)` is to run.
    private func startReturned() -> LoadContext? {
        let (context, stops) = state.withLock { state -> (LoadContext?, Bool) in
            guard case .starting(let context, let wantsLoad) = state.phase else { return (nil, false) }
            if state.isStopped {
                state.phase = .stopped
                return (nil, true)
            }
            state.phase = wantsLoad ? .loading : .started
            return (wantsLoad ? context : nil, false)
        }
        if stops { handler.stopLoading() }
        return context
    }

    private func load(_ context: LoadContext) async {
        do {
            try await handler.load(context)
            context.end(nil)
        } catch {
            context.end(error)
        }
        handler.stopLoading()
        state.withLock { state in
            state.phase = .stopped
            state.task = nil
        }
    }
}
