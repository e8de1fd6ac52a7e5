/// Assembles bytes in memory that is reused for the next block.
///
/// An array checks at each append whether it has other owners and whether it has room. A header block has many small
/// pieces; here only the room is checked.
struct ByteBuilder: Sendable {
    private var memory: Memory
    private var capacity: Int
    private(set) var count = 0

    /// The largest capacity that is kept for reuse: more than most lists need.
    private static let keptCapacity = 16 * 1024

    /// A builder never writes to memory that another builder refers to: see ``removeAll()``.
    private final class Memory: @unchecked Sendable {  // written to by its only builder
        let start: UnsafeMutableRawPointer

        init(capacity: Int) { start = .allocate(byteCount: capacity, alignment: 8) }

        deinit { start.deallocate() }
    }

    init() {
        capacity = 1024
        memory = Memory(capacity: capacity)
    }

    /// Makes the builder empty, and independent of a builder from which it was copied. Must be called before the first
    /// byte is appended.
    mutating func removeAll() {
        count = 0
        guard capacity > Self.keptCapacity || !isKnownUniquelyReferenced(&memory) else { return }
        self = ByteBuilder()
    }

    /// The assembled bytes. Valid until the next change.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory.start, count: count) }

    /// The bytes from `start` on, which must not be behind the end. Valid until the next change.
    @inline(__always)
    func bytes(from start: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory.start + start, count: count &- start)
    }

    /// Room for `wanted` more bytes. ``advance(by:)`` moves the end behind the bytes written.
    @inline(__always)
    mutating func room(_ wanted: Int) -> UnsafeMutableRawBufferPointer {
        if wanted > capacity &- count { grow(by: wanted) }
        return UnsafeMutableRawBufferPointer(start: memory.start + count, count: wanted)
    }

    /// Adds bytes that were written to ``room(_:)``.
    @inline(__always)
    mutating func advance(by written: Int) { count &+= written }

    /// Removes the last `removed` bytes, which must exist.
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
