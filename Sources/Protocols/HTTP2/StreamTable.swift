/// The streams that are open or half closed, found by their numbers.
///
/// A hash table with open addressing in one array. As the numbers of one side are consecutive, half of the number is a
/// hash that hardly ever collides, and looking up is one comparison.
struct StreamTable {
    private(set) var places: [Stream]
    private(set) var count = 0

    init() { places = Array(repeating: Stream(), count: 16) }

    private var mask: Int { places.count - 1 }

    @inline(__always)
    private func home(_ id: UInt32) -> Int { Int(id >> 1) & mask }

    /// The place of a stream, valid until one is added or removed.
    @inline(__always)
    func find(_ id: HTTP2StreamID) -> Int? {
        var place = home(id.rawValue)
        // A quarter of the places is always free, so that this ends.
        while places[place].id != id.rawValue {
            if places[place].id == 0 { return nil }
            place = (place + 1) & mask
        }
        return id.rawValue == 0 ? nil : place
    }

    subscript(place: Int) -> Stream {
        @inline(__always) _read { yield places[place] }
        @inline(__always) _modify { yield &places[place] }
    }

    /// Adds a stream that is not there, and gives its place.
    mutating func insert(_ stream: Stream) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        put(stream)
        count += 1
    }

    private mutating func put(_ stream: Stream) {
        var place = home(stream.id)
        while places[place].id != 0 { place = (place + 1) & mask }
        places[place] = stream
    }

    private mutating func grow() {
        let old = places
        places = Array(repeating: Stream(), count: old.count * 2)
        for stream in old where stream.id != 0 { put(stream) }
    }

    /// Removes the stream at a place. Those that were moved on because of it move back.
    mutating func remove(at place: Int) {
        var hole = place
        var next = (place + 1) & mask
        while places[next].id != 0 {
            let distance = (next - home(places[next].id)) & mask
            if distance >= (next - hole) & mask {
                places[hole] = places[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        places[hole].id = 0
        count -= 1
    }

    /// The numbers of all streams, in order.
    var ids: [HTTP2StreamID] {
        places.filter { $0.id != 0 }.map { HTTP2StreamID(rawValue: $0.id) }.sorted()
    }

    /// Calls `body` with each stream.
    mutating func forEach<E: Error>(_ body: (inout Stream) throws(E) -> Void) throws(E) {
        for place in places.indices where places[place].id != 0 { try body(&places[place]) }
    }
}
