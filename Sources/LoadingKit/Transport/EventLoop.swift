import CLoadingKitShims
import DequeModule
import Glibc
import LoadingKitPrimitives
import Synchronization

/// One thread, one epoll instance, a heap of timers, and an inbox woken by an eventfd that is written only when the
/// loop sleeps.
///
/// Who runs on the loop has its turn, and there is one: the loop's thread has it but for when it waits. Then another
/// thread may take it for one piece of work (``perform(_:)``), which costs less than to wake the loop.
///
/// It is a serial executor, so that actors can live on it; tasks do by its ``executor``.
package final class EventLoop: SerialExecutor, @unchecked Sendable {  // inbox: a lock; rest: who has the turn
    enum Work: @unchecked Sendable {  // closures from other threads are @Sendable; others never leave the loop
        case closure(() -> Void)
        /// Of an actor.
        case job(UnownedJob)
        /// Of a task that prefers the loop and is isolated to nothing.
        case taskJob(UnownedJob)
    }

    private enum Phase {
        case running, stopping, ended
    }

    private struct Inbox {
        var work: Deque<Work> = []
        var phase = Phase.running
        /// Whether the loop waits, or is about to, and has to be woken.
        var sleeps = false
        /// Whether another thread has the turn, which looks here once more before it gives it back.
        var isTaken = false
        var eventDescriptor: Int32 = -1
        var thread: NativeThread?
        /// Whether system calls are to go wrong, which is known to the loop's thread alone.
        var hasFaultPlan = false
    }

    /// Where tasks run that prefer the loop.
    package let executor = LoopExecutor()
    /// The thread's name, for debuggers.
    package let name: String
    /// 64 KiB for whoever runs on the loop, until it returns to the loop.
    package let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 64)
    /// Room for one TLS record that is put together. On the loop only.
    let recordBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: TLSSession.maximumRecord, alignment: 64)
    /// The time at which the loop woke up last. On the loop only.
    package private(set) var now: MonotonicTime

    /// Among which its connections count when they are idle.
    package let idleConnections: IdleConnections

    private let time: TimeSource
    private let inbox = Guarded(Inbox())
    /// Had by whoever runs on the loop.
    private let turn = Guarded<Void>(())
    /// Whether another thread may find the turn free. A hint: it costs a system call to try for what somebody has.
    private let isFree = Atomic<Bool>(false)
    /// When a deadline that was unscheduled would have come. The loop wakes up then all the same: requests that follow each
    /// other in other threads' turns, each with the same timeout, would have to wake it each to have it wait less long.
    private var unscheduledTime = MonotonicTime(nanoseconds: 0)
    /// Until when the loop's thread waits, unless it is woken.
    private var waitsUntil = MonotonicTime.distantFuture
    private var ready: Deque<Work> = []
    /// Whether bulk work has had its share of this turn: sockets and timers come next.
    private var isShareUsed = false
    private let outbox = Outbox()
    /// Whether the thread that has taken the turn may be borrowed, and by what it was.
    private var isThreadLent = false
    private var borrowed: (@Sendable () -> Void)?
    private var faultPlan: FaultPlan?
    private var epollDescriptor: Int32 = -1
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: maximumEvents)
    @exclusivity(unchecked) var timers = TimerHeap()  // calls nobody before it is consistent
    var sources = EventSourceTable()

    /// Taken at once, and told of at once: with more, what was received for the first of them has left the processor's cache
    /// when they are told.
    private static let maximumEvents = 64
    /// After so many pieces of work the loop looks at its sockets and timers again.
    private static let maximumTurns = 1024
    /// So does it after so many nanoseconds, which it looks at after each few pieces. Less costs more than it brings: a thread
    /// that the system holds up for a while has its turn cut.
    private static let longestTurn: UInt64 = 10_000_000
    private static let piecesBetweenLooks = 32
    /// Timers that are due together, and a session's bulk work, have so many nanoseconds of a turn.
    private static let longestShare: UInt64 = 1_000_000
    /// After so many another thread, which has work of its own, leaves the rest to the loop's.
    private static let maximumTurnsInPlace = 32
    /// The epoll data of the loop's own eventfd; no slot has this number.
    static let wakeUpToken = UInt64.max

    /// A loop of one's own, which runs until ``stop()``.
    package init(name: String, time: TimeSource = .system, idleConnections: IdleConnections = .shared) {
        self.name = name
        self.idleConnections = idleConnections
        self.time = time
        now = time.now
        executor.attach(to: self)
        openDescriptors()
        if case .manual(let manual) = time { manual.attach(self) }
        // The system may have no thread to give right now. Then the first work given to the loop asks again.
        inbox.withLock { startThread(&$0) }
    }

    deinit {
        // Not before: somebody may be about to wake the loop with it.
        let event = inbox.withLock { $0.eventDescriptor }
        if event >= 0 { SystemCalls.close(event) }
        scratch.deallocate()
        recordBuffer.deallocate()
        events.deallocate()
    }

    /// The time as it is, not as it was at the last wake-up; for what is measured. On the loop only.
    package var currentTime: MonotonicTime {
        switch time {
        case .system: time.now
        case .manual: now
        }
    }

    // MARK: Giving it work

    /// Whether the calling thread is this loop's, or has taken its turn.
    @inline(__always)
    package var isCurrent: Bool {
        lk_thread_event_loop() == Unmanaged.passUnretained(self).toOpaque()
    }

    /// Traps when the calling thread is not this loop's.
    package func preconditionCurrent() {
        precondition(isCurrent, "this may only be called on the event loop \(name)")
    }

    /// Runs `work` on the loop, after the work given to it before. From any thread.
    package func execute(_ work: @escaping @Sendable () -> Void) { submit(.closure(work)) }

    /// Runs `work` on the loop, after the work given to it before: at once, in the calling thread, when the loop waits with
    /// nothing to do. From any thread.
    ///
    /// - Parameter lendsThread: whether the caller will wait for what `work` brings about anyhow, so that the thread may be
    ///   used for it: see ``borrowThread(_:)``.
    package func perform(lendsThread: Bool = false, _ work: @escaping @Sendable () -> Void) {
        if !runsInPlace(work, lendsThread: lendsThread) { submit(.closure(work)) }
    }

    /// Runs `work` off the loop, in the thread that runs on it now, as soon as that has given the turn back. False, and
    /// nothing is run, where the thread was not lent. On the loop only.
    package func borrowThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        guard isThreadLent else { return false }
        isThreadLent = false
        borrowed = work
        return true
    }

    /// Runs `work` on the loop, after what runs now. On the loop only.
    package func executeLater(_ work: @escaping () -> Void) {
        preconditionCurrent()
        ready.append(.closure(work))
    }

    /// Does bulk work a piece at a time, for a short while in each turn, so that nothing else on the loop waits for all of
    /// it. On the loop only.
    ///
    /// - Parameter piece: does the next piece, and says whether there may be more.
    package func executeInShares(_ piece: @escaping () -> Bool) {
        preconditionCurrent()
        // By the system's clock in any case: a time that stands still says nothing of how long others wait.
        let end = TimeSource.system.now.advanced(byNanoseconds: Self.longestShare)
        while piece() {
            guard TimeSource.system.now < end else {
                isShareUsed = true
                return executeLater { self.executeInShares(piece) }
            }
        }
    }

    /// Runs `work` when all that this turn of the loop brings is done. Waking other threads then, in one burst, lets each
    /// of them find more than one thing to do. On the loop only.
    package func atEndOfTurn(_ work: @escaping () -> Void) { outbox.append(work) }

    /// Resumes a task that runs elsewhere, when the turn ends or a little later. On the loop only.
    package func resumeAtEndOfTurn(_ resume: @escaping @Sendable () -> Void) { outbox.append(resumption: resume) }

    /// How many results tasks still wait for. On the loop only.
    package var awaitedResults: Int {
        get { outbox.awaitedResults }
        set { outbox.awaitedResults = newValue }
    }

    /// `false`, and the work is dropped, when the loop has ended.
    @discardableResult
    func submit(_ work: Work) -> Bool {
        if isCurrent {
            ready.append(work)
            return true
        }
        let (accepted, wakeUp) = inbox.withLock { inbox -> (Bool, Int32) in
            guard inbox.phase != .ended else { return (false, -1) }
            inbox.work.append(work)
            startThread(&inbox)
            guard inbox.sleeps, !inbox.isTaken else { return (true, -1) }
            inbox.sleeps = false
            return (true, inbox.eventDescriptor)
        }
        if wakeUp >= 0 { SystemCalls.wakeUp(wakeUp) }
        return accepted
    }

    /// Ends the loop when it has done the work it was given; waits for that, unless it is called on the loop. Timers
    /// that are not due are dropped. Work given to it later is dropped, too.
    package func stop() {
        let (thread, wakeUp) = inbox.withLock { inbox -> (NativeThread?, Int32) in
            guard inbox.phase == .running else { return (nil, -1) }
            inbox.phase = .stopping
            defer { inbox.thread = nil }
            let wakeUp = inbox.sleeps ? inbox.eventDescriptor : -1
            inbox.sleeps = false
            return (inbox.thread, wakeUp)
        }
        if wakeUp >= 0 { SystemCalls.wakeUp(wakeUp) }
        if isCurrent { thread?.detach() } else { thread?.join() }
    }

    /// Makes system calls of this loop's thread go wrong by `plan`, or well again. From any thread, by tests.
    package func attach(_ plan: FaultPlan?) {
        inbox.withLock { $0.hasFaultPlan = plan != nil }
        execute {
            self.faultPlan = plan
            lk_set_thread_fault_plan(plan.map { Unmanaged.passUnretained($0).toOpaque() })
        }
    }

    // MARK: The thread

    private func startThread(_ inbox: inout Inbox) {
        guard inbox.thread == nil, inbox.phase == .running else { return }
        inbox.thread = try? NativeThread.start(name: name) { self.run() }.get()
    }

    private func run() {
        lk_set_thread_event_loop(Unmanaged.passUnretained(self).toOpaque())
        lk_set_thread_timer_slack(1000)
        var milliseconds = turn.withLock { _ in prepareToWait() }
        while let limit = milliseconds {
            if outbox.isPausing { SystemCalls.pause(nanoseconds: ResultPacing.pause) }
            let count = wait(limit)
            isFree.store(false, ordering: .relaxed)
            inbox.withLock { $0.sleeps = false }
            milliseconds = turn.withLock { _ in
                runTurn(count)
                return prepareToWait()
            }
        }
        turn.withLock { _ in end() }
    }

    private func runTurn(_ count: Int) {
        // Manual time moves only when its timers run, so that each of them sees its own.
        now = currentTime
        takeInbox()
        for index in 0..<max(count, 0) { dispatch(events[index]) }
        runTimers(upTo: now)
        runReady()
        outbox.endTurn(now: now, mayPause: isRealTime)
    }

    private var isRealTime: Bool {
        if case .system = time { true } else { false }
    }

    /// How long to wait: -1 for ever, 0 when there is work; `nil` when the loop shall end.
    private func prepareToWait() -> Int32? {
        inbox.withLock { inbox in
            if !inbox.work.isEmpty || hasWork { return 0 }
            if inbox.phase == .stopping {
                inbox.phase = .ended
                return nil
            }
            let milliseconds = millisecondsToNextTimer()
            waitsUntil = nextWakeUp
            // Without a descriptor to wake it with, the loop looks by itself.
            inbox.sleeps = milliseconds != 0 && epollDescriptor >= 0
            isFree.store(inbox.sleeps && !outbox.isCrowded, ordering: .relaxed)
            return milliseconds
        }
    }

    private var hasWork: Bool { !ready.isEmpty || !outbox.isEmpty }

    /// When the loop wakes up by itself.
    private var nextWakeUp: MonotonicTime {
        let next = timers.nextTime ?? .distantFuture
        return unscheduledTime > now ? min(next, unscheduledTime) : next
    }

    private func millisecondsToNextTimer() -> Int32 {
        let next = nextWakeUp
        guard next != .distantFuture else { return -1 }
        switch time {
        case .manual: return next <= now ? 0 : -1
        case .system:
            let nanoseconds = next.nanoseconds(since: now)
            // Rounded up: an early wake-up would find nothing due and spin.
            return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
        }
    }

    private func wait(_ milliseconds: Int32) -> Int {
        if epollDescriptor < 0 {
            openDescriptors()
            // No descriptors to be had: look at the inbox now and then, and try again. With new ones, too, the inbox comes
            // first: who gave work meanwhile had nothing to wake the loop with.
            if epollDescriptor < 0, milliseconds != 0 { SystemCalls.pause(nanoseconds: 10_000_000) }
            return 0
        }
        return SystemCalls.epollWait(epollDescriptor, events, Int32(Self.maximumEvents), milliseconds: milliseconds)
    }

    private func takeInbox() {
        inbox.withLock { inbox in
            if ready.isEmpty {
                swap(&ready, &inbox.work)
            } else {
                ready.append(contentsOf: inbox.work)
                inbox.work.removeAll(keepingCapacity: true)
            }
        }
    }

    private func dispatch(_ event: epoll_event) {
        // The eventfd is edge-triggered: it need not be read.
        guard event.data.u64 != Self.wakeUpToken, let source = sources[event.data.u64] else { return }
        source.handle(events: event.events)
    }

    private func runReady() {
        var turns = Self.maximumTurns
        while turns > 0, !isShareUsed, let work = ready.popFirst() {
            turns -= 1
            if turns % Self.piecesBetweenLooks == 0, hasTaken(Self.longestTurn) { turns = 0 }
            switch work {
            case .closure(let body): body()
            case .job(let job):
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: executor.asUnownedTaskExecutor())
            case .taskJob(let job):
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            }
        }
        isShareUsed = false
    }

    /// Whether the turn has taken longer than so many nanoseconds.
    private func hasTaken(_ nanoseconds: UInt64) -> Bool {
        isRealTime && currentTime.nanoseconds(since: now) > nanoseconds
    }

    private func openDescriptors() {
        let epoll = SystemCalls.epollCreate()
        guard epoll >= 0 else { return }
        let event = SystemCalls.eventfd()
        let events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard event >= 0,
            SystemCalls.epollAdd(Int32(epoll), Int32(event), events: events, data: Self.wakeUpToken) == 0
        else {
            if event >= 0 { SystemCalls.close(Int32(event)) }
            SystemCalls.close(Int32(epoll))
            return
        }
        epollDescriptor = Int32(epoll)
        inbox.withLock { $0.eventDescriptor = Int32(event) }
    }

    private func end() {
        let dropped = timers.removeAll()
        for case let timer as LoopTimer in dropped { timer.cancel() }
        lk_set_thread_fault_plan(nil)
        faultPlan = nil
        if epollDescriptor >= 0 { SystemCalls.close(epollDescriptor) }
        epollDescriptor = -1
        lk_set_thread_event_loop(nil)
    }
}

