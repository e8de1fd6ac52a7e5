import LoadingKitPrimitives
import Synchronization

/// The bound of the unused chunks of all pools: the session that has used its chunks least recently releases them.
final class ChunkBudget: Sendable {
    static let ofProcess = ChunkBudget(32)

    private struct WeakPool {
        weak var pool: ChunkPool?
    }

    private let limit: Int
    private let count = Atomic<Int>(0)
    private let uses = Atomic<Int>(0)
    /// The pools that may have unused chunks.
    private let pools = Guarded<[WeakPool]>([])

    /// - Parameter limit: the number of chunks.
    init(_ limit: Int) { self.limit = limit }

    func nextUse() -> Int { uses.wrappingAdd(1, ordering: .relaxed).newValue }

    func add(_ pool: ChunkPool) { pools.withLock { $0.append(WeakPool(pool: pool)) } }

    func subtract(_ chunks: Int) { count.wrappingSubtract(chunks, ordering: .relaxed) }

    func addOne() {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return }
        leastRecentlyUsed()?.releaseKept()
    }

    private func leastRecentlyUsed() -> ChunkPool? {
        pools.withLock { pools in
            var (oldest, oldestUse): (ChunkPool?, Int) = (nil, .max)
            pools.removeAll { entry in
                guard let pool = entry.pool, let use = pool.reportUse() else { return true }
                if use < oldestUse { (oldest, oldestUse) = (pool, use) }
                return false
            }
            return oldest
        }
    }
}
