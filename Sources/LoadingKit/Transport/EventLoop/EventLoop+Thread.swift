import CLoadingKitShims
import Glibc
import LoadingKitPrimitives

// What the loop's own thread does: wait for events, and do all that they bring in one turn.
extension EventLoop {
    /// So many events are taken with one call, and handled at once. With more, what was received for the first of them has
    /// left the processor's cache when it is handed on.
    static let maximumEvents = 64
    /// After so many pieces of work the loop looks at its sockets and timers again.
    private static let maximumPieces = 1024
    /// So does it after so many nanoseconds, which it looks at after each few pieces. A shorter time costs more than it
    /// brings: a thread that the system holds up for a while has its turn cut.
    private static let longestTurn: UInt64 = 10_000_000
    static let piecesBetweenLooks = 32
    /// Timers that are due together, and a session's bulk work, have so many nanoseconds of a turn.
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
        // Manual time moves only when its timers run, so that each of them sees its own.
        now = currentTime
        takeInbox()
        for index in 0..<max(count, 0) { dispatch(events[index]) }
        runTimers(upTo: now)
        runReady()
        outbox.endTurn(now: now, canPause: isRealTime)
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
            let waits = milliseconds != 0 && epollDescriptor >= 0
            if waits { inbox.turn.threadWillWait() }
            mayBeFree.store(waits && !outbox.isCrowded, ordering: .relaxed)
            return milliseconds
        }
    }

    var hasWork: Bool { !ready.isEmpty || !outbox.isEmpty }

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
            // The system has no descriptors: look at the inbox now and then, and try again. With new ones, too, the inbox
            // comes first: threads that gave work meanwhile had nothing to wake the loop with.
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
        var pieces = Self.maximumPieces
        while pieces > 0, !isShareUsed, let work = ready.popFirst() {
            pieces -= 1
            if pieces % Self.piecesBetweenLooks == 0, isTurnLonger(than: Self.longestTurn) { pieces = 0 }
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
