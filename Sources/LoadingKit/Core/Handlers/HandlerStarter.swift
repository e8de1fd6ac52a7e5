import Foundation
import LoadingKitTransport
import Synchronization

/// Starts and stops an author's handler off the event loop, whichever of its two shapes it has.
///
/// A handler of Apple's shape may block in `startLoading()`, so it gets a thread that may be blocked; one with
/// `load(_:)` gets a Swift task. Which shape a class has shows when its `startLoading()` is first called: only the
/// base class's leads to `load(_:)`. From then on the class's handlers start in a task at once.
final class HandlerStarter: @unchecked Sendable {  // `state` is guarded by its mutex
    private enum State {
        case new
        /// `startLoading()` runs; whether it asked for `load(_:)`, and whether `stopLoading()` is due after it.
        case starting(LoadContext, wantsLoad: Bool, isStopped: Bool)
        /// `startLoading()` has returned; the handler tells its client from wherever it likes.
        case started
        /// `load(_:)` runs in a task, which calls `stopLoading()` at its end.
        case loading(Task<Void, Never>?)
        case stopped
    }

    private static let loadShaped = Mutex<Set<ObjectIdentifier>>([])

    private let state = Mutex(State.new)
    private let handler: URLProtocolHandler

    init(_ handler: URLProtocolHandler) { self.handler = handler }

    private var shape: ObjectIdentifier { ObjectIdentifier(type(of: handler)) }

    func start(_ context: LoadContext, _ loop: EventLoop) {
        state.withLock { $0 = .starting(context, wantsLoad: false, isStopped: false) }
        if Self.loadShaped.withLock({ $0.contains(shape) }) {
            let task = Task { await self.runInTask() }
            adopt(task)
        } else {
            BlockingPool.shared.run { self.runOnThread() }
        }
    }

    /// Called once, by the load's end.
    func stop(_ loop: EventLoop) {
        let next = state.withLock { state -> (() -> Void)? in
            switch state {
            case .starting(let context, let wantsLoad, _):
                state = .starting(context, wantsLoad: wantsLoad, isStopped: true)
                return nil
            case .started:
                state = .stopped
                return { [handler] in BlockingPool.shared.run { handler.stopLoading() } }
            case .loading(let task):
                return { task?.cancel() }
            case .new, .stopped:
                return nil
            }
        }
        next?()
    }

    /// The base class's `startLoading()` was reached: the handler is one with `load(_:)`.
    func baseStartLoading() {
        let shape = shape
        state.withLock { state in
            guard case .starting(let context, _, let isStopped) = state else { return }
            state = .starting(context, wantsLoad: true, isStopped: isStopped)
        }
        Self.loadShaped.withLock { _ = $0.insert(shape) }
    }

    /// The base class's `stopLoading()`.
    func cancelTask() {
        let task = state.withLock { state -> Task<Void, Never>? in
            if case .loading(let task) = state { task } else { nil }
        }
        task?.cancel()
    }

    /// The task may already have gone on to its load, or ended, when its handle arrives here.
    private func adopt(_ task: Task<Void, Never>) {
        let isStopped = state.withLock { state -> Bool in
            switch state {
            case .starting(_, _, let isStopped): return isStopped
            case .loading(nil):
                state = .loading(task)
                return false
            case .loading, .new, .started, .stopped: return false
            }
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
            guard case .starting(let context, let wantsLoad, let isStopped) = state else { return (nil, false) }
            if isStopped {
                state = .stopped
                return (nil, true)
            }
            state = wantsLoad ? .loading(nil) : .started
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
        state.withLock { $0 = .stopped }
    }
}
