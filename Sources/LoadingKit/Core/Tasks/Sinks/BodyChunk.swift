import Foundation

/// Memory that is filled with a body's bytes as they arrive, and becomes a piece of the body.
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

    /// The unused part of the chunk.
    var room: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: base + count, count: ChunkPool.chunkBytes - count)
    }

    /// Counts bytes that were written to `room`.
    func filled(_ count: Int) { self.count += max(0, min(count, ChunkPool.chunkBytes - self.count)) }

    /// Copies as many bytes as there is room for, and returns their number.
    func append(_ bytes: UnsafeRawBufferPointer) -> Int {
        let taken = min(bytes.count, room.count)
        room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(taken)))
        count += taken
        return taken
    }

    /// The received bytes; no more may be added.
    ///
    /// The data of a nearly full chunk uses the chunk's memory without a copy, which then returns to the pool. Any
    /// other chunk is copied, so that no unneeded memory is kept.
    var data: Data {
        guard count > ChunkPool.chunkBytes / 2 else { return Data(bytes: base, count: count) }
        return Data(bytesNoCopy: base, count: count, deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
}
