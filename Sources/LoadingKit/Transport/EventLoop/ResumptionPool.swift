import DequeModule
import Dispatch
import Foundation
import LoadingKitPrimitives

/// Threads of Dispatch's pool, which Swift runs tasks on, that resume tasks: as few as keep up with them.
///
/// Resumed by one thread, each task would find Dispatch's queue empty and wake another, which the system may run at once, in
/// place of the one that was about to resume the next. Here a thread resumes tasks until none is left, and wakes another
/// only where there are more: while all are awake, no task wakes any.
final class ResumptionPool: Sendable {
    static let shared = ResumptionPool()

    /// Kept in a struct: a bare function in a collection is wrapped once more, which costs an allocation.
    struct Resumption: Sendable {
        let run: @Sendable () -> Void
    }

    private struct State {
        var waiting: Deque<Resumption> = []
        /// How many threads take from them, or were requested.
        var threads = 0
    }

    private let state = Guarded(State())
    private let maximumThreads = max(1, ProcessInfo.processInfo.activeProcessorCount)

    /// After so many tasks a thread lets others' work for the pool go first.
    private static let maximumTurns = 64

    /// Resumes tasks, in this order where one thread is enough.
    func run(_ resumptions: [Resumption]) {
        let needsThread = state.withLock { state in
            state.waiting.append(contentsOf: resumptions)
            return reserveThread(&state)
        }
        if needsThread { requestThread() }
    }

    /// Whether another thread is needed, which is counted then.
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
