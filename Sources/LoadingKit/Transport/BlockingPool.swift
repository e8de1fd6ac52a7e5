import DequeModule
import Glibc
import LoadingKitPrimitives

/// A few threads for what blocks: files, name resolution, databases.
///
/// It grows to sixteen threads as work waits; a thread that had nothing to do for a while ends.
package final class BlockingPool: @unchecked Sendable {  // all state is guarded by `mutex`
    package static let shared = BlockingPool()

    private static let idleSeconds = 10

    private let maximumThreads: Int
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var work: Deque<@Sendable () -> Void> = []
    private var threads = 0
    private var idleThreads = 0

    package init(maximumThreads: Int = 16) {
        self.maximumThreads = max(1, maximumThreads)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` on one of the threads, when one is free.
    package func run(_ body: @escaping @Sendable () -> Void) {
        let item: @Sendable () -> Void
        if let plan = FaultPlan.current { item = { plan.run(body) } } else { item = body }
        pthread_mutex_lock(mutex)
        work.append(item)
        let needsThread = work.count > idleThreads && threads < maximumThreads
        if needsThread { threads += 1 }
        pthread_mutex_unlock(mutex)
        // After the lock is free: who wakes would wait for it otherwise.
        pthread_cond_signal(condition)
        if needsThread { startThread() }
    }

    private func startThread() {
        if let thread = NativeThread.start(name: "LoadingKit-file", { self.serve() }) {
            thread.detach()
            return
        }
        pthread_mutex_lock(mutex)
        threads -= 1
        // Where no thread at all can be had, the work is done here rather than never.
        let stranded = threads == 0 ? work.popFirst() : nil
        pthread_mutex_unlock(mutex)
        stranded?()
    }

    private func serve() {
        while let body = take() { body() }
    }

    /// Waits for work; `nil` when the thread shall end.
    private func take() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        deadline.tv_sec += Self.idleSeconds
        while true {
            if let body = work.popFirst() { return body }
            idleThreads += 1
            let result = pthread_cond_timedwait(condition, mutex, &deadline)
            idleThreads -= 1
            if result == ETIMEDOUT, work.isEmpty {
                threads -= 1
                return nil
            }
        }
    }
}
