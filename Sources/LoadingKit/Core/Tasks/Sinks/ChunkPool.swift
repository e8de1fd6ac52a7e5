import Foundation
import LoadingKitPrimitives

/// Memory for pieces of bodies, which is reused: the system has to clear new memory page by page, which costs more than
/// receiving the bytes.
final class ChunkPool: Sendable {
    /// The bytes of one chunk.
    static let chunkBytes = 256 * 1024

    /// The largest number of unused chunks: those that can wait in a mailbox, and a few that are being filled.
    private static let mostKept = 8

    private struct Memory: @unchecked Sendable {  // used by no chunk while it is kept here
        let base: UnsafeMutableRawPointer
    }

    private struct State {
        var kept: [Memory] = []
        var isClosed = false
    }

    private let state = Guarded(State())

    deinit { close() }

    /// The bytes of the unused chunks.
    var keptBytes: Int { state.withLock { $0.kept.count } * Self.chunkBytes }

    /// Nil when the system has no memory.
    func take() -> UnsafeMutableRawPointer? { state.withLock { $0.kept.popLast() }?.base ?? malloc(Self.chunkBytes) }

    /// Releases all chunks; no further chunks are kept.
    func close() {
        let kept = state.withLock { state in
            state.isClosed = true
            defer { state.kept = [] }
            return state.kept
        }
        for memory in kept { free(memory.base) }
    }

    /// Called from any thread.
    func giveBack(_ base: UnsafeMutableRawPointer) {
        let memory = Memory(base: base)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.kept.count < Self.mostKept else { return false }
            state.kept.append(memory)
            return true
        }
        if !isKept { free(base) }
    }
}
