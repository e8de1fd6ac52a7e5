import CLoadingKitShims
import DequeModule
import Glibc
import LoadingKitPrimitives
import Synchronization

/// One thread, one epoll instance, a heap of timers, and an inbox. The thread is woken by an eventfd, which is written
/// only while the thread waits.
///
/// One thread at a time runs on the loop: the one that has its ``LoopTurn``. This is the loop's own thread, except
/// while it waits for events. During that time another thread may take the turn for one piece of work
/// (``perform(lendsThread:_:)``).
///
/// The loop is a serial executor, so actors can run on it. Tasks run on it through ``executor``.
///
/// The cooperation of the parts, and the effect of each optimisation, are described in `EventLoopInside.md` in the
/// documentation catalogue.
package final class EventLoop: SerialExecutor, @unchecked Sendable {  // inbox: a lock; rest: the thread with the turn
    enum Work: @unchecked Sendable {  // closures from other threads are @Sendable; others never leave the loop
        case closure(() -> Void)
        /// A closure that no other thread runs in the loop's turn.
        case ownThreadClosure(() -> Void)
        /// A job of an actor.
        case job(UnownedJob)
        /// A job of a task that prefers the loop and is not isolated.
        case taskJob(UnownedJob)
    }

    enum Phase {
        case running, stopping, ended
    }

    /// The state that other threads share with the loop's thread.
    struct Inbox {
        var work: Deque<Work> = []
        var phase = Phase.running
        var turn = LoopTurn.loopsThread
        var eventDescriptor: Int32 = -1
        var thread: NativeThread?
        /// Whether a test makes system calls fail. Only the loop's own thread has the plan.
        var hasFaultPlan = false
    }

    package let executor = LoopExecutor()
    /// The thread's name, for debuggers.
    package let name: String
    /// A buffer of 64 KiB for the code on the loop. Its contents are valid until the code returns to the loop.
    package let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 64)
    /// Room for the content of one TLS record that is put together. On the loop only.
    let recordBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSRecord.longestContent, alignment: 64)
    /// Room for 16 TLS records that are sent together. On the loop only.
    let gatheringBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * TLSRecord.longest, alignment: 64)
    /// The time at which the loop woke up last. On the loop only.
    package var now: MonotonicTime { wakeUpTime }
    /// Other modules read it by ``now``, a function of this one: exclusive access to a stored property is checked there.
    var wakeUpTime: MonotonicTime {
        get { timeCell.pointee }
        set { timeCell.pointee = newValue }
    }
    /// The place of ``now``, for code that cannot afford a call of a function. On the loop only, while the loop is there.
    package var nowPointer: UnsafePointer<MonotonicTime> { UnsafePointer(timeCell) }
    private let timeCell = UnsafeMutablePointer<MonotonicTime>.allocate(capacity: 1)
    /// Whether the events that the system had at the beginning of this turn are all handled. Never in another thread's
    /// turn, which begins without asking the system for events.
    @exclusivity(unchecked) var hasHandledEvents = false
    /// The number of turns, up to the last one, that had as many events as the loop takes at once, and ran no timers.
    @exclusivity(unchecked) var fullTurns = 0

    /// The process's idle connections, among which the loop's connections are counted while they are idle.
    package let idleConnections: IdleConnections

    let time: TimeSource
    let inbox = Guarded(Inbox())
    /// Held by the thread that runs on the loop.
    let turnLock = Guarded<Void>(())
    /// Whether another thread may find the turn free. A hint: a failed attempt to lock costs a system call.
    let mayBeFree = Atomic<Bool>(false)
    // Exclusive access is not checked for a property that is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    /// The time until which the loop's thread waits unless it is woken.
    @exclusivity(unchecked) var waitsUntil = MonotonicTime.distantFuture
    @exclusivity(unchecked) var ready: Deque<Work> = []
    /// Whether there may be memory for much work in ``ready``.
    @exclusivity(unchecked) var hasMuchMemory = false
    /// The work of the next turn, behind its events and timers.
    @exclusivity(unchecked) var nextTurn: Deque<Work> = []
    /// Whether bulk work has used its share of this turn. Sockets and timers are next.
    @exclusivity(unchecked) var isShareUsed = false
    let outbox = Outbox()
    /// Whether the thread that has taken the turn may be used once more afterwards (``borrowThread(_:)``).
    @exclusivity(unchecked) var isThreadLent = false
    /// The work that this thread runs as soon as it has given back the turn.
    @exclusivity(unchecked) var borrower: (@Sendable () -> Void)?
    var faultPlan: FaultPlan?
    var epollDescriptor: Int32 = -1
    let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: maximumEvents)
    @exclusivity(unchecked) var timers = TimerHeap()  // consistent whenever it calls other objects
    /// The time of a deadline that was unscheduled. The loop still wakes up at this time. Otherwise each of several
    /// requests in a row, in other threads' turns and with the same timeout, would have to wake the loop to shorten its
    /// wait.
    @exclusivity(unchecked) var unscheduledTime = MonotonicTime(nanoseconds: 0)
    var sources = EventSourceTable()

    /// Makes a separate loop, which runs until ``stop()``.
    package init(name: String, time: TimeSource = .system, idleConnections: IdleConnections = .shared) {
        Self.checkProcess()
        lk_watch_forks()
        self.name = name
        self.idleConnections = idleConnections
        self.time = time
        timeCell.initialize(to: time.now)
        executor.attach(to: self)
        openDescriptors()
        if case .manual(let manual) = time { manual.attach(self) }
        // The system may be unable to create a thread now. The first work submitted to the loop tries again.
        inbox.withLock { startThread(&$0) }
    }

    deinit {
        // The descriptor is closed only here, because another thread may be about to wake the loop with it.
        let event = inbox.withLock { $0.eventDescriptor }
        if event >= 0 { SystemCalls.close(event) }
        timeCell.deallocate()
        scratch.deallocate()
        recordBuffer.deallocate()
        gatheringBuffer.deallocate()
        events.deallocate()
    }

    /// Whether the events of all sockets, as they were less than a millisecond ago, have been handled. On the loop only.
    var hasRecentEvents: Bool { hasHandledEvents && !isTurnLonger(than: 1_000_000) }

    /// The current time instead of the time of the last wake-up, for measurements. On the loop only.
    package var currentTime: MonotonicTime {
        switch time {
        case .system: time.now
        case .manual: now
        }
    }

    // MARK: Submitting work

    /// Whether the calling thread is this loop's, or has taken its turn.
    @inline(__always)
    package var isCurrent: Bool { lk_thread_event_loop() == Unmanaged.passUnretained(self).toOpaque() }

    /// Traps if the calling thread is not this loop's.
    package func preconditionCurrent() {
        precondition(isCurrent, "this may only be called on the event loop \(name)")
    }

    /// Runs `work` on the loop, after work submitted earlier. From any thread.
    package func execute(_ work: @escaping @Sendable () -> Void) { submit(.closure(work)) }

    /// Runs `work` in the loop's own thread, after work submitted earlier. For the program's code, which may wait for a
    /// lock that another thread holds while it takes the turn. From any thread.
    package func executeOnOwnThread(_ work: @escaping @Sendable () -> Void) { submit(.ownThreadClosure(work)) }

    /// Runs `work` on the loop, after the work that is running now. On the loop only.
    package func executeLater(_ work: @escaping () -> Void) {
        preconditionCurrent()
        ready.append(.closure(work))
    }

    /// Runs `work` in the next turn, so that sockets, timers and the work of other threads have their turn before. On
    /// the loop only.
    package func executeInNextTurn(_ work: @escaping () -> Void) {
        preconditionCurrent()
        nextTurn.append(.closure(work))
    }

    /// Does bulk work one piece at a time, for a short time in each turn, so that the loop's other work does not wait
    /// for all of it. On the loop only.
    ///
    /// - Parameter piece: does the next piece, and returns whether there may be more.
    package func executeInShares(_ piece: @escaping () -> Bool) {
        preconditionCurrent()
        // Always measured by the system's clock: a test's clock stands still meanwhile.
        let end = TimeSource.system.now.advanced(byNanoseconds: Self.longestShare)
        while piece() {
            guard TimeSource.system.now < end else {
                isShareUsed = true
                return executeLater { self.executeInShares(piece) }
            }
        }
    }

    /// Runs `work` after all other work of this turn. If `work` wakes other threads, all wake-ups happen in one burst,
    /// and each thread finds more than one thing to do. On the loop only.
    package func executeAtEndOfTurn(_ work: @escaping () -> Void) { outbox.append(work) }

    /// Runs `work` at the end of the next turn, before which the loop's thread pauses, so that the turn finds more bytes
    /// to read. Called at the end of a turn.
    package func executeAfterPause(_ work: @escaping () -> Void) { outbox.append(afterPause: work) }

    /// The number of results that tasks on other threads still await. If more results are about to arrive, the loop
    /// delivers several together (``ResultPacing``). On the loop only.
    package var awaitedResults: Int {
        get { outbox.awaitedResults }
        set { outbox.awaitedResults = newValue }
    }

    /// Resumes a task that runs on another thread, at the end of the turn or a moment later. On the loop only.
    package func resumeAtEndOfTurn(_ resume: @escaping @Sendable () -> Void) { outbox.append(resumption: resume) }

    /// Returns `false`, and drops the work, if the loop has ended.
    @discardableResult
    func submit(_ work: Work) -> Bool {
        Self.checkProcess()
        if isCurrent {
            ready.append(work)
            return true
        }
        let (accepted, wakeUp) = inbox.withLock { inbox -> (Bool, Int32) in
            guard inbox.phase != .ended else { return (false, -1) }
            inbox.work.append(work)
            startThread(&inbox)
            return (true, inbox.turn.wakeThreadForWork() ? inbox.eventDescriptor : -1)
        }
        if wakeUp >= 0 { SystemCalls.wakeUp(wakeUp) }
        return accepted
    }

    /// Ends the loop after it has done the work submitted so far, and waits for this, unless it is called on the loop.
    /// Timers that are not due are dropped, as is work submitted later.
    package func stop() {
        Self.checkProcess()
        let (thread, wakeUp) = inbox.withLock { inbox -> (NativeThread?, Int32) in
            guard inbox.phase == .running else { return (nil, -1) }
            inbox.phase = .stopping
            defer { inbox.thread = nil }
            return (inbox.thread, inbox.turn.wakeThreadToEnd() ? inbox.eventDescriptor : -1)
        }
        if wakeUp >= 0 { SystemCalls.wakeUp(wakeUp) }
        if isCurrent { thread?.detach() } else { thread?.join() }
    }

    /// Makes system calls of this loop's thread fail according to `plan`; nil ends this. From any thread, for tests.
    package func attach(_ plan: FaultPlan?) {
        inbox.withLock { $0.hasFaultPlan = plan != nil }
        execute {
            self.faultPlan = plan
            lk_set_thread_fault_plan(plan.map { Unmanaged.passUnretained($0).toOpaque() })
        }
    }
}

