import DequeModule
import Glibc
import LoadingKitPrimitives

/// Threads for work that blocks. Each kind of work has a pool of its own, so that none waits for another's threads.
///
/// It starts threads as work waits, up to its bound; a thread that had nothing to do for a while ends. At the bound work
/// waits in order.
package final class BlockingPool: @unchecked Sendable {  // all state is guarded by `mutex`
    /// How many threads a pool has, and how much may wait for them.
    package struct Limits: Sendable {
        /// So many threads as long as their work is done quickly.
        package var usualThreads: Int
        /// So many threads where some of them are held up: work that takes longer than `slowAfter` does not count towards
        /// `usualThreads`.
        package var maximumThreads: Int
        /// In nanoseconds.
        package var slowAfter: UInt64
        /// More work than this is refused.
        package var maximumWaiting: Int
        /// Whether all work ends by itself: then work may wait for the threads that there are, where the system has no
        /// further one. Else it is refused: the threads may be waiting for that very work.
        package var endsByItself: Bool
        /// How long a thread without work stays, in nanoseconds.
        package var idleTime: UInt64 = 10_000_000_000

        package init(
            usualThreads: Int, maximumThreads: Int? = nil, slowAfter: UInt64 = .max, maximumWaiting: Int = .max,
            endsByItself: Bool = true
        ) {
            self.usualThreads = max(1, usualThreads)
            self.maximumThreads = max(self.usualThreads, maximumThreads ?? 1)
            self.slowAfter = slowAfter
            self.maximumWaiting = maximumWaiting
            self.endsByItself = endsByItself
        }
    }

    /// Why work is not done.
    package enum Refusal: Error, Sendable, Hashable {
        /// The system has no thread to give, with this `errno`.
        case noThread(errno: Int32)
        /// So much waits already.
        case tooMuchWaits(Int)
    }

    /// What became of work that was given to the pool.
    package enum Acceptance: Sendable, Hashable {
        /// A thread does it, or is about to.
        case begins
        /// All threads that there may be are busy: it begins when one of them is free.
        case waits
    }

    /// Work that was given to a pool, as long as it has not begun.
    package final class Work: @unchecked Sendable {  // the variables are guarded by the mutex of the pool
        fileprivate var body: (@Sendable () -> Void)?
        fileprivate var isQueued = false
        fileprivate let refused: (@Sendable (Refusal) -> Void)?

        /// - Parameter refused: Called instead of `body`, once, where the pool cannot do the work. Without it the work is
        ///   done in any case: by the calling thread, where the pool has no thread at all.
        package init(_ body: @escaping @Sendable () -> Void, orElse refused: (@Sendable (Refusal) -> Void)? = nil) {
            if let plan = FaultPlan.current { self.body = { plan.run(body) } } else { self.body = body }
            self.refused = refused
        }
    }

    /// For this library's own files and stores: work that ends by itself, and runs no code of the program's.
    package static let shared = BlockingPool(name: "LoadingKit-file", Limits(usualThreads: 16))

    /// For code of the program's that may block for as long as it likes, and may wait for loads of its own.
    package static let userCode = BlockingPool(
        name: "LoadingKit-user", Limits(usualThreads: 512, endsByItself: false))

    package let limits: Limits
    private let name: String
    private let time: TimeSource
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var waiting: Deque<Work> = []
    /// How much of what waits was taken back.
    private var cancelled = 0
    private var threads = 0
    private var idleThreads = 0
    /// Threads that have not come to their first work yet.
    private var startingThreads = 0
    /// When each busy thread began its work; kept where ``Limits/slowAfter`` is used.
    private var begins: [Int: MonotonicTime] = [:]
    private var lastNumber = 0

    /// - Parameter name: The threads' name, for debuggers.
    package init(name: String, _ limits: Limits, time: TimeSource = .system) {
        self.name = name
        self.limits = limits
        self.time = time
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

    /// How many threads there are.
    package var threadCount: Int { withMutex { threads } }

    /// How much work waits for a thread.
    package var waitingCount: Int { withMutex { waitingInVain } }

    /// Without what the threads that have nothing to do are about to take.
    private var waitingInVain: Int { max(0, waiting.count - cancelled - idleThreads - startingThreads) }

    private var isTimed: Bool { limits.maximumThreads > limits.usualThreads }

    private func withMutex<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    // MARK: Giving it work

    /// Runs `body` on one of the threads, when one is free.
    package func run(_ body: @escaping @Sendable () -> Void) { run(Work(body)) }

    /// Runs `work` on one of the threads, when one is free.
    @discardableResult
    package func run(_ work: Work) -> Acceptance {
        enum Step {
            case done(Acceptance)
            case wake
            case start
            case refuse(Refusal)
        }
        let step = withMutex { () -> Step in
            guard work.body != nil else { return .done(.begins) }
            if work.refused != nil, waitingInVain >= limits.maximumWaiting {
                work.body = nil
                return .refuse(.tooMuchWaits(limits.maximumWaiting))
            }
            waiting.append(work)
            work.isQueued = true
            if waitingInVain == 0 { return .wake }
            guard mayStartThread() else { return .done(.waits) }
            noteStart()
            return .start
        }
        // After the mutex is free: the thread that wakes would wait for it otherwise.
        switch step {
        case .done(let acceptance): return acceptance
        case .wake: pthread_cond_signal(condition)
        case .start: startThread(for: work)
        case .refuse(let refusal): work.refused?(refusal)
        }
        return .begins
    }

    /// Runs `body` at once, unless the calling thread runs an event loop: then on one of the threads.
    package func runOffLoop(_ body: @escaping @Sendable () -> Void) {
        if EventLoop.hasCallingThread { run(Work(body, orElse: { _ in body() })) } else { body() }
    }

    /// What `body` gives, which runs on one of the threads.
    package func result<Value: Sendable>(of body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Value, any Error>) in
            run { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Takes work back. False where it has begun, or was refused.
    @discardableResult
    package func cancel(_ work: Work) -> Bool {
        let body = withMutex { () -> (@Sendable () -> Void)? in
            guard let body = work.body.take() else { return nil }
            guard work.isQueued else { return body }
            cancelled += 1
            // All at once, now and then: to search for one of many takes long.
            if cancelled > waiting.count / 2 { removeCancelled() }
            return body
        }
        return body != nil
    }

    /// Starts threads for what waits where all others are held up by slow work. Gives whether something still waits.
    ///
    /// Called by the owners of what waits: the pool has no clock of its own.
    package func lookAfterWaiting() -> Bool {
        while let work = withMutex({ firstToStart() }), startThread(for: work) {}
        return waitingCount > 0
    }

    private func firstToStart() -> Work? {
        if cancelled > 0 { removeCancelled() }
        guard waitingInVain > 0, let first = waiting.first, mayStartThread() else { return nil }
        noteStart()
        return first
    }

    private func noteStart() {
        threads += 1
        startingThreads += 1
    }

    private func removeCancelled() {
        waiting.removeAll { $0.body == nil }
        cancelled = 0
    }

    private func mayStartThread() -> Bool {
        if threads < limits.usualThreads { return true }
        guard threads < limits.maximumThreads else { return false }
        let now = time.now
        let slow = begins.values.count { $0.advanced(byNanoseconds: limits.slowAfter) <= now }
        return threads - slow < limits.usualThreads
    }

    // MARK: Threads

    @discardableResult
    private func startThread(for work: Work) -> Bool {
        switch NativeThread.start(name: name, { self.serve() }) {
        case .success(let thread):
            thread.detach()
            return true
        case .failure(let failure):
            threadDidNotStart(for: work, failure.code)
            return false
        }
    }

    private func threadDidNotStart(for work: Work, _ code: Int32) {
        let stranded = withMutex { () -> [(Work, @Sendable () -> Void)] in
            threads -= 1
            startingThreads -= 1
            let works: [Work]
            if threads == 0 {
                // All that waits: there is no thread that would take it.
                works = Array(waiting)
            } else if !limits.endsByItself, work.refused != nil {
                works = [work]
            } else {
                return []
            }
            let stranded = works.compactMap { work in work.body.take().map { (work, $0) } }
            removeCancelled()
            return stranded
        }
        for (work, body) in stranded {
            if let refused = work.refused { refused(.noThread(errno: code)) } else { body() }
        }
    }

    private func serve() {
        var number: Int?
        while let body = take(&number) { body() }
    }

    /// Waits for work; nil when the thread shall end.
    ///
    /// - Parameter ownNumber: The thread's, which it gets here.
    private func take(_ ownNumber: inout Int?) -> (@Sendable () -> Void)? {
        withMutex {
            let number = ownNumber ?? nextNumber()
            ownNumber = number
            if isTimed { begins[number] = nil }
            var deadline = timespec()
            clock_gettime(CLOCK_MONOTONIC, &deadline)
            let nanoseconds = UInt64(clamping: deadline.tv_nsec) + limits.idleTime % 1_000_000_000
            deadline.tv_sec += Int(clamping: limits.idleTime / 1_000_000_000 + nanoseconds / 1_000_000_000)
            deadline.tv_nsec = Int(clamping: nanoseconds % 1_000_000_000)
            while true {
                if let body = takeFirst() {
                    if isTimed { begins[number] = time.now }
                    return body
                }
                idleThreads += 1
                let result = pthread_cond_timedwait(condition, mutex, &deadline)
                idleThreads -= 1
                if result == ETIMEDOUT, waiting.count == cancelled {
                    threads -= 1
                    return nil
                }
            }
        }
    }

    private func nextNumber() -> Int {
        startingThreads -= 1
        lastNumber &+= 1
        return lastNumber
    }

    private func takeFirst() -> (@Sendable () -> Void)? {
        while let work = waiting.popFirst() {
            if let body = work.body.take() { return body }
            cancelled -= 1
        }
        return nil
    }
}

extension BlockingPool.Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noThread(let code): "the system has no thread for it (\(SystemCalls.text(ofError: code)))"
        case .tooMuchWaits(let count): "\(count) others wait already"
        }
    }
}
