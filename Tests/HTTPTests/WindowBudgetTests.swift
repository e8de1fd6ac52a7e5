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
}
