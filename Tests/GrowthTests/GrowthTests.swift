import TestSupport
import Testing

/// Ten times as many of something cost ten times as much, or a little more than that where things are sorted: in
/// instructions, as time says nothing where others use the machine.
@Suite(.usesPeers) struct GrowthTests {
    /// What n log n allows for the numbers below, with a little room; a square is 100.
    static let mostGrowth = 13.0

    /// A row of `GrowthProbe`, and a number of elements that is large enough for a square to show at ten times as many.
    static let rows: [(name: String, count: Int)] = [
        ("tasks", 100), ("redirects", 100), ("cancelled-first-to-last", 100), ("cancelled-last-to-first", 100),
        ("tasks-invalidated", 100), ("tasks-invalidated-when-finished", 100), ("deadlines", 100), ("all-tasks", 100),
        ("sessions", 10), ("origins", 20), ("origins-refused", 50), ("request-fields", 200),
        ("credentials", 500),
        ("queued-served", 50), ("queued-cancelled-first-to-last", 50), ("queued-cancelled-last-to-first", 50),
        ("queued-invalidated", 50), ("attributes", 300), ("har-boundary", 1_000),
        ("har-cookies", 2_000), ("event-lines", 1000),
    ]

    private static let counter = Result { try InstructionCounter() }

    @Test(arguments: rows) func tenTimesAsManyCostTenTimesAsMuch(_ row: (name: String, count: Int)) async throws {
        let counter = try Self.counter.get()
        let counts = try await onThread {
            try [0, row.count, 10 * row.count].map { try counter.instructions(row.name, $0) }
        }
        let growth = (counts[2] - counts[0]) / (counts[1] - counts[0])
        #expect(growth < Self.mostGrowth, "\(row.name): \(counts.map { Int($0) }) instructions")
    }
}