// MARK: - Turns of other threads

extension EventLoop {
    /// Whether `work` was run here and now.
    private func runsInPlace(_ work: () -> Void, lendsThread: Bool) -> Bool {
        guard isFree.load(ordering: .relaxed), lk_thread_event_loop() == nil else { return false }
        let after = turn.withLockIfAvailable { _ -> AfterTurn? in
            guard !outbox.isCrowded, takesTurn() else { return nil }
            isFree.store(false, ordering: .relaxed)
            lk_set_thread_event_loop(Unmanaged.passUnretained(self).toOpaque())
            now = currentTime
            // Once: what is borrowed may borrow in turn, and that way exhaust the stack.
            isThreadLent = lendsThread && lk_thread_is_borrowed() == 0
            work()
            isThreadLent = false
            let wakeUp = finishInPlace()
            lk_set_thread_event_loop(nil)
            isFree.store(true, ordering: .relaxed)
            return AfterTurn(wakeUp: wakeUp, borrowed: borrowed.take())
        }
        guard let after = after ?? nil else { return false }
        if after.wakeUp >= 0 { SystemCalls.wakeUp(after.wakeUp) }
        if let borrowed = after.borrowed {
            lk_set_thread_is_borrowed(1)
            borrowed()
            lk_set_thread_is_borrowed(0)
        }
        return true
    }

