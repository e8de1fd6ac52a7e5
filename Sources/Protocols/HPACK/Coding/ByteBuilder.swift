/// Puts bytes together, in memory that stays for the next time.
///
/// An array checks whether it has other owners, and whether it has room, at each of the many small pieces; here only the
/// room is looked at.
struct ByteBuilder: Sendable {
    private var memory: Memory
    private var capacity: Int
    private(set) var count = 0

    /// What is kept for the next time: more than a list mostly has.
    private static let keptCapacity = 16 * 1024

    /// No builder writes to memory that another one refers to: see ``removeAll()``.
    private final class Memory: @unchecked Sendable {  // written to by its only builder
        let start: UnsafeMutableRawPointer

        init(capacity: Int) { start = .allocate(byteCount: capacity, alignment: 8) }

        deinit { start.deallocate() }
    }

    init() {
        capacity = 1024
        memory = Memory(capacity: capacity)
    }

    /// Makes it empty, and what has been a copy of another builder independent. Comes before the first byte.
    mutating func removeAll() {
        count = 0
        guard capacity > Self.keptCapacity || !isKnownUniquelyReferenced(&memory) else { return }
        self = ByteBuilder()
    }

    /// What has been put together, until the next change.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory.start, count: count) }

    /// The bytes from `start` on, which is not behind the end, until the next change.
    @inline(__always)
    func bytes(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.start + start, count: count &- start)
    }

    /// Room for `wanted` bytes more, behind which ``advance(by:)`` moves the end.
    @inline(__always)
    mutating func room(_ wanted: Int) -> UnsafeMutableRawBufferPointer {
        if wanted > capacity &- count { grow(by: wanted) }
        return UnsafeMutableRawBufferPointer(start: memory.start + count, count: wanted)
    }

    /// Takes up bytes that were written to ``room(_:)``.
    @inline(__always)
    mutating func advance(by written: Int) { count &+= written }

    /// Takes the last bytes away, which are there.
    @inline(__always)
    mutating func removeLast(_ removed: Int) { count &-= removed }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        room(1)[0] = byte
        advance(by: 1)
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        room(bytes.count).copyMemory(from: bytes)
        advance(by: bytes.count)
    }

    @inline(never)
    private mutating func grow(by wanted: Int) {
        let larger = max(count + wanted, capacity * 2)
        let memory = Memory(capacity: larger)
        memory.start.copyMemory(from: self.memory.start, byteCount: count)
        self.memory = memory
        capacity = larger
    }
}
