import DequeModule
import Dispatch
import Foundation
import LoadingKitPrimitives

/// Threads of Dispatch's pool, on which Swift runs tasks. They resume tasks, with the smallest number of threads that
/// is sufficient.
///
/// If one thread resumed each task separately, the task would find Dispatch's queue empty and wake another thread,
/// which the system may run at once instead of the thread that was about to resume the next task. Here a thread resumes
/// tasks until none is left, and wakes another thread only if there are more. While all threads are awake, no task
/// wakes any.
final class ResumptionPool: Sendable {
    static let shared = ResumptionPool()

    /// The function is in a struct: a bare function in a collection is wrapped again, which costs an allocation.
    struct Resumption: Sendable {
        let run: @Sendable () -> Void
    }

    private struct State {
        var waiting: Deque<Resumption> = []
        /// The number of threads that resume tasks, or that were requested.
        var threads = 0
    }

    private let state = Guarded(State())
    private let maximumThreads = max(1, ProcessInfo.processInfo.activeProcessorCount)

    /// The number of tasks after which a thread lets other work of the pool go first.
    private static let maximumTurns = 64

    /// Resumes tasks. They are in this order if one thread is sufficient.
    func run(_ resumptions: [Resumption]) {
        let needsThread = state.withLock { state in
            state.waiting.append(contentsOf: resumptions)
            return reserveThread(&state)
        }
        if needsThread { requestThread() }
    }

    /// Whether another thread is needed. If so, it is counted.
    private func reserveThread(_ state: inout State) -> Bool {
        guard !state.waiting.isEmpty, state.threads < maximumThreads else { return false }
        state.threads += 1
        return true
    }

    private func requestThread() { DispatchQueue.global().async { self.resume() } }

    private func resume() {
        for _ in 0..<Self.maximumTurns {
            guard let (next, needsThread) = take() else { return }
            if needsThread { requestThread() }
            next.run()
        }
        requestThread()
    }

    private func take() -> (Resumption, needsThread: Bool)? {
        state.withLock { state in
            guard let next = state.waiting.popFirst() else {
                state.threads -= 1
                return nil
            }
            return (next, reserveThread(&state))
        }
    }
}
