import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// The answers from a session's cache, by HTTP's rules and by the cache policies.
@Suite struct CachePolicyTests {
    /// Numbered bodies, fresh for ten seconds, each with its own tag.
    private static func numbered(
        _ fields: [String: String] = ["Cache-Control": "max-age=10"]
    ) -> LoopbackServer.Route {
        let counter = Counter()
        return { request in
            if request.fields[.ifNoneMatch] == "\"same\"" { return ServerResponse(304).adding(fields) }
            return ServerResponse.text("\(counter.next())").adding(fields)
        }
    }

    @Test func freshResponsesAreNotRequested() async throws {
        let test = try CachingSession(route: Self.numbered())
        defer { test.stop() }
        try await withTimeout {
            let first = try await test.load()
            #expect(first.body == "1" && first["Age"] == nil)
            test.clock.advance(by: 9)
            let second = try await test.load("/#fragment")
            #expect(second.body == "1" && second["Age"] == "9" && second["Content-Type"] == first["Content-Type"])
            #expect(try await test.load("/?query").body == "2")
            test.clock.advance(by: 1)
            #expect(try await test.load().body == "3")
            #expect(test.count == 3)
        }
    }

    @Test func staleResponsesAreValidated() async throws {
        let test = try CachingSession(
            route: Self.numbered([
                "Cache-Control": "max-age=10", "ETag": "\"same\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
            ]))
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 10)
            let confirmed = try await test.load()
            #expect(confirmed.status == 200 && confirmed.body == "1" && confirmed["Age"] == nil)
            #expect(test.server.requests[1]?.fields[.ifModifiedSince] == "Sun, 06 Nov 1994 08:49:37 GMT")
            // The 304 made it fresh again.
            #expect(try await test.load().body == "1")
            #expect(test.count == 2)
        }
    }

    @Test func everyPolicy() async throws {
        let test = try CachingSession(route: Self.numbered(["Cache-Control": "max-age=10", "ETag": "\"same\""]))
        defer { test.stop() }
        try await withTimeout {
            var unloaded = test.request()
            unloaded.cachePolicy = .returnCacheDataDontLoad
            #expect(await test.session.outcome(unloaded) == .failed(.resourceUnavailable))
            #expect(test.count == 0)
            #expect(try await test.load(policy: .returnCacheDataElseLoad).body == "1")
            test.clock.advance(by: 1000)
            for policy in [URLRequest.CachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
                #expect(try await test.load(policy: policy).body == "1")
            }
            #expect(test.count == 1)
            #expect(try await test.load(policy: .reloadIgnoringLocalCacheData).body == "2")
            let plain = try #require(test.server.requests.last).fields
            #expect(!plain.contains(.ifNoneMatch) && !plain.contains(.cacheControl))
            #expect(try await test.load(policy: .reloadIgnoringLocalAndRemoteCacheData).body == "3")
            let remote = try #require(test.server.requests.last).fields
            #expect(remote[.cacheControl] == "no-cache" && remote[.pragma] == "no-cache")
            // A response that was loaded past the cache is stored in it.
            #expect(try await test.load().body == "3")
            #expect(try await test.load(policy: .reloadRevalidatingCacheData).body == "3")
            let validation = try #require(test.server.requests.last).fields
            #expect(validation[.cacheControl] == "max-age=0" && validation[.ifNoneMatch] == "\"same\"")
            #expect(test.count == 4)
        }
    }

    @Test func theSessionsPolicyIsForRequestsWithoutOne() async throws {
        let test = try CachingSession({ $0.requestCachePolicy = .reloadIgnoringLocalCacheData }, route: Self.numbered())
        defer { test.stop() }
        try await withTimeout { () async throws in
            #expect(try await test.load().body == "1")
            #expect(try await test.load().body == "2")
            #expect(try await test.load(policy: .returnCacheDataDontLoad).body == "2")
        }
    }

    @Test func aPolicyIsNoAnswerToOtherMethods() async throws {
        let test = try CachingSession(route: Self.numbered())
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            var post = test.request(method: "POST")
            #expect(try await test.load(post).body == "2")
            post.cachePolicy = .returnCacheDataDontLoad
            #expect(await test.session.outcome(post) == .failed(.resourceUnavailable))
            // POST has invalidated the stored response.
            #expect(try await test.load().body == "3")
        }
    }

    @Test func headIsAnsweredByWhatAnswersGet() async throws {
        let tag = Guarded("a")
        let test = try CachingSession { _ in
            ServerResponse.text("body").adding(["Cache-Control": "max-age=10", "ETag": "\"\(tag.withLock { $0 })\""])
        }
        defer { test.stop() }
        try await withTimeout {
            let head = test.request(method: "HEAD")
            #expect(try await test.load(head).body == "")
            #expect(try await test.load(head)["Age"] == "0")
            #expect(test.count == 1)
            #expect(try await test.load().body == "body")
            #expect(test.count == 2)
            let fromBody = try await test.load(head)
            #expect(fromBody.body == "" && fromBody["Content-Length"] == "4" && test.count == 2)
            // A head of another representation invalidates the stored one (RFC 9111 §4.3.5).
            tag.withLock { $0 = "b" }
            test.clock.advance(by: 10)
            try await test.load(head)
            test.clock.advance(by: -5)
            try await test.load()
            #expect(test.count == 4)
        }
    }

    @Test func onlyIfCached() async throws {
        let test = try CachingSession(route: Self.numbered())
        defer { test.stop() }
        try await withTimeout {
            #expect(try await test.load("/", ["Cache-Control": "only-if-cached"]).status == 504)
            try await test.load()
            #expect(try await test.load("/", ["Cache-Control": "only-if-cached"]).body == "1")
            #expect(test.count == 1)
        }
    }

    @Test func noCacheNothingStored() async throws {
        let test = try CachingSession({ $0.urlCache = nil }, route: Self.numbered())
        defer { test.stop() }
        try await withTimeout { () async throws in
            #expect(try await test.load().body == "1")
            #expect(try await test.load().body == "2")
        }
    }

    @Test func configurationsHaveTheirCaches() {
        #expect(URLSessionConfiguration.default.urlCache === URLCache.shared)
        #expect(URLSessionConfiguration().urlCache === URLCache.shared)
        let ephemeral = URLSessionConfiguration.ephemeral
        #expect(ephemeral.urlCache !== URLCache.shared && ephemeral.urlCache?.diskCapacity == 0)
        #expect(URLSessionConfiguration.ephemeral.urlCache !== ephemeral.urlCache)
        #expect((ephemeral.copy() as? URLSessionConfiguration)?.urlCache === ephemeral.urlCache)
    }

    @Test func resettingEmptiesTheCache() async throws {
        let test = try CachingSession(route: Self.numbered())
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            await withCheckedContinuation { done in test.session.flush { done.resume() } }
            #expect(try await test.load().body == "1")
            await withCheckedContinuation { done in test.session.reset { done.resume() } }
            #expect(try await test.load().body == "2")
        }
    }

    @Test func redirectsAreRemembered() async throws {
        let test = try CachingSession { request in
            request.path == "/new"
                ? .text("new").adding("Cache-Control", "no-store")
                : .redirect(to: "/new", status: 301).adding("Cache-Control", "max-age=10")
        }
        defer { test.stop() }
        try await withTimeout {
            for _ in 0..<2 {
                let answer = try await test.load("/old#part")
                #expect(answer.body == "new" && answer.response.url?.fragment == "part")
            }
            #expect(test.server.requests.snapshot.map(\.path) == ["/old", "/new", "/new"])
        }
    }

    /// A program's conditions are about a representation, which a redirect or an error is not (RFC 9110 §13.2.1).
    @Test(arguments: [("If-None-Match", "*"), ("If-Modified-Since", "Fri, 31 Dec 2100 23:59:59 GMT")])
    func conditionsAreNotForStoredRedirectsAndErrors(_ name: String, _ value: String) async throws {
        let test = try CachingSession { request in
            switch request.path {
            case "/old": return .redirect(to: "/new", status: 301).adding("Cache-Control", "max-age=10")
            case "/gone": return .text("gone", status: 410).adding("Cache-Control", "max-age=10")
            case _: return .text("new").adding("Cache-Control", "no-store")
            }
        }
        defer { test.stop() }
        try await withTimeout {
            for fields in [[:], [name: value]] as [[String: String]] {
                #expect(try await test.load("/old", fields).body == "new")
                let gone = try await test.load("/gone", fields)
                #expect(gone.status == 410 && gone.body == "gone")
            }
            #expect(test.server.requests.snapshot.map(\.path) == ["/old", "/new", "/gone", "/new"])
        }
    }

    /// Follows one redirect, and no other.
    private final class Once: NSObject, URLSessionTaskDelegate {
        let counter = Counter()
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(counter.next() == 1 ? request : nil)
        }
    }

    private static let moved: LoopbackServer.Route = { request in
        request.path == "/new"
            ? .text("new")
            : ServerResponse.text("moved", status: 301).adding(["Location": "/new", "Cache-Control": "max-age=10"])
    }

    @Test func aRedirectThatIsNotFollowedHasItsContent() async throws {
        let test = try CachingSession(delegate: Once(), route: Self.moved)
        defer { test.stop() }
        try await withTimeout {
            #expect(try await test.load("/old").body == "new")
            // The content was not stored then, so it is requested now, and stored.
            for _ in 0..<2 {
                let answer = try await test.load("/old")
                #expect(answer.status == 301 && answer.body == "moved")
            }
            #expect(test.server.requests.snapshot.map(\.path) == ["/old", "/new", "/old"])
        }
    }

    /// The content, which is not stored, is not requested either for a request that only the cache may answer.
    @Test func aStoredRedirectThatIsNotFollowedIsNotRequestedAgainstThePolicy() async throws {
        let test = try CachingSession(delegate: Once(), route: Self.moved)
        defer { test.stop() }
        try await withTimeout { () async throws in
            #expect(try await test.load("/old").body == "new")
            var request = test.request("/old")
            request.cachePolicy = .returnCacheDataDontLoad
            #expect(await test.session.outcome(request) == .failed(.resourceUnavailable))
            #expect(try await test.load("/old", ["Cache-Control": "only-if-cached"]).status == 504)
            #expect(test.server.requests.snapshot.map(\.path) == ["/old", "/new"])
            #expect(try await test.load("/old", policy: .returnCacheDataElseLoad).body == "moved")
        }
    }

    @Test func usersAndBodiesAreKeptApart() async throws {
        let test = try CachingSession(route: Self.numbered())
        defer { test.stop() }
        try await withTimeout {
            for (name, body) in [("one", "1"), ("two", "2"), ("one", "1"), ("two", "2")] {
                let answer = try await test.load("/", ["Authorization": name])
                #expect(answer.body == body)
            }
            var request = test.request()
            request.httpBody = Data("a query of some kind".utf8)
            for body in ["3", "4"] {
                let answer = try await test.load(request)
                #expect(answer.body == body)
            }
        }
    }
}
