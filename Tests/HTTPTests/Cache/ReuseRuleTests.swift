import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

@Suite("Reuse") struct ReuseRuleTests {
    struct Case: Sendable {
        let verdict: ReuseRule.Verdict
        /// The response's lifetime is 100 seconds.
        let age: TimeInterval
        let response: String
        let request: String

        init(_ verdict: ReuseRule.Verdict, age: TimeInterval, _ response: String = "", request: String = "") {
            (self.verdict, self.age, self.response, self.request) = (verdict, age, response, request)
        }
    }

    @Test(arguments: [
        Case(.fresh, age: 0), Case(.fresh, age: 99), Case(.validate, age: 100), Case(.validate, age: 1e9),
        Case(.validate, age: 0, "no-cache"), Case(.fresh, age: 0, "no-cache=\"a\""),
        Case(.validate, age: 0, request: "no-cache"), Case(.fresh, age: 0, "must-revalidate"),
        Case(.validate, age: 100, "must-revalidate"),
        Case(.validate, age: 10, request: "max-age=10"), Case(.fresh, age: 9, request: "max-age=10"),
        Case(.validate, age: 0, request: "max-age=0"),
        Case(.fresh, age: 40, request: "min-fresh=60"), Case(.validate, age: 41, request: "min-fresh=60"),
        Case(.fresh, age: 150, request: "max-stale"), Case(.fresh, age: 150, request: "max-stale=50"),
        Case(.validate, age: 151, request: "max-stale=50"),
        Case(.validate, age: 150, "must-revalidate", request: "max-stale"),
        Case(.validate, age: 0, "no-cache", request: "max-stale"),
        Case(.fresh, age: 15, request: "max-age=10, max-stale=5"),
        Case(.validate, age: 16, request: "max-age=10, max-stale=5"),
        Case(.staleWhileRevalidate, age: 110, "stale-while-revalidate=10"),
        Case(.validate, age: 111, "stale-while-revalidate=10"),
        Case(.fresh, age: 99, "stale-while-revalidate=10"),
        Case(.validate, age: 105, "stale-while-revalidate=10, must-revalidate"),
        Case(.validate, age: 105, "stale-while-revalidate=10", request: "no-cache"),
        Case(.validate, age: 105, "stale-while-revalidate=10", request: "max-age=100"),
        Case(.validate, age: 105, "stale-while-revalidate=10", request: "min-fresh=1"),
    ])
    func verdicts(_ test: Case) {
        let verdict = ReuseRule.verdict(
            Freshness(lifetime: 100, age: test.age), CacheControl(.lines("Cache-Control: \(test.response)")),
            request: CacheControl(ofRequest: .lines("Cache-Control: \(test.request)")))
        #expect(verdict == test.verdict, "\(test)")
    }

    @Test(
        "on errors",
        arguments: [
            (true, 110.0, "stale-if-error=10", ""), (false, 111, "stale-if-error=10", ""), (false, 110, "", ""),
            (true, 110, "", "stale-if-error=10"), (true, 110, "stale-if-error=1", "stale-if-error=10"),
            (false, 110, "stale-if-error=10, must-revalidate", ""), (false, 110, "stale-if-error=10, no-cache", ""),
            (false, 110, "stale-if-error=10", "no-cache"), (true, 5, "stale-if-error=10", ""),
        ])
    func errors(_ serves: Bool, _ age: TimeInterval, _ response: String, _ request: String) {
        let mayServe = ReuseRule.mayServeOnError(
            Freshness(lifetime: 100, age: age), CacheControl(.lines("Cache-Control: \(response)")),
            request: CacheControl(ofRequest: .lines("Cache-Control: \(request)")))
        #expect(mayServe == serves)
    }
}

@Suite("Conditions") struct RequestConditionsTests {
    @Test(
        "of the program's own",
        arguments: [
            (RequestConditions.Outcome.unconditional, [String]()),
            (.notModified, ["If-None-Match: \"a\""]), (.modified, ["If-None-Match: \"b\""]),
            (.notModified, ["If-None-Match: W/\"a\""]), (.notModified, ["If-None-Match: \"b,c\" , \"a\""]),
            (.notModified, ["If-None-Match: \"b\"", "If-None-Match: \"a\""]), (.notModified, ["If-None-Match: *"]),
            (.notModified, ["If-None-Match: \"a\"", "If-Modified-Since: \(date(-9000))"]),
            (.modified, ["If-None-Match: \"b\"", "If-Modified-Since: \(date(0))"]),
            (.notModified, ["If-Modified-Since: \(date(-50))"]), (.modified, ["If-Modified-Since: \(date(-51))"]),
            (.modified, ["If-Modified-Since: yesterday"]), (.forServer, ["If-Match: \"a\""]),
            (.forServer, ["If-Unmodified-Since: \(date(0))", "If-None-Match: \"a\""]),
        ])
    func outcomes(_ outcome: RequestConditions.Outcome, _ request: [String]) throws {
        let response = try stored(200, ["ETag: \"a\"", "Last-Modified: \(date(-50))", "Date: \(date(0))"])
        #expect(RequestConditions.outcome(.lines(request), response, now: receipt) == outcome)
    }

    @Test(
        "are not for redirects and errors", arguments: [301, 302, 404, 410, 503],
        [["If-None-Match: *"], ["If-None-Match: \"a\""], ["If-None-Match: \"b\""], ["If-Modified-Since: \(date(0))"]])
    func otherStatuses(_ status: Int, _ request: [String]) throws {
        let response = try stored(status, ["ETag: \"a\"", "Date: \(date(0))"])
        #expect(RequestConditions.outcome(.lines(request), response, now: receipt) == .unconditional)
    }

    @Test("that validate")
    func validators() throws {
        let both = RequestConditions.validators(of: try stored(200, ["ETag: W/\"a\"", "Last-Modified: x"]))
        #expect(both.asLines == ["If-None-Match: W/\"a\"", "If-Modified-Since: x"])
        #expect(RequestConditions.validators(of: try stored(200, ["Date: \(date(0))"])).isEmpty)
    }
}
