import LoadingKitPrimitives
import Testing

@testable import LoadingKitTransport

@Suite struct ResultPacingTests {
    /// One look at the results that wait to be told of.
    private struct Look {
        /// Microseconds since the look before.
        let after: UInt64
        let results: Int
        let awaited: Int
        let pauses: Bool
    }

    private struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// Results that came one by one before, so many microseconds apart.
        let apart: UInt64
        let looks: [Look]
    }

    private static let cases = [
        Case(
            testDescription: "a pause that brings none is the last", apart: 10,
            looks: [
                Look(after: 10, results: 1, awaited: 60, pauses: true),
                Look(after: 40, results: 1, awaited: 60, pauses: false),
            ]),
        Case(
            testDescription: "six in a row", apart: 10,
            looks: (1...7).map { Look(after: 40, results: $0 * 3, awaited: 60 - $0, pauses: $0 < 7) }),
        Case(
            testDescription: "enough", apart: 10,
            looks: [
                Look(after: 10, results: 23, awaited: 60, pauses: true),
                Look(after: 40, results: 24, awaited: 59, pauses: false),
            ]),
        Case(
            testDescription: "few are still awaited", apart: 10,
            looks: [Look(after: 10, results: 1, awaited: 15, pauses: false)]),
        Case(
            testDescription: "they come slowly", apart: 100,
            looks: [Look(after: 100, results: 1, awaited: 60, pauses: false)]),
        Case(
            testDescription: "the first after a silence", apart: 10,
            looks: [Look(after: 10_000_000, results: 1, awaited: 60, pauses: false)]),
        Case(testDescription: "none", apart: 10, looks: [Look(after: 10, results: 0, awaited: 60, pauses: false)]),
    ]

    @Test(arguments: cases) private func pauses(_ test: Case) {
        var pacing = ResultPacing()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        for _ in 0..<100 {
            now = now.advanced(byNanoseconds: test.apart * 1000)
            _ = pacing.pauses(before: 1, awaited: 0, now: now)
        }
        let found = test.looks.map { look in
            now = now.advanced(byNanoseconds: look.after * 1000)
            return pacing.pauses(before: look.results, awaited: look.awaited, now: now)
        }
        #expect(found == test.looks.map(\.pauses))
    }

    /// What is told of at the end of a turn, and of the next.
    @Test func theMemoryOfManyResultsIsNotKept() {
        let outbox = Outbox()
        for count in [100, 10_000] {
            for _ in 0..<count {
                outbox.append({})
                outbox.append(afterPause: {})
                outbox.append(resumption: {})
            }
            outbox.endTurn(now: MonotonicTime(nanoseconds: 0), canPause: false)
            #expect(outbox.isEmpty)
            #expect((outbox.capacity > 0) == (count == 100))
        }
    }
}
