import Testing

@testable import LoadingKitCore

/// The memory that sessions keep for pieces of bodies, all of them together.
@Suite struct ChunkPoolTests {
    /// Takes chunks, and gives them back.
    private static func use(_ pool: ChunkPool, _ count: Int) {
        for chunk in (0..<count).compactMap({ _ in pool.take() }) { pool.giveBack(chunk) }
    }

    private static func kept(_ pools: [ChunkPool]) -> [Int] { pools.map { $0.keptBytes / ChunkPool.chunkBytes } }

    @Test func theSessionThatWasUsedLeastRecentlyReleasesItsChunks() {
        let budget = ChunkBudget(10)
        let pools = (0..<4).map { _ in ChunkPool(budget) }
        for pool in pools[..<3] { Self.use(pool, 3) }
        #expect(Self.kept(pools) == [3, 3, 3, 0])
        // The first is used again, so that the second is the oldest.
        Self.use(pools[0], 1)
        Self.use(pools[3], 2)
        #expect(Self.kept(pools) == [3, 0, 3, 2])
        // A session that begins again is counted again.
        Self.use(pools[1], 3)
        #expect(Self.kept(pools) == [3, 3, 0, 2])
    }

    @Test func closedPoolsLeaveTheirPartToOthers() {
        let budget = ChunkBudget(8)
        for _ in 0..<100 {
            let pool = ChunkPool(budget)
            Self.use(pool, 8)
            #expect(Self.kept([pool]) == [8])
        }
        let pools = [ChunkPool(budget), ChunkPool(budget)]
        for pool in pools { Self.use(pool, 4) }
        #expect(Self.kept(pools) == [4, 4])
        for pool in pools { pool.close() }
        Self.use(pools[0], 1)
        #expect(Self.kept(pools) == [0, 0])
    }

    @Test func poolsThatAreGoneAreForgotten() {
        let budget = ChunkBudget(8)
        let pool = ChunkPool(budget)
        Self.use(pool, 1)
        for _ in 0..<10_000 { Self.use(ChunkPool(budget), 1) }
        #expect(budget.poolCount <= 64)
        // The one that is still there is known, and releases its chunk.
        let other = ChunkPool(budget)
        Self.use(other, 8)
        #expect(Self.kept([pool, other]) == [0, 8])
    }

    @Test func manySessionsKeepNoMoreThanTheBudget() {
        let budget = ChunkBudget(32)
        let pools = (0..<200).map { _ in ChunkPool(budget) }
        for _ in 0..<3 {
            for pool in pools {
                Self.use(pool, 8)
                #expect(Self.kept([pool]) == [8])
            }
        }
        #expect(Self.kept(pools).reduce(0, +) <= 32)
    }
}
