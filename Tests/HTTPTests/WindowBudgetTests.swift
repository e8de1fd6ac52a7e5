import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

/// The windows of streams beyond their first ones.
@Suite struct WindowBudgetTests {
    @Test func eachGetsHalfOfWhatIsLeftAtMost() {
        let budget = WindowBudget()
        let taken = (0..<5).map { _ in budget.take(40, limit: 100) }
        #expect(taken == [40, 30, 15, 7, 4])
        budget.giveBack(96)
        #expect(budget.take(1000, limit: 100) == 50)
    }

    @Test(arguments: [0, -1, 1]) func ofNothingNothingIsGiven(_ limit: Int) {
        let budget = WindowBudget()
        #expect(budget.take(1, limit: limit) == 0)
        #expect(budget.take(-5, limit: 100) == 0)
        var windows = ConnectionWindows(limit: limit, budget)
        #expect(windows.take(1 << 20) == 0)
    }

    @Test func withoutALimitAllIsGiven() {
        var windows = ConnectionWindows(limit: .max, WindowBudget())
        #expect(windows.take(64 << 20) == 64 << 20)
    }

    /// A connection leaves half to the others.
    @Test func aConnectionGetsHalf() {
        let budget = WindowBudget()
        var one = ConnectionWindows(limit: 1000, budget)
        var taken = 0
        for _ in 0..<100 { taken += one.take(1000) }
        #expect(taken == 500 && one.taken == 500)
        var two = ConnectionWindows(limit: 1000, budget)
        #expect(two.take(1000) == 250)
        one.giveBack(500)
        #expect(two.take(1000) == 250 && two.take(1000) == 0)
    }

    private struct Run: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var window = BandwidthEstimator.initialStream
        /// The bytes that the reader takes on arrival, each with the milliseconds since the ones before.
        let steps: [(bytes: Int, after: UInt64)]
        /// The sizes that are wanted, by the number of the step.
        let wanted: [Int: Int]
    }

    private static let runs = [
        Run(
            testDescription: "1 KiB a second", steps: Array(repeating: (bytes: 1 << 10, after: 1000), count: 10_000),
            wanted: [:]),
        Run(
            testDescription: "64 KiB within a second", steps: Array(repeating: (bytes: 4 << 10, after: 60), count: 16),
            wanted: [15: BandwidthEstimator.testedStream]),
        Run(
            testDescription: "512 KiB within a second", window: BandwidthEstimator.testedStream,
            steps: Array(repeating: (bytes: 16 << 10, after: 30), count: 32),
            wanted: [31: BandwidthEstimator.fluentStream]),
        Run(
            testDescription: "100 KiB a second", window: BandwidthEstimator.testedStream,
            steps: Array(repeating: (bytes: 100 << 10, after: 1000), count: 100), wanted: [:]),
        Run(
            testDescription: "60 KiB before and after a pause",
            steps: [(bytes: 60 << 10, after: 0), (bytes: 60 << 10, after: 3000), (bytes: 4 << 10, after: 100)],
            wanted: [2: BandwidthEstimator.testedStream]),
    ]

    /// The window of a stream that is slow, however long, does not grow: it would keep its part of the budget.
    @Test(arguments: runs) private func itGrowsWhereBytesComeFast(_ run: Run) {
        var (reading, now) = (FluentReading(), MonotonicTime(nanoseconds: 1))
        var wanted: [Int: Int] = [:]
        for (number, step) in run.steps.enumerated() {
            now = now.advanced(byNanoseconds: step.after * 1_000_000)
            wanted[number] = reading.noteTaken(step.bytes, window: run.window, now)
        }
        #expect(wanted == run.wanted)
    }
}
