import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The tests for HTTP caches of http-tests/cache-tests, read in place.
@Suite(.requires(.cache)) struct CacheConformanceTests {
    /// Tests that fail on purpose, and why.
    private static let exceptions: [String: String] = {
        let isPrivate = "it is for shared caches: a private one stores what is private, and s-maxage says nothing to it"
        let notNegotiated = "content negotiation is the server's; another request may be answered by another variant"
        return [
            "cc-resp-private-shared": isPrivate, "freshness-s-maxage-shared": isPrivate,
            "freshness-max-age-s-maxage-shared-longer": isPrivate,
            "freshness-max-age-s-maxage-shared-longer-reversed": isPrivate,
            "freshness-max-age-s-maxage-shared-longer-multiple": isPrivate,
            "freshness-max-age-s-maxage-shared-shorter": isPrivate,
            "freshness-max-age-s-maxage-shared-shorter-expires": isPrivate,
            "vary-normalise-lang-select": notNegotiated,
        ]
    }()

    /// Follows no redirect, as the tests are about the redirect responses.
    private final class NoRedirects: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }

    @Test func everyRequiredTestAndNineInTenOptimal() async throws {
        let data = try Data(contentsOf: ConformanceTable.cache.url("cache-tests.json"))
        let tests = try JSONDecoder().decode([CacheSuite].self, from: data).flatMap(\.tests)
        let clock = TestWallClock()
        let cases = CacheCaseServer(clock)
        let server = try LoopbackServer { try cases.answer($0) }
        defer { server.stop() }
        let base = try #require(URL(string: server.url("/")))
        let session = makeSession(delegate: NoRedirects()) { $0.settings.wallClock = clock.wallClock }
        defer { session.invalidateAndCancel() }

        let (passed, total) = try await withTimeout {
            var passed: [CacheCase.Kind: Int] = [:]
            var total: [CacheCase.Kind: Int] = [:]
            for test in tests {
                let kind = test.kind ?? .required
                let run = CacheCaseRun(test: test, session: session, server: cases, base: base, clock: clock)
                let failure = await run.failure()
                total[kind, default: 0] += 1
                if failure == nil { passed[kind, default: 0] += 1 }
                switch (kind, Self.exceptions[test.id]) {
                case (.check, _): break
                case (_, nil): #expect(failure == nil, "\(kind) \(test.id)")
                case (_, .some): #expect(failure != nil, "\(test.id) is no exception any more")
                }
                if let failure { print("    \(kind) \(test.id): \(failure)") }
            }
            return (passed, total)
        }
        for kind in [CacheCase.Kind.required, .optimal, .check] {
            print("cache-tests, \(kind): \(passed[kind] ?? 0) of \(total[kind] ?? 0)")
        }
        #expect((passed[.optimal] ?? 0) * 10 >= (total[.optimal] ?? 0) * 9)
    }
}
