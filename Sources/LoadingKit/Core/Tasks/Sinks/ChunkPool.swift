import Foundation
import LoadingKitPrimitives

/// Memory for pieces of bodies, which is reused: the system has to clear new memory page by page, which costs more than
/// receiving the bytes.
final class ChunkPool: Sendable {
    /// The chunks for bytes of files and of bodies' streams, whichever session reads them.
    static let ofProcess = ChunkPool()

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
        /// The number of the last use, by which the budget compares pools.
        var lastUse = 0
        /// Whether the budget knows the pool.
        var isCounted = false
    }

    private let state = Guarded(State())
    private let budget: ChunkBudget

    init(_ budget: ChunkBudget = .ofProcess) { self.budget = budget }

    deinit { close() }

    /// The bytes of the unused chunks.
    var keptBytes: Int { state.withLock { $0.kept.count } * Self.chunkBytes }

    /// The number of the last use. Without unused chunks it is nil, and the budget forgets the pool.
    func reportUse() -> Int? {
        state.withLock { state in
            guard state.kept.isEmpty else { return state.lastUse }
            state.isCounted = false
            return nil
        }
    }

    /// Nil when the system has no memory.
    func take() -> UnsafeMutableRawPointer? {
        guard let memory = state.withLock({ $0.kept.popLast() }) else { return malloc(Self.chunkBytes) }
        budget.subtract(1)
        return memory.base
    }

    /// Releases all chunks; no further chunks are kept.
    func close() {
        state.withLock { $0.isClosed = true }
        releaseKept()
    }

    /// Releases the unused chunks.
    func releaseKept() {
        let kept = state.withLock { exchange(&$0.kept, for: []) }
        for memory in kept { free(memory.base) }
        budget.subtract(kept.count)
    }

    /// Called from any thread.
    func giveBack(_ base: UnsafeMutableRawPointer) {
        let memory = Memory(base: base)
        let (isKept, isNew) = state.withLock { state in
            guard !state.isClosed, state.kept.count < Self.mostKept else { return (false, false) }
            state.kept.append(memory)
            state.lastUse = budget.nextUse()
            defer { state.isCounted = true }
            return (true, !state.isCounted)
        }
        guard isKept else { return free(base) }
        if isNew { budget.add(self) }
        budget.addOne()
    }
}
