import LoadingKitPrimitives

/// A binary heap of timers, each of which knows its place, so that it is removed in O(log n) and leaves nothing behind.
/// Timers of the same time come out in the order in which they were set.
struct TimerHeap: ~Copyable {
    private struct Entry {
        var time: MonotonicTime
        var sequence: UInt64
        /// Retained while it is in the heap; unmanaged, so that sifting counts no references.
        var timer: Unmanaged<LoopTimer>

        static func < (a: Entry, b: Entry) -> Bool {
            a.time == b.time ? a.sequence < b.sequence : a.time < b.time
        }
    }

    private var entries: [Entry] = []
    /// The number that the next timer set gets.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { entries.count }
    /// When the next timer is due.
    var nextTime: MonotonicTime? { entries.first?.time }

    deinit {
        for entry in entries { entry.timer.release() }
    }

    mutating func insert(_ timer: LoopTimer, at time: MonotonicTime) {
        let entry = Entry(time: time, sequence: nextSequence, timer: .passRetained(timer))
        nextSequence &+= 1
        entries.append(entry)
        siftUp(entries.count - 1, entry)
    }

    mutating func remove(_ timer: LoopTimer) {
        let index = timer.heapIndex
        guard index >= 0 else { return }
        timer.heapIndex = -1
        guard let last = entries.popLast() else { return }
        guard index < entries.count else {
            last.timer.release()
            return
        }
        let removed = entries[index]
        if index > 0, last < entries[(index - 1) / 2] { siftUp(index, last) } else { siftDown(index, last) }
        removed.timer.release()
    }

    /// Takes out the earliest timer, when it is due at `time` and was set before the number `sequence` was given.
    mutating func popDue(_ time: MonotonicTime, before sequence: UInt64) -> (timer: LoopTimer, time: MonotonicTime)? {
        guard let first = entries.first, first.time <= time, first.sequence < sequence else { return nil }
        let timer = first.timer.takeUnretainedValue()
        remove(timer)
        return (timer, first.time)
    }

    /// Takes out all timers.
    mutating func removeAll() -> [LoopTimer] {
        let timers = entries.map { $0.timer.takeRetainedValue() }
        entries.removeAll()
        for timer in timers { timer.heapIndex = -1 }
        return timers
    }

    private mutating func siftUp(_ start: Int, _ entry: Entry) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry < entries[parent] else { break }
            place(entries[parent], at: index)
            index = parent
        }
        place(entry, at: index)
    }

    private mutating func siftDown(_ start: Int, _ entry: Entry) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entry else { break }
            place(entries[child], at: index)
            index = child
        }
        place(entry, at: index)
    }

    private mutating func place(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entry.timer._withUnsafeGuaranteedRef { $0.heapIndex = index }
    }
}
