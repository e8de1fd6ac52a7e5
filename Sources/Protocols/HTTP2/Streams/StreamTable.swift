/// The open streams of one side, found by their numbers.
///
/// It is a hash table with open addressing in one array. The numbers of one side are consecutive, so half of the number
/// is a hash with very few collisions, and a look-up is one comparison.
@usableFromInline
package struct StreamTable<Value> {
    @usableFromInline
    struct Place {
        /// The stream's number; 0 if the place is free.
        @usableFromInline var id: UInt32
        @usableFromInline var value: Value

        @inlinable
        init(id: UInt32, _ value: Value) {
            self.id = id
            self.value = value
        }
    }

    @usableFromInline var places: [Place]
    /// The number of streams.
    @usableFromInline package internal(set) var count = 0
    /// The number of streams that are not in their home place, because another stream was there.
    @usableFromInline var moved = 0
    /// The value in a free place.
    @usableFromInline let vacant: Value

    /// Makes an empty table with `vacant` in the free places.
    @inlinable
    package init(vacant: Value) {
        self.vacant = vacant
        places = Array(repeating: Place(id: 0, vacant), count: 16)
    }

    @inlinable
    package var isEmpty: Bool { count == 0 }

    @inlinable @inline(__always)
    var mask: Int { places.count &- 1 }

    @inlinable @inline(__always)
    func home(_ id: UInt32) -> Int { Int(id &>> 1) & mask }

    /// The place of a stream. It is valid until a stream is added or removed.
    @inlinable @inline(__always)
    package func find(_ id: HTTP2StreamID) -> Int? {
        var place = home(id.rawValue)
        // A quarter of the places is always free, so the loop ends.
        while places[place].id != id.rawValue {
            if places[place].id == 0 { return nil }
            place = (place &+ 1) & mask
        }
        return id.rawValue == 0 ? nil : place
    }

    @inlinable
    package subscript(place: Int) -> Value {
        @inline(__always) _read { yield places[place].value }
        @inline(__always) _modify { yield &places[place].value }
    }

    /// Adds a stream that is not in the table.
    @inlinable
    package mutating func insert(_ value: Value, for id: HTTP2StreamID) {
        if (count &+ 1) &* 4 > places.count &* 3 { grow() }
        put(Place(id: id.rawValue, value))
        count &+= 1
    }

    @inlinable
    mutating func put(_ new: Place) {
        let home = home(new.id)
        var place = home
        while places[place].id != 0 { place = (place &+ 1) & mask }
        places[place] = new
        if place != home { moved &+= 1 }
    }

    @usableFromInline
    mutating func grow() {
        let old = places
        places = Array(repeating: Place(id: 0, vacant), count: old.count * 2)
        moved = 0
        for place in old where place.id != 0 { put(place) }
    }

    /// Removes the stream at a place.
    @inlinable
    package mutating func remove(at place: Int) {
        var hole = place
        if home(places[place].id) != place { moved &-= 1 }
        // Streams that were displaced by it move back.
        if moved > 0 { hole = close(place) }
        places[hole] = Place(id: 0, vacant)
        count &-= 1
    }

    /// Moves displaced streams behind a hole back, and returns the remaining hole.
    @usableFromInline
    mutating func close(_ place: Int) -> Int {
        var hole = place
        var next = (place &+ 1) & mask
        while places[next].id != 0 {
            let home = home(places[next].id)
            if (next &- home) & mask >= (next &- hole) & mask {
                places[hole] = places[next]
                if home == hole { moved &-= 1 }
                hole = next
            }
            next = (next &+ 1) & mask
        }
        return hole
    }

    /// The numbers of all streams, in order.
    package var ids: [HTTP2StreamID] {
        places.filter { $0.id != 0 }.map { HTTP2StreamID(rawValue: $0.id) }.sorted()
    }

    /// Calls `body` with each stream.
    mutating func forEach<E: Error>(_ body: (inout Value) throws(E) -> Void) throws(E) {
        for place in places.indices where places[place].id != 0 { try body(&places[place].value) }
    }
}

extension StreamTable: Sendable where Value: Sendable {}
extension StreamTable.Place: Sendable where Value: Sendable {}

/// The recently reset streams. Frames that were on their way to such a stream are not errors (RFC 9113 §5.1).
///
/// Streams beyond the capacity are represented by one number: streams up to it may have been reset, and are treated as
/// reset.
struct ResetMemory {
    /// The side that reset a stream.
    enum Origin {
        /// This side: frames that arrive are ignored, as the peer may not have received the reset yet.
        case local
        /// The peer, which may send no more frames.
        case peer
    }

    private struct Entry {
        var id: UInt32
        var origin: Origin
    }

    private let capacity: Int
    private var entries: [Entry] = []
    private var oldest = 0
    /// The highest number that was removed from the entries.
    private var forgotten: UInt32 = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func add(_ id: HTTP2StreamID, _ origin: Origin) {
        let entry = Entry(id: id.rawValue, origin: origin)
        if entries.count < capacity { return entries.append(entry) }
        if entries[oldest].origin == .local { forgotten = max(forgotten, entries[oldest].id) }
        entries[oldest] = entry
        oldest = (oldest + 1) % capacity
    }

    /// The side that reset a closed stream; nil if the stream ended without a reset.
    func origin(of id: HTTP2StreamID) -> Origin? {
        if let entry = entries.last(where: { $0.id == id.rawValue }) { return entry.origin }
        return id.rawValue <= forgotten ? .local : nil
    }
}
