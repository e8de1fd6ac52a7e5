import DequeModule
import Glibc

/// Threads for blocking work. Each kind of work has its own pool, so that no work waits for the threads of another
/// kind.
///
/// The pool starts threads while work waits, up to its limit. At the limit, work waits in order. A thread that has been
/// idle for some time ends. The thread that became idle last takes the next work, so that after a peak the other threads
/// stay idle, and end.
package final class BlockingPool: @unchecked Sendable {  // all state is guarded by `mutex`
    package struct Limits: Sendable {
        package var threads: Int
        /// The limit of waiting work. Further work is refused.
        package var maximumWaiting: Int
        /// Whether all work ends by itself. If so, work may wait for the existing threads when the system cannot create
        /// another one. Otherwise the work is refused, because the threads may be waiting for it.
        package var endsByItself: Bool
        /// The time for which an idle thread is kept, in nanoseconds.
        package var idleTime: UInt64 = 10_000_000_000

        package init(threads: Int, maximumWaiting: Int = .max, endsByItself: Bool = true) {
            self.threads = max(1, threads)
            self.maximumWaiting = maximumWaiting
            self.endsByItself = endsByItself
        }
    }

    package enum Refusal: Error, Sendable, Hashable {
        case noThread(errno: Int32)
        case tooMuchWaits(Int)
    }

    /// The state of work after its submission to the pool.
    package enum Acceptance: Sendable, Hashable {
        /// A thread does the work, or is about to.
        case begins
        /// All allowed threads are busy. The work begins when one of them is free.
        case waits
    }

    /// Submitted work that has not begun.
    package final class Work: @unchecked Sendable {  // the variables are guarded by the mutex of the pool
        /// The submitter's closures. They may hold the program's objects, whose release runs the program's code, so they
        /// are never released with the mutex held.
        fileprivate struct Actions: Sendable {
            let body: @Sendable () -> Void
            let refused: (@Sendable (Refusal) -> Void)?
        }

        /// Nil when the work has begun, or was cancelled or refused.
        fileprivate var actions: Actions?
        fileprivate var isQueued = false

        /// - Parameter refused: Called once instead of `body` if the pool cannot do the work. Without it the work is
        ///   always done: by the calling thread if the pool has no thread at all.
        package init(_ body: @escaping @Sendable () -> Void, orElse refused: (@Sendable (Refusal) -> Void)? = nil) {
            let planned: @Sendable () -> Void
            if let plan = FaultPlan.current { planned = { plan.run(body) } } else { planned = body }
            actions = Actions(body: planned, refused: refused)
        }
    }

    /// For this library's own files and stores: work that ends by itself, and does not run the program's code.
    package static let shared = BlockingPool(name: "LoadingKit-file", Limits(threads: 16))

    /// For the program's code that may block without limit, and may wait for its own loads.
    package static let userCode = BlockingPool(name: "LoadingKit-user", Limits(threads: 512, endsByItself: false))

    /// For the program's answers to challenges and its look-ups of cookies, for which the threads of ``userCode`` may
    /// be waiting.
    package static let answers = BlockingPool(name: "LoadingKit-answer", Limits(threads: 512, endsByItself: false))

    package let limits: Limits
    private let name: String
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var waiting: Deque<Work> = []
    /// The number of waiting works that were cancelled.
    private var cancelled = 0
    private var threads = 0
    /// The idle threads; the last of them became idle last.
    private var idleThreads: [IdleThread] = []
    /// The number of threads that were started or woken, and have not looked for work yet.
    private var comingThreads = 0

    /// - Parameter name: The threads' name, for debuggers.
    package init(name: String, _ limits: Limits) {
        self.name = name
        self.limits = limits
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package var threadCount: Int { withMutex { threads } }

    package var idleCount: Int { withMutex { idleThreads.count } }

    package var waitingCount: Int { withMutex { waitingInVain } }

    /// The number of waiting works, without those that threads are about to take.
    private var waitingInVain: Int { max(0, waiting.count - cancelled - comingThreads) }

    private func withMutex<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    // MARK: Submitting work

    /// Runs `body` on one of the threads when one is free.
    package func run(_ body: @escaping @Sendable () -> Void) { run(Work(body)) }

    /// Runs `work` on one of the threads when one is free.
    @discardableResult
    package func run(_ work: Work) -> Acceptance {
        enum Step {
            case done(Acceptance)
            case wake(IdleThread)
            case start
            case refuse(Refusal, Work.Actions)
        }
        let step = withMutex { () -> Step in
            guard work.actions != nil else { return .done(.begins) }
            if work.actions?.refused != nil, waitingInVain >= limits.maximumWaiting, let actions = work.actions.take() {
                return .refuse(.tooMuchWaits(limits.maximumWaiting), actions)
            }
            waiting.append(work)
            work.isQueued = true
            // Not left to a thread that is being started, which may fail.
            if let thread = idleThreads.popLast() {
                thread.isWoken = true
                comingThreads += 1
                return .wake(thread)
            }
            if waitingInVain == 0 { return .done(.begins) }
            guard threads < limits.threads else { return .done(.waits) }
            threads += 1
            comingThreads += 1
            return .start
        }
        // Done after the mutex is released, because otherwise the thread that wakes up would wait for it.
        switch step {
        case .done(let acceptance): return acceptance
        case .wake(let thread): thread.wake()
        case .start: startThread(for: work)
        case .refuse(let refusal, let actions): actions.refused?(refusal)
        }
        return .begins
    }

    /// Runs `body` at once, unless the calling thread runs an event loop. In this case it runs on one of the threads.
    package func runOffLoop(_ body: @escaping @Sendable () -> Void) {
        if EventLoop.hasCallingThread { run(Work(body, orElse: { _ in body() })) } else { body() }
    }

    /// The result of `body`, which runs on one of the threads.
    package func result<Value: Sendable>(of body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Value, any Error>) in
            run { continuation.resume(with: Result { try body() }) }
        }
    }

    /// Cancels work. Returns false if it has begun or was refused.
    @discardableResult
    package func cancel(_ work: Work) -> Bool {
        let actions = withMutex { () -> Work.Actions? in
            guard let actions = work.actions.take() else { return nil }
            guard work.isQueued else { return actions }
            cancelled += 1
            // Cancelled works are removed together from time to time, as searching for a single one takes long.
            if cancelled > waiting.count / 2 { removeCancelled() }
            return actions
        }
        return actions != nil
    }

    private func removeCancelled() {
        waiting.removeAll { $0.actions == nil }
        cancelled = 0
    }

    // MARK: Threads

    private func startThread(for work: Work) {
        switch NativeThread.start(name: name, { self.serve() }) {
        case .success(let thread): thread.detach()
        case .failure(let failure): threadDidNotStart(for: work, failure.code)
        }
    }

    private func threadDidNotStart(for work: Work, _ code: Int32) {
        let stranded = withMutex { () -> [Work.Actions] in
            threads -= 1
            comingThreads -= 1
            let works: [Work]
            if threads == 0 {
                // All waiting works: there is no thread that would take them.
                works = Array(waiting)
            } else if !limits.endsByItself, work.actions?.refused != nil {
                works = [work]
            } else {
                return []
            }
            let stranded = works.compactMap { $0.actions.take() }
            removeCancelled()
            return stranded
        }
        for actions in stranded {
            if let refused = actions.refused { refused(.noThread(errno: code)) } else { actions.body() }
        }
    }

    private func serve() {
        let thread = IdleThread()
        while let actions = take(thread) { actions.body() }
    }

    /// Waits for work; nil if the thread must end.
    private func take(_ thread: IdleThread) -> Work.Actions? {
        withMutex {
            while true {
                if thread.isWoken { comingThreads -= 1 }
                thread.isWoken = false
                if let actions = takeFirst() { return actions }
                idleThreads.append(thread)
                thread.wait(mutex, for: limits.idleTime)
                guard thread.isWoken else {
                    idleThreads.removeAll { $0 === thread }
                    threads -= 1
                    return nil
                }
            }
        }
    }

    private func takeFirst() -> Work.Actions? {
        while let work = waiting.popFirst() {
            if let actions = work.actions.take() { return actions }
            cancelled -= 1
        }
        return nil
    }
}

