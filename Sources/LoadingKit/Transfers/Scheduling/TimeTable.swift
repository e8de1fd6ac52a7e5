import LoadingKitCore
import LoadingKitPrimitives

/// When something of each transfer is due. A transfer has one time at most; another one replaces it.
struct TimeTable<Time: Comparable> {
    private struct Entry {
        let time: Time
        let key: TransferKey
    }

    private struct Order: IndexedHeapOrder {
        var places: [TransferKey: Int] = [:]

        static func precedes(_ a: Entry, _ b: Entry) -> Bool { a.time < b.time }

        mutating func store(_ place: Int, of entry: Entry) { places[entry.key] = place < 0 ? nil : place }
    }

    private var heap = IndexedHeap<Order>()

    var next: Time? { heap.first?.time }

    mutating func set(_ time: Time, for key: TransferKey) {
        remove(key)
        heap.insert(Entry(time: time, key: key))
    }

    mutating func remove(_ key: TransferKey) {
        if let place = heap.order.places[key] { _ = heap.remove(at: place) }
    }

    /// Takes out one that is due.
    mutating func popDue(_ now: Time) -> TransferKey? {
        guard let first = heap.first, first.time <= now else { return nil }
        return heap.remove(at: 0)?.key
    }
}