    /// What is left to the thread that had the turn: nobody should have to wait for that.
    private struct AfterTurn: Sendable {
        /// The descriptor to wake the loop with; -1 when it need not be woken.
        let wakeUp: Int32
        let borrowed: (@Sendable () -> Void)?
    }

    /// Only where the loop has nothing to do: what was given to it before comes first.
    private func takesTurn() -> Bool {
        inbox.withLock { inbox in
            inbox.isTaken = inbox.sleeps && inbox.work.isEmpty && inbox.phase == .running && !inbox.hasFaultPlan
            return inbox.isTaken
        }
    }

    /// Does what `work`, and other threads meanwhile, left to be done, short of running tasks, which may be anybody's. The
    /// rest is for the loop's thread: gives the descriptor to wake it with, or -1.
    private func finishInPlace() -> Int32 {
        var turns = Self.maximumTurnsInPlace
        while true {
            while turns > 0, !isShareUsed, case .closure(let body)? = ready.first {
                turns -= 1
                ready.removeFirst()
                body()
            }
            if ready.isEmpty { outbox.tell() }
            if isShareUsed { turns = 0 }
            if let wakeUp = giveTurnBack(unlessWorkFor: turns) {
                isShareUsed = false
                return wakeUp
            }
        }
    }

    /// `nil` where there is more to do, and time for it.
    private func giveTurnBack(unlessWorkFor turns: Int) -> Int32? {
        let isLate = timers.nextTime.map { $0 < waitsUntil } ?? false
        return inbox.withLock { inbox in
            if turns > 0, ready.isEmpty, !inbox.work.isEmpty {
                swap(&ready, &inbox.work)
                return nil
            }
            inbox.isTaken = false
            guard inbox.sleeps, hasWork || isLate || !inbox.work.isEmpty else { return -1 }
            inbox.sleeps = false
            return inbox.eventDescriptor
        }
    }
}

