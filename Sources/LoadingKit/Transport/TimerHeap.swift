import LoadingKitPrimitives

/// A binary heap of deadlines, each of which knows its place, so that it is removed in O(log n) and leaves nothing behind.
/// Those of the same time come out in the order in which they were set.
struct TimerHeap: ~Copyable {
    private struct Entry {
        var time: MonotonicTime
        var sequence: UInt64
        /// Retained while it is in the heap; unmanaged, so that sifting counts no references.
        var deadline: Unmanaged<LoopDeadline>

        static func < (a: Entry, b: Entry) -> Bool {
            a.time == b.time ? a.sequence < b.sequence : a.time < b.time
        }
    }

    private var entries: [Entry] = []
    /// The number that the next one set gets.
    private(set) var nextSequence: UInt64 = 0

    var count: Int { entries.count }
    /// When the next is due.
    var nextTime: MonotonicTime? { entries.first?.time }

    deinit {
        for entry in entries { entry.deadline.release() }
    }

    mutating func insert(_ deadline: LoopDeadline, at time: MonotonicTime) {
        let entry = Entry(time: time, sequence: nextSequence, deadline: .passRetained(deadline))
        nextSequence &+= 1
        entries.append(entry)
        siftUp(entries.count - 1, entry)
    }

    mutating func remove(_ deadline: LoopDeadline) {
        let index = deadline.heapIndex
        guard index >= 0 else { return }
        deadline.heapIndex = -1
        guard let last = entries.popLast() else { return }
        guard index < entries.count else {
            last.deadline.release()
            return
        }
        let removed = entries[index]
        if index > 0, last < entries[(index - 1) / 2] { siftUp(index, last) } else { siftDown(index, last) }
        removed.deadline.release()
    }

    /// Takes out the earliest, when it is due at `time` and was set before the number `sequence` was given.
    mutating func popDue(
        _ time: MonotonicTime, before sequence: UInt64
    ) -> (deadline: LoopDeadline, time: MonotonicTime)? {
        guard let first = entries.first, first.time <= time, first.sequence < sequence else { return nil }
        let deadline = first.deadline.takeUnretainedValue()
        remove(deadline)
        return (deadline, first.time)
    }

    /// Takes out all.
    mutating func removeAll() -> [LoopDeadline] {
        let deadlines = entries.map { $0.deadline.takeRetainedValue() }
        entries.removeAll()
        for deadline in deadlines { deadline.heapIndex = -1 }
        return deadlines
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
        entry.deadline._withUnsafeGuaranteedRef { $0.heapIndex = index }
    }
}
