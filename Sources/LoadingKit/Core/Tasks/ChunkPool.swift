import Foundation
import LoadingKitPrimitives

/// Memory for pieces of bodies, which is used again: the system has to clear fresh memory page by page, which costs more
/// than receiving what is put there.
final class ChunkPool: Sendable {
    /// The bytes of one chunk.
    static let chunkBytes = 256 * 1024

    /// Chunks that are kept for later: as many as may wait in a mailbox, and a few that are being filled.
    private static let mostKept = 8

    private struct Memory: @unchecked Sendable {  // nobody else's while it is kept here
        let base: UnsafeMutableRawPointer
    }

    private let kept = Guarded<[Memory]>([])

    deinit { kept.withLock { for memory in $0 { free(memory.base) } } }

    /// Nil when the system has no memory.
    func take() -> UnsafeMutableRawPointer? { kept.withLock { $0.popLast() }?.base ?? malloc(Self.chunkBytes) }

    /// From any thread.
    func giveBack(_ base: UnsafeMutableRawPointer) {
        let memory = Memory(base: base)
        let isKept = kept.withLock { kept in
            guard kept.count < Self.mostKept else { return false }
            kept.append(memory)
            return true
        }
        if !isKept { free(base) }
    }
}
