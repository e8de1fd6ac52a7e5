import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@testable import LoadingKitCore

@Suite struct SessionCountsTests {
    /// All reasons of one kind.
    private static func all<Reason: RawRepresentable<UInt8>>(_: Reason.Type) -> [Reason] {
        (0...UInt8.max).compactMap { Reason(rawValue: $0) }
    }

    /// A row has room for every reason, and each reason has a number of its own.
    @Test func eachEventAddsToOneNumber() {
        let events: [SessionEvent] =
            [
                .taskBegan, .taskSucceeded(bytes: 1), .loadBegan, .cookiesSent, .cookieStored,
                .requestBegan(isReusedConnection: false), .requestBegan(isReusedConnection: true),
                .redirected(status: 302), .connectionFailed, .connect(.cancelled),
            ] + (1...5).map { .responded(status: $0 * 100 + 4) } + Self.all(CacheDecision.self).map { .cache($0) }
            + Self.all(CookieRefusal.self).map { .cookieRefused($0) } + Self.all(RetryReason.self).map { .retried($0) }
            + Self.all(ChallengeKind.self).map { .challenged($0) }
            + Self.all(ChallengeOutcome.self).map { .challengeAnswered($0) }
            + Self.all(ConnectPhase.self).map { .connect(.failed($0)) }
            + Self.all(ConnectionProtocol.self).map { .connectionOpened($0) }
            + Self.all(ConnectionEnd.self).map { .connectionClosed($0) }
        var counts = SessionCounts()
        for (number, event) in events.enumerated() {
            counts.count(event)
            let rows = SessionCounts.Row.allCases.flatMap { counts.values[$0] }
            #expect(rows.reduce(0, +) == number + 1 && rows.max() == 1, "\(event)")
        }
        #expect(counts.values.others.delivered == 1)
        for event in events { counts.count(event) }
        #expect(SessionCounts.Row.allCases.flatMap { counts.values[$0] }.allSatisfy { $0 == 0 || $0 == 2 })
    }

    @Test func failuresAreCountedByCode() {
        var counts = SessionCounts()
        for code: Int32 in [-999, -1001, -999, 0] { counts.count(.taskFailed(code: code)) }
        #expect(counts.values.others.failures == [-999: 2, -1001: 1, 0: 1])
    }

    @Test func unknownStatusesAreCounted() {
        var counts = SessionCounts()
        for status: UInt16 in [0, 99, 999, .max] { counts.count(.responded(status: status)) }
        #expect(counts.values[.responses].reduce(0, +) == 4)
    }

    struct Opening: Sendable {
        /// Milliseconds, and the step then.
        let steps: [(Int, ConnectStep)]
        /// Measured milliseconds.
        var lookUp: Int?
        var connect: Int?
        var handshake: Int?
    }

    static let openings = [
        Opening(steps: []),
        Opening(steps: [(1, .connecting(to: nil, port: 0)), (4, .connected(to: nil))], connect: 3),
        Opening(
            steps: [
                (0, .lookUpBegan), (5, .lookUpEnded(addressCount: 1)), (5, .connecting(to: nil, port: 1)),
                (7, .lookUpEnded(addressCount: 1)), (8, .connecting(to: nil, port: 1)),
                (9, .connectFailed(to: nil, errno: 1)), (10, .connected(to: nil)), (10, .handshakeBegan),
                (30, .handshakeEnded(version: 0x0304)),
            ], lookUp: 5, connect: 5, handshake: 20),
        Opening(steps: [(0, .lookUpBegan), (5, .failed(.lookUp)), (6, .lookUpEnded(addressCount: 0))]),
        Opening(steps: [(0, .connecting(to: nil, port: 1)), (5, .cancelled), (6, .connected(to: nil))]),
        Opening(
            steps: [
                (0, .connecting(to: nil, port: 1)), (5, .connected(to: nil)), (6, .handshakeBegan),
                (9, .failed(.handshake)),
            ], connect: 5),
    ]

    @Test(arguments: openings) func stepsAreTimed(_ opening: Opening) {
        var counts = SessionCounts()
        for (time, step) in opening.steps {
            // Another connection makes the same steps, later.
            for (connection, delay) in [(UInt32(1), 0), (2, 1)] {
                let now = MonotonicTime(nanoseconds: UInt64(time + delay) * 1_000_000)
                counts.time(step, of: connection, at: now)
            }
        }
        let others = counts.values.others
        for (sum, expected) in [
            (others.lookUps, opening.lookUp), (others.connects, opening.connect),
            (others.handshakes, opening.handshake),
        ] {
            #expect(sum.count == (expected == nil ? 0 : 2))
            guard let expected else { continue }
            let nanoseconds = UInt64(expected) * 1_000_000
            #expect(sum.least == nanoseconds && sum.greatest == nanoseconds && sum.sum == 2 * nanoseconds)
        }
    }

    // MARK: The page

    private static let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../../Sources/LoadingKit/LoadingKit/LoadingKit.docc/Statistics.md"
    ).standardizedFileURL

    private static func lines<Reason: RawRepresentable<UInt8>>(
        _ figure: String, _ type: Reason.Type, _ text: (Reason) -> String
    ) -> [String] {
        all(type).map { "| `\(figure)` | `\($0)` | \(text($0)) |" }
    }

    /// `LOADINGKIT_WRITE_PAGES=1` writes the table.
    @Test func thePageHasAllReasons() throws {
        let head = ["| figure | reason | meaning |", "|---|---|---|"]
        let table =
            head + Self.lines("requests.retries", RetryReason.self, \.text)
            + Self.lines("connections.closed", ConnectionEnd.self, \.text)
            + Self.lines("connections.failed", ConnectPhase.self) { "failed while \($0.text)" }
            + Self.lines("cache", CacheDecision.self, \.text)
            + Self.lines("cookies.refused", CookieRefusal.self, \.text)
            + Self.lines("challenges.received", ChallengeKind.self, \.text)
            + Self.lines("challenges.answers", ChallengeOutcome.self, \.text)
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        var lines = text.components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: head[0]))
        let end = try #require(lines[start...].firstIndex(of: ""))
        if ProcessInfo.processInfo.environment["LOADINGKIT_WRITE_PAGES"] != nil {
            lines.replaceSubrange(start..<end, with: table)
            try lines.joined(separator: "\n").write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            let isSame = Array(lines[start..<end]) == table
            #expect(isSame, "run the test with LOADINGKIT_WRITE_PAGES=1, and read the difference of Statistics.md")
        }
    }
}