/// A thread of a pool, which waits until the pool wakes it.
private final class IdleThread: @unchecked Sendable {  // `isWoken` is guarded by the pool's mutex
    /// Whether the pool has woken or started the thread, which has not looked for work since.
    var isWoken = true
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
    }

    func wake() { pthread_cond_signal(condition) }

    /// Waits until the pool has woken the thread, or `nanoseconds` are over.
    func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, for nanoseconds: UInt64) {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let part = UInt64(clamping: deadline.tv_nsec) + nanoseconds % 1_000_000_000
        deadline.tv_sec += Int(clamping: nanoseconds / 1_000_000_000 + part / 1_000_000_000)
        deadline.tv_nsec = Int(clamping: part % 1_000_000_000)
        while !isWoken, pthread_cond_timedwait(condition, mutex, &deadline) == 0 {}
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

extension EventLoop {
    /// Performs work that may block on one of the pool's threads, and continues on the loop. On the loop only.
    ///
    /// - Parameter inPlace: Whether the pool's thread may continue, where the loop is free: see ``perform(lendsThread:_:)``.
    package func offload<Value: Sendable>(
        to pool: BlockingPool = .shared, inPlace: Bool = false, _ work: @escaping @Sendable () throws -> Value,
        then next: @escaping (Result<Value, any Error>) -> Void
    ) {
        let next = LoopTransfer(next)
        pool.run {
            let result = Result { try work() }
            if inPlace { self.perform { next.value(result) } } else { self.execute { next.value(result) } }
        }
    }
}