// MARK: - The process's loops

extension EventLoop {
    /// Ends this process if it is a child of `fork` whose parent had event loops. Such a child must call `exec`: the
    /// bytes that it sent would become a part of its parent's messages, and it would wait for ever for the loops'
    /// threads, which only the parent has.
    @inline(__always)
    static func checkProcess() { if lk_is_forked() != 0 { endForkedProcess() } }

    @inline(never)
    private static func endForkedProcess() -> Never {
        fatalError("LoadingKit was used before fork(): the child process must call exec")
    }

    /// One loop for each core, at most four.
    private static let shared: [EventLoop] = {
        let cores = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return (0..<min(cores, 4)).map { EventLoop(name: "LoadingKit-\($0)") }
    }()

    /// The number of the loops that the process's sessions share.
    package static var sharedCount: Int { shared.count }

    private static let ticket = Atomic<Int>(0)

    /// One of the process's shared loops, in rotation. They start with the first call and never stop.
    package static func next() -> EventLoop {
        checkProcess()
        let ticket = ticket.wrappingAdd(1, ordering: .relaxed).oldValue
        return shared[Int(UInt(bitPattern: ticket) % UInt(shared.count))]
    }
}

/// Carries a value that is not Sendable through a closure that another thread holds: from the owner that releases the
/// value to the next owner, or away from its event loop and back, without being used in between.
package struct LoopTransfer<Value>: @unchecked Sendable {  // one thread at a time has the value, see above
    package let value: Value

    package init(_ value: Value) { self.value = value }
}
