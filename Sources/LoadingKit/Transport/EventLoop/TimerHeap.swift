import Glibc
import LoadingKitPrimitives

/// The deadlines of a loop. Deadlines with the same time are returned in the order in which they were set.
struct TimerHeap: ~Copyable {
    private struct Entry {
        var time: MonotonicTime
        var sequence: UInt64
        /// Retained while it is in the heap. Unmanaged, so that sifting needs no reference counting.
        var deadline: Unmanaged<LoopDeadline>
    }

    /// Each deadline stores its own position.
    private struct Order: IndexedHeapOrder {
        static func precedes(_ a: Entry, _ b: Entry) -> Bool {
            a.time == b.time ? a.sequence < b.sequence : a.time < b.time
        }

        func store(_ place: Int, of entry: Entry) { entry.deadline._withUnsafeGuaranteedRef { $0.heapIndex = place } }
    }

    private var heap = IndexedHeap<Order>()
    /// The number of the next deadline.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { heap.count }
    var nextTime: MonotonicTime? { heap.first?.time }

    deinit { for index in heap.indices { heap[index].deadline.release() } }

    mutating func insert(_ deadline: LoopDeadline, at time: MonotonicTime) {
        heap.insert(Entry(time: time, sequence: nextSequence, deadline: .passRetained(deadline)))
        nextSequence &+= 1
    }

    mutating func remove(_ deadline: LoopDeadline) { heap.remove(at: deadline.heapIndex)?.deadline.release() }

    /// Removes and returns the earliest deadline that is due at `time` and was set before `sequence` was used.
    mutating func popDue(
        _ time: MonotonicTime, before sequence: UInt64
    ) -> (deadline: LoopDeadline, time: MonotonicTime)? {
        guard let first = heap.first, first.time <= time, first.sequence < sequence else { return nil }
        return heap.remove(at: 0).map { ($0.deadline.takeRetainedValue(), $0.time) }
    }

    mutating func removeAll() -> [LoopDeadline] { heap.removeAll().map { $0.deadline.takeRetainedValue() } }
}

/// An object that an event loop calls at a set time. Confined to its loop.
///
/// An object that waits for at most one time inherits from this class, so that scheduling it costs no allocation. The
/// class is open, as Swift has no classes from which only a package's modules can inherit.
open class LoopDeadline {
    /// The position in the loop's heap; negative if it is not in the heap.
    @exclusivity(unchecked) fileprivate(set) final var heapIndex = -1  // read and replaced, never changed in place

    /// Makes a deadline that is not scheduled.
    public init() {}

    package final var isScheduled: Bool { heapIndex >= 0 }

    /// The loop calls this method at the set time.
    open func deadlineDidPass() {}
}

/// Work that an event loop does at a set time. Confined to its loop.
package final class LoopTimer: LoopDeadline {
    private let loop: EventLoop
    private var work: (() -> Void)?

    init(loop: EventLoop, work: @escaping () -> Void) {
        self.loop = loop
        self.work = work
    }

    /// Cancels the timer, which releases its work.
    package func cancel() {
        loop.unschedule(self)
        work = nil
    }

    public override func deadlineDidPass() {
        // The work may retain the timer's owner.
        let work = work
        self.work = nil
        work?()
    }
}

extension EventLoop {
    /// Runs `work` at `time`, or as soon as possible if this time has passed. On the loop only.
    package func schedule(at time: MonotonicTime, _ work: @escaping () -> Void) -> LoopTimer {
        let timer = LoopTimer(loop: self, work: work)
        schedule(timer, at: time)
        return timer
    }

    /// Calls `deadline` at `time`, or as soon as possible if this time has passed, instead of at a time set before.
    /// Retains it until then. On the loop only.
    package func schedule(_ deadline: LoopDeadline, at time: MonotonicTime) {
        assert(isCurrent)
        if deadline.isScheduled { timers.remove(deadline) }
        timers.insert(deadline, at: time)
    }

    /// Cancels and releases `deadline`. On the loop only.
    package func unschedule(_ deadline: LoopDeadline) {
        assert(isCurrent)
        guard deadline.isScheduled, let next = timers.nextTime else { return }
        if unscheduledTime <= now || next < unscheduledTime { unscheduledTime = next }
        timers.remove(deadline)
    }

    /// Runs the timers that are due at `limit`, in order; only some of them if they take long. If a test has advanced
    /// the clock, each timer sees its own time.
    func runTimers(upTo limit: MonotonicTime) {
        // A timer that is rescheduled for a time that has passed waits for the next turn.
        let sequence = limit > now ? .max : timers.nextSequence
        var count = 0
        while let due = timers.popDue(limit, before: sequence) {
            wakeUpTime = max(now, due.time)
            due.deadline.deadlineDidPass()
            count += 1
            if count % Self.piecesBetweenLooks == 0, isTurnLonger(than: Self.longestShare) { break }
        }
        wakeUpTime = max(now, limit)
    }
}
