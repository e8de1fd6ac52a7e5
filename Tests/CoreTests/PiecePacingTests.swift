import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore

@Suite struct PiecePacingTests {
    /// The end of a turn that brought bytes, or none.
    private struct Turn {
        /// Microseconds since the turn before.
        let after: UInt64
        let bytes: Int
        let waits: Bool
    }

    private struct Case: CustomTestStringConvertible {
        let testDescription: String
        let turns: [Turn]
    }

    private static let cases = [
        Case(
            testDescription: "the first bytes after a silence are delivered at once",
            turns: [
                Turn(after: 1_000_000, bytes: 200_000, waits: false), Turn(after: 40, bytes: 65_536, waits: true),
                Turn(after: 1_000_000, bytes: 200_000, waits: false),
            ]),
        Case(
            testDescription: "a fast body waits as long as it is fast",
            turns: [
                Turn(after: 1_000_000, bytes: 65_536, waits: false), Turn(after: 40, bytes: 65_536, waits: true),
                Turn(after: 40, bytes: 131_072, waits: true), Turn(after: 40, bytes: 65_536, waits: true),
            ]),
        Case(
            testDescription: "a pause that brings nothing, or little, is the last",
            turns: [
                Turn(after: 1_000_000, bytes: 65_536, waits: false), Turn(after: 40, bytes: 65_536, waits: true),
                Turn(after: 40, bytes: 0, waits: false), Turn(after: 40, bytes: 65_536, waits: true),
                Turn(after: 40, bytes: 100, waits: false),
            ]),
        Case(
            testDescription: "small messages do not wait, however quick they are",
            turns: (0..<5).map { _ in Turn(after: 20, bytes: 1400, waits: false) }),
        Case(
            testDescription: "a body of a slower network does not wait",
            turns: (0..<5).map { _ in Turn(after: 500, bytes: 65_536, waits: false) }),
    ]

    @Test(arguments: cases) private func waits(_ test: Case) {
        var pacing = PiecePacing()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        let found = test.turns.map { turn in
            now = now.advanced(byNanoseconds: turn.after * 1000)
            pacing.received += turn.bytes
            return pacing.waits(now: now)
        }
        #expect(found == test.turns.map(\.waits))
    }
}
