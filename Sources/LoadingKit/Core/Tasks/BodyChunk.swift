import Foundation

/// Memory that is filled with a body's bytes as they come, and becomes a piece of it.
final class BodyChunk {
    private let pool: ChunkPool
    private let base: UnsafeMutableRawPointer
    private var count = 0

    /// Nil when the system has no memory.
    init?(_ pool: ChunkPool) {
        guard let base = pool.take() else { return nil }
        self.pool = pool
        self.base = base
    }

    deinit { pool.giveBack(base) }

    /// What is not filled.
    var room: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + count, count: ChunkPool.chunkBytes - count)
    }

    /// Counts bytes that were written to `room`.
    func filled(_ count: Int) { self.count += max(0, min(count, ChunkPool.chunkBytes - self.count)) }

    /// Copies as many of the bytes as there is room for, and gives how many.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, room.count)
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
        count += taken
        return taken
    }

    /// What was filled; nothing more may be put here.
    ///
    /// A chunk that is nearly full is the data's memory without a copy, and goes back to the pool after it. Of another a
    /// copy is made, so that nobody keeps memory that is not needed.
    var data: Data {
        guard count > ChunkPool.chunkBytes / 2 else { return Data(bytes: base, count: count) }
        return Data(bytesNoCopy: base, count: count, deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
