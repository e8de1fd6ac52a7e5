import Glibc
import LoadingKitPrimitives

/// The deadlines of a loop. Those of the same time come out in the order in which they were set.
struct TimerHeap: ~Copyable {
    private struct Entry {
        var time: MonotonicTime
        var sequence: UInt64
        /// Retained while it is in the heap; unmanaged, so that sifting counts no references.
        var deadline: Unmanaged<LoopDeadline>
    }

    /// Each deadline has its place itself.
    private struct Order: IndexedHeapOrder {
        static func precedes(_ a: Entry, _ b: Entry) -> Bool {
            a.time == b.time ? a.sequence < b.sequence : a.time < b.time
        }

        func store(_ place: Int, of entry: Entry) { entry.deadline._withUnsafeGuaranteedRef { $0.heapIndex = place } }
    }

    private var heap = IndexedHeap<Order>()
    /// The number that the next one set gets.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { heap.count }
    /// When the next is due.
    var nextTime: MonotonicTime? { heap.first?.time }

    deinit {
        for index in heap.indices { heap[index].deadline.release() }
    }

    mutating func insert(_ deadline: LoopDeadline, at time: MonotonicTime) {
        heap.insert(Entry(time: time, sequence: nextSequence, deadline: .passRetained(deadline)))
        nextSequence &+= 1
    }

    mutating func remove(_ deadline: LoopDeadline) { heap.remove(at: deadline.heapIndex)?.deadline.release() }

    /// Takes out the earliest, when it is due at `time` and was set before the number `sequence` was given.
    mutating func popDue(
        _ time: MonotonicTime, before sequence: UInt64
    ) -> (deadline: LoopDeadline, time: MonotonicTime)? {
        guard let first = heap.first, first.time <= time, first.sequence < sequence else { return nil }
        return heap.remove(at: 0).map { ($0.deadline.takeRetainedValue(), $0.time) }
    }

    /// Takes out all.
    mutating func removeAll() -> [LoopDeadline] { heap.removeAll().map { $0.deadline.takeRetainedValue() } }
}

/// Something that an event loop calls at a time. Confined to its loop.
///
/// An object that waits for one time at most inherits this: to schedule it then costs no allocation. Open, as Swift has no
/// classes that a package's modules alone may inherit from.
open class LoopDeadline {
    /// Where it is in the loop's heap; negative when it is not there.
    @exclusivity(unchecked) fileprivate(set) final var heapIndex = -1  // read and replaced, never changed in place

    /// Makes one that is not scheduled.
    public init() {}

    /// Whether it waits for its time.
    package final var isScheduled: Bool { heapIndex >= 0 }

    /// The loop calls this at the time that was set.
    open func deadlineDidPass() {}
}

/// Work that an event loop does at a time. Confined to its loop.
package final class LoopTimer: LoopDeadline {
    private let loop: EventLoop
    private var work: (() -> Void)?

    init(loop: EventLoop, work: @escaping () -> Void) {
        self.loop = loop
        self.work = work
    }

    /// The timer does not fire any more, and lets go of its work.
    package func cancel() {
        loop.unschedule(self)
        work = nil
    }

    /// Moves the timer to another time. From within its own work this makes it fire again; once it is over (fired or
    /// cancelled), nothing happens.
    package func reschedule(at time: MonotonicTime) {
        guard work != nil else { return }
        loop.schedule(self, at: time)
    }

    public override func deadlineDidPass() {
        work?()
        // Unless it was set again meanwhile it is over: its work may hold the timer's owner.
        if !isScheduled { work = nil }
    }
}

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
            if count % Self.piecesBetweenLooks == 0, isTurnLonger(than: Self.longestShare) { break }
        }
        now = max(now, limit)
    }
}
