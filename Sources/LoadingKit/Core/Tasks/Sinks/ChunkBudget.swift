import LoadingKitPrimitives
import Synchronization

/// The bound of the unused chunks of all pools: the session that has used its chunks least recently releases them.
final class ChunkBudget: Sendable {
    static let ofProcess = ChunkBudget(32)

    private struct WeakPool {
        weak var pool: ChunkPool?
    }

    private struct Pools {
        var entries: [WeakPool] = []
        /// The number of entries at which those of pools that are gone are removed.
        var limit = leastLimit

        static let leastLimit = 64
    }

    private let limit: Int
    private let count = Atomic<Int>(0)
    private let uses = Atomic<Int>(0)
    /// The pools that may have unused chunks.
    private let pools = Guarded(Pools())

    /// - Parameter limit: the number of chunks.
    init(_ limit: Int) { self.limit = limit }

    func nextUse() -> Int { uses.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The number of pools that are known, gone ones included.
    var poolCount: Int { pools.withLock { $0.entries.count } }

    func add(_ pool: ChunkPool) {
        pools.withLock { pools in
            if pools.entries.count >= pools.limit {
                pools.entries.removeAll { $0.pool == nil }
                pools.limit = max(Pools.leastLimit, 2 * pools.entries.count)
            }
            pools.entries.append(WeakPool(pool: pool))
        }
    }

    func subtract(_ chunks: Int) { count.wrappingSubtract(chunks, ordering: .relaxed) }

    func addOne() {
        guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return }
        leastRecentlyUsed()?.releaseKept()
    }

    private func leastRecentlyUsed() -> ChunkPool? {
        pools.withLock { pools in
            var (oldest, oldestUse): (ChunkPool?, Int) = (nil, .max)
            pools.entries.removeAll { entry in
                guard let pool = entry.pool, let use = pool.reportUse() else { return true }
                if use < oldestUse { (oldest, oldestUse) = (pool, use) }
                return false
            }
            return oldest
        }
    }
}
