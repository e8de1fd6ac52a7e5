import CLoadingKitShims
import Foundation
import LoadingKitPrimitives
import Synchronization

/// One thread, one epoll instance, a heap of timers, and an inbox that is woken by an eventfd, which is written to only
/// while the loop sleeps.
///
/// It is an executor of Swift concurrency too. What says "on the loop only" must be called on its thread.
package final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {  // on its thread, but for the inbox
    private enum Item {
        case work(@Sendable () -> Void)
        case job(UnownedJob)
    }

    private struct Inbox {
        var items: [Item] = []
        var isSleeping = false
        var isStopping = false
    }

    private let inbox = Mutex(Inbox())
    private let time: TimeSource
    private let epoll: Int32
    private let wakeUp: Int32
    private let thread = Atomic<UInt>(0)
    private var local: [Item] = []
    private var channels = ChannelTable()
    /// What is to be told to other threads when the turn ends.
    private var endOfTurn: [() -> Void] = []
    var timers = TimerHeap()

    /// The time of the last wake-up. On the loop only.
    package private(set) var now: MonotonicTime

    /// Memory to receive into. On the loop only, and only until it is given back to the loop.
    package let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    /// A loop of one's own; `stop()` ends it.
    package init(name: String, time: TimeSource = .system) {
        self.time = time
        now = time.now
        epoll = Int32(clamping: SystemCalls.makeEpoll())
        wakeUp = Int32(clamping: SystemCalls.makeEvent())
        _ = SystemCalls.epollAdd(epoll, wakeUp, events: EPOLLIN.rawValue, key: ChannelTable.wakeUpKey)
        if case .manual(let clock) = time { clock.attach(self) }
        LoopThread.start(name) { self.run() }
    }

    deinit { scratch.deallocate() }

    /// Ends a loop that was made with `init`, when all that it was given has run.
    package func stop() {
        let sleeps = inbox.withLock { inbox -> Bool in
            inbox.isStopping = true
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if sleeps { SystemCalls.signalEvent(wakeUp) }
    }

    // MARK: From any thread

    /// Whether the calling thread is the loop's.
    package var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Ends the process if called elsewhere than on the loop: a programmer's mistake.
    package func preconditionCurrent() { precondition(isCurrent, "this must be called on its event loop") }

    /// Runs `work` on the loop, after what it was given before.
    package func execute(_ work: @escaping @Sendable () -> Void) { add(.work(work)) }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    package func checkIsolated() { preconditionCurrent() }

    package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }

    private func add(_ item: Item) {
        if isCurrent { return local.append(item) }
        let sleeps = inbox.withLock { inbox -> Bool in
            inbox.items.append(item)
            defer { inbox.isSleeping = false }
            return inbox.isSleeping
        }
        if sleeps { SystemCalls.signalEvent(wakeUp) }
    }

    // MARK: On the loop

    /// Runs `work` at a time, once; the timer can then be set again. On the loop only.
    package func schedule(at deadline: MonotonicTime, _ work: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(self, deadline, work)
        timers.insert(timer)
        return timer
    }

    /// Runs `work` when all that this turn of the loop brings is done. Waking other threads then, in one burst, lets
    /// each of them find more than one thing to do. On the loop only.
    package func atEndOfTurn(_ work: @escaping () -> Void) { endOfTurn.append(work) }

    /// Has the channel told of its descriptor's readiness, each change once. Gives 0, or the negative of `errno`.
    func register(_ channel: any LoopChannel, _ descriptor: Int32) -> Int {
        let events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        return SystemCalls.epollAdd(epoll, descriptor, events: events, key: channels.add(channel, descriptor))
    }

    /// Another object takes over the descriptor.
    func replace(_ channel: any LoopChannel, _ descriptor: Int32) { channels.replace(channel, descriptor) }

    /// To be followed by closing the descriptor, which takes it out of the epoll instance.
    func unregister(_ descriptor: Int32) { channels.remove(descriptor) }

    // MARK: Running

    private func run() {
        thread.store(UInt(pthread_self()), ordering: .relaxed)
        let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 256)
        defer { events.deallocate() }
        while true {
            runItems()
            runEndOfTurn()
            guard let timeout = timeoutOrStop() else { break }
            handle(events, SystemCalls.epollWait(epoll, events, timeout: timeout))
            while let timer = timers.popDue(now) { timer.fire() }
            runEndOfTurn()
        }
        FaultPlan.remove()
        SystemCalls.close(epoll)
        SystemCalls.close(wakeUp)
    }

    private func runItems() {
        var batch: [Item] = []
        swap(&batch, &local)
        inbox.withLock { inbox in
            if batch.isEmpty {
                swap(&batch, &inbox.items)
            } else {
                batch.append(contentsOf: inbox.items)
                inbox.items.removeAll(keepingCapacity: true)
            }
        }
        for item in batch {
            switch item {
            case .work(let work): work()
            case .job(let job):
                job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            }
        }
        if local.isEmpty {
            batch.removeAll(keepingCapacity: true)
            swap(&batch, &local)
        }
    }

    private func runEndOfTurn() {
        guard !endOfTurn.isEmpty else { return }
        var batch: [() -> Void] = []
        swap(&batch, &endOfTurn)
        for work in batch { work() }
        guard endOfTurn.isEmpty else { return }
        batch.removeAll(keepingCapacity: true)
        swap(&batch, &endOfTurn)
    }

    /// In milliseconds; nil when the loop is to end. From here on, until the wait is over, adding must wake the loop.
    private func timeoutOrStop() -> Int32? {
        guard local.isEmpty else { return 0 }
        let timeout = timeUntilTimer()
        return inbox.withLock { inbox in
            guard inbox.items.isEmpty else { return 0 }
            if inbox.isStopping { return nil }
            inbox.isSleeping = timeout != 0
            return timeout
        }
    }

    /// Rounded up, so that the loop does not wake before the timer is due.
    private func timeUntilTimer() -> Int32 {
        guard let earliest = timers.earliest else { return -1 }
        if case .manual(let clock) = time { return earliest <= clock.now ? 0 : -1 }
        let now = time.now
        guard earliest > now else { return 0 }
        return Int32(clamping: (earliest.nanoseconds(since: now) + 999_999) / 1_000_000)
    }

    private func handle(_ events: UnsafeMutableBufferPointer<epoll_event>, _ count: Int) {
        inbox.withLock { $0.isSleeping = false }
        now = time.now
        guard count > 0 else { return }
        for event in events[..<min(count, events.count)] {
            if event.data.u64 == ChannelTable.wakeUpKey {
                SystemCalls.clearEvent(wakeUp)
            } else {
                channels.find(event.data.u64)?.isReady(event.events)
            }
        }
    }
}
