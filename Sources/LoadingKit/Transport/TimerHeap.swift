import LoadingKitPrimitives

/// A timer of an event loop. Confined to its loop.
package final class LoopTimer {
    fileprivate(set) var deadline: MonotonicTime
    /// Among timers of one deadline, the one set first fires first.
    fileprivate var order: UInt64
    /// Where it is in the heap; nil when it is not set.
    fileprivate var index: Int?
    fileprivate var work: (() -> Void)?
    private unowned let loop: EventLoop

    init(_ loop: EventLoop, _ deadline: MonotonicTime, _ work: @escaping () -> Void) {
        self.loop = loop
        self.deadline = deadline
        self.work = work
        order = 0
    }

    /// The timer does not fire any more, unless it is rescheduled. Lets go of nothing yet.
    package func cancel() {
        loop.timers.remove(self)
        work = nil
    }

    /// Sets the timer, fired or not, to another time. Does nothing to one that was cancelled.
    package func reschedule(at deadline: MonotonicTime) {
        guard work != nil else { return }
        loop.timers.remove(self)
        self.deadline = deadline
        loop.timers.insert(self)
    }

    func fire() { work?() }
}

/// The timers that are set, the earliest first: a binary heap in which each timer knows its place, so that one can be
/// taken out without a search and without leaving a dead entry behind.
struct TimerHeap {
    private var timers: [LoopTimer] = []
    private var nextOrder: UInt64 = 0

    var earliest: MonotonicTime? { timers.first?.deadline }

    mutating func insert(_ timer: LoopTimer) {
        timer.order = nextOrder
        nextOrder &+= 1
        timer.index = timers.count
        timers.append(timer)
        siftUp(timers.count - 1)
    }

    mutating func remove(_ timer: LoopTimer) {
        guard let index = timer.index else { return }
        timer.index = nil
        let last = timers.removeLast()
        guard last !== timer else { return }
        timers[index] = last
        last.index = index
        siftUp(index)
        if let moved = last.index { siftDown(moved) }
    }

    /// Takes out the earliest timer if it is due.
    mutating func popDue(_ now: MonotonicTime) -> LoopTimer? {
        guard let first = timers.first, first.deadline <= now else { return nil }
        remove(first)
        return first
    }

    private static func isEarlier(_ a: LoopTimer, _ b: LoopTimer) -> Bool {
        a.deadline == b.deadline ? a.order < b.order : a.deadline < b.deadline
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard Self.isEarlier(timers[index], timers[parent]) else { return }
            swap(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in (2 * index + 1)...(2 * index + 2) where child < timers.count {
                if Self.isEarlier(timers[child], timers[least]) { least = child }
            }
            guard least != index else { return }
            swap(index, least)
            index = least
        }
    }

    private mutating func swap(_ a: Int, _ b: Int) {
        timers.swapAt(a, b)
        timers[a].index = a
        timers[b].index = b
    }
}
