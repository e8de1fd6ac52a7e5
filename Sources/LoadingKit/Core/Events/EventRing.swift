/// The last events of a session. It grows with them up to 64 KiB; then each event replaces the oldest one. A session without
/// events has no memory for them.
struct EventRing: ~Copyable {
    private static let smallestCapacity = 16
    static let largestCapacity = 65_536 / MemoryLayout<SessionEventRecord>.stride

    private var slots: UnsafeMutablePointer<SessionEventRecord>?
    private(set) var capacity = 0
    /// The slot of the next event; the capacity where there is none.
    private var next = 0
    /// Whether the slots from `next` on have the oldest events.
    private var isFull = false

    deinit { slots?.deallocate() }

    var count: Int { isFull ? capacity : next }

    /// The memory for the next event; nil where ``makeRoom()`` has to be called before.
    @inline(__always)
    var freeSlot: UnsafeMutablePointer<SessionEventRecord>? { next == capacity ? nil : slots.map { $0 + next } }

    /// The free slot has an event now.
    @inline(__always)
    mutating func didFillSlot() { next &+= 1 }

    mutating func append(_ record: SessionEventRecord) {
        if next == capacity { makeRoom() }
        freeSlot?.initialize(to: record)
        didFillSlot()
    }

    mutating func makeRoom() {
        guard capacity < Self.largestCapacity else {
            (next, isFull) = (0, true)
            return
        }
        let larger = min(max(capacity * 2, Self.smallestCapacity), Self.largestCapacity)
        let room = UnsafeMutablePointer<SessionEventRecord>.allocate(capacity: larger)
        if let slots {
            room.moveInitialize(from: slots, count: capacity)
            slots.deallocate()
        }
        (slots, capacity) = (room, larger)
    }

    /// The events, the oldest first.
    var records: [SessionEventRecord] {
        guard let slots else { return [] }
        let older = UnsafeBufferPointer(start: slots + next, count: isFull ? capacity - next : 0)
        return Array(older) + UnsafeBufferPointer(start: slots, count: next)
    }
}
