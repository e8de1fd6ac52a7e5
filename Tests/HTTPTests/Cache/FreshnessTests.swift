import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

@Suite("Freshness") struct FreshnessTests {
    struct Case: Sendable {
        var status = 200
        let lines: [String]
        let lifetime: TimeInterval

        init(_ lifetime: TimeInterval, status: Int = 200, _ lines: String...) {
            (self.lifetime, self.status, self.lines) = (lifetime, status, lines)
        }
    }

    @Test(
        "lasts as the response says, or as its past suggests",
        arguments: [
            Case(0, "Date: \(date(0))"),
            Case(60, "Date: \(date(0))", "Cache-Control: max-age=60"),
            Case(60, "Date: \(date(0))", "Cache-Control: max-age=60", "Expires: \(date(-5))"),
            Case(0, "Date: \(date(0))", "Cache-Control: max-age=0", "Expires: \(date(3600))"),
            Case(100, "Date: \(date(-20))", "Expires: \(date(80))"),
            Case(80, "Expires: \(date(80))"),
            Case(0, "Date: \(date(0))", "Expires: \(date(-80))"),
            Case(0, "Date: \(date(0))", "Expires: 0", "Last-Modified: \(date(-1000))"),
            Case(0, "Date: \(date(0))", "Cache-Control: max-age=x", "Last-Modified: \(date(-1000))"),
            Case(100, "Date: \(date(0))", "Last-Modified: \(date(-1000))"),
            Case(0, "Date: \(date(0))", "Last-Modified: \(date(1000))"),
            Case(0, "Date: \(date(0))", "Last-Modified: yesterday"),
            Case(604_800, "Date: \(date(0))", "Last-Modified: \(date(-100_000_000))"),
            Case(100, status: 404, "Date: \(date(0))", "Last-Modified: \(date(-1000))"),
            Case(0, status: 302, "Date: \(date(0))", "Last-Modified: \(date(-1000))"),
            Case(100, status: 302, "Date: \(date(0))", "Last-Modified: \(date(-1000))", "Cache-Control: public"),
            Case(60, status: 599, "Cache-Control: max-age=60"),
        ])
    func lifetime(_ test: Case) throws {
        let freshness = try stored(test.status, test.lines).freshness(now: receipt)
        #expect(freshness.lifetime == test.lifetime, "\(test.lines)")
    }

    @Test(
        "wears off from the time that the response was made",
        arguments: [
            ([], 0.0, 10.0),
            (["Date: \(date(-100))"], 0, 110),
            (["Date: \(date(100))"], 0, 10),
            (["Date: \(date(0))", "Age: 50"], 0, 60),
            (["Date: \(date(-100))", "Age: 50"], 3, 110),
            (["Age: 50"], 3, 63),
            (["Age: 7, 50"], 0, 17),
            (["Age: -50"], 0, 10),
            (["Age: 1.5"], 0, 10),
            (["Age: 99999999999999999999"], 0, 2_147_483_658),
        ])
    func age(_ lines: [String], _ delay: TimeInterval, _ age: TimeInterval) {
        let freshness = Freshness(
            status: 200, fields: .lines(lines), control: CacheControl(),
            requestTime: receipt.addingTimeInterval(-delay),
            responseTime: receipt, now: receipt.addingTimeInterval(10))
        #expect(freshness.age == age)
    }

    @Test("bears clocks that are set anew")
    func clocks() throws {
        let response = try stored(200, ["Date: \(date(0))", "Cache-Control: max-age=60"])
        #expect(response.freshness(now: receipt.addingTimeInterval(-3600)) == Freshness(lifetime: 60, age: 0))
        // It was received while the clock was wrong.
        let wrong = response.freshness(now: receipt.addingTimeInterval(-1e9))
        #expect(!wrong.isFresh && wrong.staleness == .infinity)
        #expect(!response.freshness(now: .distantFuture).isFresh)
        #expect(response.freshness(now: receipt.addingTimeInterval(60)).isFresh == false)
        #expect(response.freshness(now: receipt.addingTimeInterval(75)).staleness == 15)
    }
}
