import HeapModule
import LoadingKitPrimitives

/// The requests that wait for a connection, in the order in which they get one. Requests that were on a connection
/// before come first, the oldest of them first; then requests with a higher priority. Among equal ones the older come
/// first.
///
/// Inserting a request, or removing one at any position, takes O(log n).
struct RequestQueue: Sendable {
    typealias Request = HTTPConnectionPool.Request

    private struct Entry: Sendable {
        var request: Request
        /// Whether the request is reported as waiting without a connection being opened for it.
        var isQueued: Bool
    }

    private struct Order: IndexedHeapOrder, Sendable {
        /// Positions in the heap, by the index of the requests' identifiers.
        var places: [Int] = []

        static func precedes(_ a: Entry, _ b: Entry) -> Bool {
            let (a, b) = (a.request, b.request)
            if a.goesFirst != b.goesFirst { return a.goesFirst }
            if !a.goesFirst, a.priority != b.priority { return a.priority > b.priority }
            return a.number < b.number
        }

        mutating func store(_ place: Int, of entry: Entry) {
            while places.count <= entry.request.id.index { places.append(-1) }
            places[entry.request.id.index] = place
        }
    }

    private var heap = IndexedHeap<Order>()
    private var queuedCount = 0
    /// The requests that were reported as no longer queued, and possibly some that no longer wait.
    private var served: [HTTPConnectionPool.RequestID] = []
    /// The requests that are queued, and possibly some that no longer are.
    private var fresh: [HTTPConnectionPool.RequestID] = []
    /// How many requests were looked at for a report that they are no longer queued. For tests.
    private(set) var visits = 0

    var count: Int { heap.count }
    var isEmpty: Bool { heap.isEmpty }
    var first: Request? { heap.first?.request }

    func contains(_ id: HTTPConnectionPool.RequestID) -> Bool { place(of: id) != nil }

    private func place(of id: HTTPConnectionPool.RequestID) -> Int? {
        guard heap.order.places.indices.contains(id.index) else { return nil }
        let place = heap.order.places[id.index]
        return heap.indices.contains(place) && heap[place].request.id == id ? place : nil
    }

    // MARK: Changes

    /// The caller must report the request as queued.
    mutating func insert(_ request: Request) {
        queuedCount += 1
        heap.insert(Entry(request: request, isQueued: true))
        fresh.append(request.id)
        pruneFresh()
    }

    /// Removes those that are no longer queued, and second mentions of those that are.
    private mutating func pruneFresh() {
        guard fresh.count > 2 * heap.count + 8 else { return }
        fresh.removeAll(keepingCapacity: true)
        for place in heap.indices where heap[place].isQueued { fresh.append(heap[place].request.id) }
    }

    mutating func popFirst() -> Request? { heap.first.flatMap { remove($0.request.id) } }

    mutating func removeAll() -> [Request] {
        var requests: [Request] = []
        while let first = popFirst() { requests.append(first) }
        return requests
    }

    @discardableResult
    mutating func remove(_ id: HTTPConnectionPool.RequestID) -> Request? {
        guard let removed = place(of: id).flatMap({ heap.remove(at: $0) }) else { return nil }
        if removed.isQueued { queuedCount -= 1 }
        if heap.isEmpty {
            served.removeAll()
            fresh.removeAll(keepingCapacity: true)
        }
        return removed.request
    }

    /// Changes a request's priority. The request keeps its place among those of the same priority.
    mutating func change(_ id: HTTPConnectionPool.RequestID, priority: Float) {
        guard var entry = place(of: id).flatMap({ heap.remove(at: $0) }) else { return }
        entry.request.priority = priority
        heap.insert(entry)
    }

    // MARK: The first ones

    /// Requests before it are checked in order.
    func first(where predicate: (Request) -> Bool) -> Request? {
        var found: Request?
        forEachInOrder { request in
            guard predicate(request) else { return true }
            found = request
            return false
        }
        return found
    }

    /// The first `count` requests in order, in O(count log count).
    func prefix(_ count: Int) -> [Request] {
        var requests: [Request] = []
        guard count > 0 else { return requests }
        forEachInOrder { request in
            requests.append(request)
            return requests.count < count
        }
        return requests
    }

    /// Calls `body` with each request, in order, until it returns false, and visits no more of the heap than needed.
    private func forEachInOrder(_ body: (Request) -> Bool) {
        guard let first = heap.first, body(first.request) else { return }
        // A heap of the positions whose parents were visited.
        var next = Heap<Place>()
        var parent = 0
        while true {
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                next.insert(Place(index: child, entry: heap[child]))
            }
            guard let place = next.popMin(), body(place.entry.request) else { return }
            parent = place.index
        }
    }

    private struct Place: Comparable {
        let index: Int
        let entry: Entry

        static func == (a: Place, b: Place) -> Bool { a.index == b.index }
        static func < (a: Place, b: Place) -> Bool { Order.precedes(a.entry, b.entry) }
    }

    // MARK: Requests that connections are being made for

    /// Connections are being opened for the first `count` requests. Returns those that were reported as queued. Those
    /// that were served before are not visited if all are: each of many requests may be followed by such a call.
    mutating func serve(_ count: Int) -> [HTTPConnectionPool.RequestID] {
        guard count > 0, queuedCount > 0 else { return [] }
        var requests: [HTTPConnectionPool.RequestID] = []
        if count >= heap.count { swap(&requests, &fresh) } else { requests = prefix(count).map(\.id) }
        visits += requests.count
        var begun: [HTTPConnectionPool.RequestID] = []
        for id in requests {
            guard let place = place(of: id), heap[place].isQueued else { continue }
            heap[place].isQueued = false
            begun.append(id)
        }
        queuedCount -= begun.count
        served += begun
        // Requests that no longer wait are removed here, even while others wait.
        if served.count > 2 * (heap.count - queuedCount) + 8 { served = served.filter(contains) }
        return begun
    }

    /// Connections are being opened for only the first `count` requests. Returns those that are queued again.
    mutating func serveNoMore(than count: Int) -> [HTTPConnectionPool.RequestID] {
        guard count < heap.count else { return [] }
        let first = prefix(count).map(\.id)
        let stillServed = Set(first)
        var ended: [HTTPConnectionPool.RequestID] = []
        for id in served where !stillServed.contains(id) {
            guard let place = place(of: id), !heap[place].isQueued else { continue }
            heap[place].isQueued = true
            ended.append(id)
        }
        queuedCount += ended.count
        fresh += ended
        pruneFresh()
        served = first
        return ended
    }
}
