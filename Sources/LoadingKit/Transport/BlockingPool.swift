import DequeModule
import Foundation
import Synchronization

/// Threads for what blocks: files, `getaddrinfo`. As many as there is work, up to a bound; the rest waits.
package final class BlockingPool: Sendable {
    package static let shared = BlockingPool()

    /// The most threads.
    private static let maximumThreads = 16
    /// How long a thread waits for work before it ends, in seconds.
    private static let idleTime = 10

    private struct State {
        var work = Deque<@Sendable () -> Void>()
        var threads = 0
        var idle = 0
    }

    private let state = Mutex(State())
    private let available = Semaphore()

    /// Runs `work` on one of the threads.
    package func run(_ work: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state -> Bool in
            state.work.append(work)
            guard state.idle < state.work.count, state.threads < Self.maximumThreads else { return false }
            state.threads += 1
            return true
        }
        available.signal()
        guard needsThread, !LoopThread.start("LoadingKit-io", { self.serve() }) else { return }
        // Without a thread at all the work would never be done: then it is done here.
        let orphans = state.withLock { state -> Deque<@Sendable () -> Void> in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            defer { state.work = [] }
            return state.work
        }
        for work in orphans { work() }
    }

    private func serve() {
        while true {
            if let work = state.withLock({ $0.work.popFirst() }) {
                work()
                continue
            }
            state.withLock { $0.idle += 1 }
            let isSignalled = available.wait(seconds: Self.idleTime)
            let ends = state.withLock { state -> Bool in
                state.idle -= 1
                guard !isSignalled && state.work.isEmpty else { return false }
                state.threads -= 1
                return true
            }
            if ends { return }
        }
    }
}

/// A counting semaphore that can be waited for a bounded time.
private final class Semaphore: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func signal() { semaphore.signal() }

    func wait(seconds: Int) -> Bool { semaphore.wait(timeout: .now() + .seconds(seconds)) == .success }
}