// MARK: - Timers

extension EventLoop {
    /// Runs `work` at `time` (as soon as possible, when that has passed). On the loop only.
    package func schedule(at time: MonotonicTime, _ work: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(loop: self, work: work)
        schedule(timer, at: time)
        return timer
    }

    /// Calls `deadline` at `time` (as soon as possible, when that has passed), and not at the time that was set before. Holds
    /// it until then. On the loop only.
    package func schedule(_ deadline: LoopDeadline, at time: MonotonicTime) {
        assert(isCurrent)
        if deadline.isScheduled { timers.remove(deadline) }
        timers.insert(deadline, at: time)
    }

    /// Does not call `deadline`, and lets go of it. On the loop only.
    package func unschedule(_ deadline: LoopDeadline) {
        assert(isCurrent)
        guard deadline.isScheduled, let next = timers.nextTime else { return }
        if unscheduledTime <= now || next < unscheduledTime { unscheduledTime = next }
        timers.remove(deadline)
    }

    /// Runs the timers that are due at `limit`, in order; or some of them, where they take long. When the clock was moved by
    /// a test, each of them sees its own time.
    func runTimers(upTo limit: MonotonicTime) {
        // A timer that is set again for a time that has passed waits for the next turn.
        let sequence = limit > now ? .max : timers.nextSequence
        var count = 0
        while let due = timers.popDue(limit, before: sequence) {
            now = max(now, due.time)
            due.deadline.deadlineDidPass()
            count += 1
            if count % Self.piecesBetweenLooks == 0, hasTaken(Self.longestShare) { break }
        }
        now = max(now, limit)
    }
}

// MARK: - Descriptors

extension EventLoop {
    /// Watches a descriptor for all events, edge-triggered, until it is closed. On the loop only.
    /// Gives the token of the source, or a negated `errno`.
    func register(_ descriptor: Int32, _ source: any EventSource) -> Result<UInt64, SystemCallFailure> {
        assert(isCurrent)
        guard epollDescriptor >= 0 else { return .failure(SystemCallFailure(name: .epollCreate, code: EMFILE)) }
        let token = sources.insert(source)
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        let result = SystemCalls.epollAdd(epollDescriptor, descriptor, events: events, data: token)
        guard result >= 0 else {
            sources.remove(token)
            return .failure(SystemCallFailure(name: .epollControl, code: Int32(-result)))
        }
        return .success(token)
    }
}
