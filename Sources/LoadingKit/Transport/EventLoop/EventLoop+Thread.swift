import CLoadingKitShims
import DequeModule
import Glibc
import LoadingKitPrimitives

// The work of the loop's own thread: it waits for events, and handles all of them in one turn.
extension EventLoop {
    /// The number of events that are taken with one call, and handled at once. With a larger number, the data received
    /// for the first events would have left the processor's cache before it is delivered.
    static let maximumEvents = 64
    /// The number of pieces of work after which the loop checks its sockets and timers again.
    private static let maximumPieces = 1024
    /// The time after which the loop also checks them, in nanoseconds. It is checked after every few pieces. A shorter
    /// time costs more than it gains: it would cut the turn of a thread that the system suspends for a while.
    private static let longestTurn: UInt64 = 10_000_000
    static let piecesBetweenLooks = 32
    /// The most pieces of work at a time whose memory is kept for further ones.
    private static let mostKeptWork = 4096
    /// The share of a turn for timers that are due together, and for a session's bulk work, in nanoseconds.
    static let longestShare: UInt64 = 1_000_000
    /// The epoll data of the loop's own eventfd; no slot has this number.
    static let wakeUpToken = UInt64.max

    func startThread(_ inbox: inout Inbox) {
        guard inbox.thread == nil, inbox.phase == .running else { return }
        inbox.thread = try? NativeThread.start(name: name) { self.run() }.get()
    }

    private func run() {
        lk_set_thread_event_loop(Unmanaged.passUnretained(self).toOpaque())
        lk_set_thread_timer_slack(1000)
        var milliseconds = turnLock.withLock { _ in prepareToWait() }
        while let limit = milliseconds {
            if outbox.isPausing { SystemCalls.pause(nanoseconds: ResultPacing.pause) }
            let count = wait(limit)
            mayBeFree.store(false, ordering: .relaxed)
            inbox.withLock { $0.turn.threadDidWake() }
            milliseconds = turnLock.withLock { _ in
                runTurn(count)
                return prepareToWait()
            }
        }
        turnLock.withLock { _ in end() }
    }

    private func runTurn(_ count: Int) {
        // Manual time advances only when its timers run, so that each timer sees its own time.
        wakeUpTime = currentTime
        takeWork()
        hasHandledEvents = false
        for index in 0..<max(count, 0) { dispatch(events[index]) }
        hasHandledEvents = count >= 0 && count < Self.maximumEvents && epollDescriptor >= 0
        noteEvents(count)
        if fullTurns == 0 { runTimers(upTo: now) }
        runReady()
        outbox.endTurn(now: now, canPause: isRealTime && !hasReadyWork)
    }

    /// Notes whether the system may have more events from before this turn. Timers wait for them: after a pause of the
    /// whole process, a timeout must not end a load whose bytes have arrived. They do not wait for events that keep
    /// coming: the system reports the descriptors in turn.
    private func noteEvents(_ count: Int) {
        let mayBeMore = count == Self.maximumEvents && fullTurns < sources.count / Self.maximumEvents
        fullTurns = mayBeMore ? fullTurns + 1 : 0
    }

    private var isRealTime: Bool { if case .system = time { true } else { false } }

    /// The time to wait: -1 without limit, 0 if there is work, `nil` if the loop must end.
    private func prepareToWait() -> Int32? {
        inbox.withLock { inbox in
            if !inbox.work.isEmpty || hasWork { return 0 }
            if inbox.phase == .stopping {
                inbox.phase = .ended
                return nil
            }
            let milliseconds = millisecondsToNextTimer()
            waitsUntil = nextWakeUp
            // Without a descriptor that can wake it, the loop checks for work periodically.
            let waits = milliseconds != 0 && epollDescriptor >= 0
            if waits { inbox.turn.threadWillWait() }
            mayBeFree.store(waits && !outbox.isCrowded, ordering: .relaxed)
            return milliseconds
        }
    }

    var hasWork: Bool { hasReadyWork || !outbox.isEmpty }

    /// Whether there is work that the next turn does without waiting.
    private var hasReadyWork: Bool { !ready.isEmpty || !nextTurn.isEmpty }

    /// The time at which the loop wakes up by itself.
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
            // Rounded up: an early wake-up would find no timer due, and the loop would spin.
            return Int32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1))
        }
    }

    private func wait(_ milliseconds: Int32) -> Int {
        // The program's code may have called `fork` in this thread.
        Self.checkProcess()
        if epollDescriptor < 0 {
            openDescriptors()
            // The system has no descriptors: the loop checks the inbox periodically, and tries again. With new
            // descriptors the inbox is checked first, too, because threads that submitted work meanwhile could not wake
            // the loop.
            if epollDescriptor < 0, milliseconds != 0 { SystemCalls.pause(nanoseconds: 10_000_000) }
            return 0
        }
        return SystemCalls.epollWait(epollDescriptor, events, Int32(Self.maximumEvents), milliseconds: milliseconds)
    }

    private func takeWork() {
        if !nextTurn.isEmpty {
            ready.append(contentsOf: nextTurn)
            nextTurn.removeAll(keepingCapacity: nextTurn.count <= Self.mostKeptWork)
        }
        inbox.withLock { inbox in
            if ready.isEmpty {
                exchangeReady(&inbox.work)
            } else {
                ready.append(contentsOf: inbox.work)
                inbox.work.removeAll(keepingCapacity: inbox.work.count <= Self.mostKeptWork)
                if ready.count > Self.mostKeptWork { hasMuchMemory = true }
            }
        }
    }

    /// Takes the submitted work where no other work is ready. The memory of a burst is released.
    func exchangeReady(_ work: inout Deque<Work>) {
        if hasMuchMemory { ready = [] }
        swap(&ready, &work)
        hasMuchMemory = ready.count > Self.mostKeptWork
    }

    private func dispatch(_ event: epoll_event) {
        // The eventfd is edge-triggered, so it need not be read.
        guard event.data.u64 != Self.wakeUpToken, let source = sources[event.data.u64] else { return }
        source.handle(events: event.events)
    }

    private func runReady() {
        var pieces = Self.maximumPieces
        while pieces > 0, !isShareUsed, let work = ready.popFirst() {
            pieces -= 1
            if pieces % Self.piecesBetweenLooks == 0, isTurnLonger(than: Self.longestTurn) { pieces = 0 }
            switch work {
            case .closure(let body), .ownThreadClosure(let body): body()
            case .job(let job):
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: executor.asUnownedTaskExecutor())
            case .taskJob(let job):
                job.runSynchronously(on: executor.asUnownedTaskExecutor())
            }
        }
        isShareUsed = false
    }

    /// Whether the turn has taken longer than this number of nanoseconds.
    func isTurnLonger(than nanoseconds: UInt64) -> Bool {
        isRealTime && currentTime.nanoseconds(since: now) > nanoseconds
    }

    func openDescriptors() {
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
