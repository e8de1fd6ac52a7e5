import HeapModule

/// Keys with the times at which they are due, the earliest first. Each operation takes O(log n). A key may be in it
/// several times: the caller checks whether the time that it gets is still the key's.
struct EarliestFirst<Time: Comparable & Sendable, Key: Sendable>: Sendable {
    private struct Entry: Comparable, Sendable {
        let time: Time
        let key: Key

        static func < (a: Entry, b: Entry) -> Bool { a.time < b.time }
        static func == (a: Entry, b: Entry) -> Bool { a.time == b.time }
    }

    private var entries = Heap<Entry>()

    var count: Int { entries.count }

    mutating func insert(_ key: Key, at time: Time) { entries.insert(Entry(time: time, key: key)) }

    /// Removes the earliest key, if it is due.
    mutating func popDue(_ now: Time) -> (key: Key, time: Time)? {
        guard let first = entries.min, first.time <= now else { return nil }
        entries.removeMin()
        return (first.key, first.time)
    }

    /// Replaces all keys.
    mutating func replaceAll(with others: some Sequence<(key: Key, time: Time)>) {
        entries = Heap(others.map { Entry(time: $0.time, key: $0.key) })
    }
}
