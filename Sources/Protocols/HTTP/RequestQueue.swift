import HeapModule

/// The exchanges that wait for a connection to an origin, in the order in which they get one: those that were on a
/// connection before come first, the oldest of them first; then those of a higher priority; among equals the older ones.
///
/// A binary heap in which each exchange knows its place: one is put in, or taken out wherever it is, in O(log n).
struct RequestQueue {
    struct Entry {
        let exchange: HTTPExchange
        let needsFreshConnection: Bool
        fileprivate let goesFirst: Bool
        fileprivate let priority: Float

        init(_ exchange: HTTPExchange, needsFreshConnection: Bool) {
            self.exchange = exchange
            self.needsFreshConnection = needsFreshConnection
            goesFirst = needsFreshConnection || exchange.hasHadTurn
            priority = exchange.priority
        }

        fileprivate static func precedes(_ a: Entry, _ b: Entry) -> Bool {
            if a.goesFirst != b.goesFirst { return a.goesFirst }
            if !a.goesFirst, a.priority != b.priority { return a.priority > b.priority }
            return a.exchange.number < b.exchange.number
        }
    }

    private var heap: [Entry] = []
    /// How many of them are told that they wait in a queue.
    private var queuedCount = 0
    /// Those that were told that a connection is being made for them, and perhaps some that wait no more.
    private var served: [HTTPExchange] = []

    var count: Int { heap.count }
    var isEmpty: Bool { heap.isEmpty }
    var first: Entry? { heap.first }

    func contains(_ exchange: HTTPExchange) -> Bool {
        heap.indices.contains(exchange.queueIndex) && heap[exchange.queueIndex].exchange === exchange
    }

    // MARK: Changes

    /// The exchange is to be told that it waits in a queue.
    mutating func insert(_ entry: Entry) {
        queuedCount += 1
        heap.append(entry)
        siftUp(heap.count - 1, entry)
    }

    mutating func popFirst() -> Entry? { heap.first.flatMap { remove($0.exchange) } }

    mutating func removeAll() -> [Entry] {
        var entries: [Entry] = []
        while let first = popFirst() { entries.append(first) }
        return entries
    }

    @discardableResult
    mutating func remove(_ exchange: HTTPExchange) -> Entry? {
        let index = exchange.queueIndex
        guard contains(exchange), let last = heap.popLast() else { return nil }
        exchange.queueIndex = -1
        if exchange.isInQueue { queuedCount -= 1 }
        if heap.isEmpty { served.removeAll() }
        guard index < heap.count else { return last }
        let removed = heap[index]
        if index > 0, Entry.precedes(last, heap[(index - 1) / 2]) { siftUp(index, last) } else { siftDown(index, last) }
        return removed
    }

    private mutating func siftUp(_ start: Int, _ entry: Entry) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard Entry.precedes(entry, heap[parent]) else { break }
            place(heap[parent], at: index)
            index = parent
        }
        place(entry, at: index)
    }

    private mutating func siftDown(_ start: Int, _ entry: Entry) {
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, Entry.precedes(heap[child + 1], heap[child]) { child += 1 }
            guard Entry.precedes(heap[child], entry) else { break }
            place(heap[child], at: index)
            index = child
        }
        place(entry, at: index)
    }

    private mutating func place(_ entry: Entry, at index: Int) {
        heap[index] = entry
        entry.exchange.queueIndex = index
    }

    // MARK: The first ones

    /// The first for which `predicate` holds, of which the first few that it does not hold for are looked at in order.
    func first(where predicate: (Entry) -> Bool) -> Entry? {
        var found: Entry?
        forEachInOrder { entry in
            guard predicate(entry) else { return true }
            found = entry
            return false
        }
        return found
    }

    /// The first `count` in order, in O(count log count).
    func prefix(_ count: Int) -> [Entry] {
        var entries: [Entry] = []
        guard count > 0 else { return entries }
        forEachInOrder { entry in
            entries.append(entry)
            return entries.count < count
        }
        return entries
    }

    /// Calls `body` with each, in order, until it gives false. Looks at no more of the heap than needed.
    private func forEachInOrder(_ body: (Entry) -> Bool) {
        // A heap of places whose parents were given.
        var next = Heap<Place>()
        if let first { next.insert(Place(index: 0, entry: first)) }
        while let place = next.popMin() {
            guard body(place.entry) else { return }
            for child in [2 * place.index + 1, 2 * place.index + 2] where child < heap.count {
                next.insert(Place(index: child, entry: heap[child]))
            }
        }
    }

    private struct Place: Comparable {
        let index: Int
        let entry: Entry

        static func == (a: Place, b: Place) -> Bool { a.index == b.index }
        static func < (a: Place, b: Place) -> Bool { Entry.precedes(a.entry, b.entry) }
    }

    // MARK: Whose connections are being made

    /// Connections are being made for the first `count`, perhaps for all: gives those that were not told so.
    mutating func serve(_ count: Int) -> [HTTPExchange] {
        guard count > 0, queuedCount > 0 else { return [] }
        let entries = count >= heap.count ? heap : prefix(count)
        let begun = entries.map(\.exchange).filter(\.isInQueue)
        queuedCount -= begun.count
        served += begun
        // Those that wait no more are not held for as long as others wait.
        if served.count > 2 * (heap.count - queuedCount) + 8 { served = served.filter(contains) }
        return begun
    }

    /// Connections are being made for the first `count` alone: gives those that were told so, and for which none is made.
    mutating func serveNoMore(than count: Int) -> [HTTPExchange] {
        guard count < heap.count else { return [] }
        let first = prefix(count).map(\.exchange)
        let ended = served.filter { exchange in
            contains(exchange) && !exchange.isInQueue && !first.contains { $0 === exchange }
        }
        queuedCount += ended.count
        served = first
        return ended
    }
}
