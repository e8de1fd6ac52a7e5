import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Stale responses: used while they are validated, used after errors, and validated once for all waiting requests.
@Suite struct CacheValidationTests {
    @Test func staleWhileItIsValidated() async throws {
        let counter = Counter()
        let test = try CachingSession { _ in
            ServerResponse.text("\(counter.next())").adding("Cache-Control", "max-age=10, stale-while-revalidate=20")
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 15)
            let stale = try await test.load()
            #expect(stale.body == "1" && stale["Age"] == "15")
            _ = await test.server.requests.count(reaches: 2)
            // The old response is used until the new one is received. There is no third request.
            var body = "1"
            while body == "1" { body = try await test.load().body }
            #expect(body == "2" && test.count == 2)
            test.clock.advance(by: 31)
            #expect(try await test.load().body == "3")
        }
    }

    @Test func oneValidationBehindTheAnswersIsEnough() async throws {
        let release = Signal()
        let test = try CachingSession { request in
            if request.fields.contains(name: "Stale") { try request.exchange.wait(for: release) }
            return ServerResponse.text("body").adding("Cache-Control", "max-age=10, stale-while-revalidate=20")
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 15)
            for _ in 0..<5 { #expect(try await test.load("/", ["Stale": "1"])["Age"] == "15") }
            _ = await test.server.requests.count(reaches: 2)
            release.fire()
            var age: String? = "15"
            while age == "15" { age = try await test.load()["Age"] }
            #expect(test.count == 2)
        }
    }

    @Test func aSessionEndsItsValidations() async throws {
        let test = try CachingSession { request in
            if request.number > 0 || request.connection > 0 { try request.exchange.waitUntilClientCloses() }
            return ServerResponse.text("1").adding("Cache-Control", "max-age=10, stale-while-revalidate=20")
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 15)
            try await test.load()
            _ = await test.server.requests.count(reaches: 2)
            test.session.finishTasksAndInvalidate()
            // The server sees that its connection is closed.
            _ = await test.server.endings.count(reaches: 1)
        }
    }

    @Test(arguments: ["stale-if-error=20", ""]) func staleOnErrors(_ directive: String) async throws {
        let isBroken = Guarded(false)
        let test = try CachingSession { request in
            guard isBroken.withLock({ $0 }) else {
                return ServerResponse.text("good").adding("Cache-Control", "max-age=10, \(directive)")
            }
            if request.path == "/reset" { try request.exchange.reset() }
            return .text("bad", status: 503)
        }
        defer { test.stop() }
        try await withTimeout {
            for path in ["/status", "/reset"] { try await test.load(path) }
            isBroken.withLock { $0 = true }
            test.clock.advance(by: 15)
            if directive.isEmpty {
                #expect(try await test.load("/status").body == "bad")
                await #expect(throws: URLError.self) { try await test.load("/reset") }
            } else {
                for path in ["/status", "/reset"] {
                    let answer = try await test.load(path)
                    #expect(answer.body == "good" && answer["Age"] == "15")
                }
                test.clock.advance(by: 16)
                #expect(try await test.load("/status").body == "bad")
            }
        }
    }

    @Test func aServerThatIsGone() async throws {
        // No other server gets the port when this one is gone.
        let test = try CachingSession(port: try RefusingPort.keepOne()) { _ in
            ServerResponse.text("good").adding("Cache-Control", "max-age=10, stale-if-error=20").closing()
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.server.stop()
            test.clock.advance(by: 15)
            #expect(try await test.load().body == "good")
            test.clock.advance(by: 16)
            await #expect(throws: URLError.self) { try await test.load() }
        }
    }

    @Test func requestsInFlightShareOneValidation() async throws {
        let release = Signal()
        let test = try CachingSession { request in
            guard request.fields.contains(.ifNoneMatch) else {
                return ServerResponse.text("body").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
            }
            try request.exchange.wait(for: release)
            return ServerResponse(304).adding("Cache-Control", "max-age=10")
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 10)
            let tasks = (0..<5).map { _ in Task { try await test.load().body } }
            _ = await test.server.requests.count(reaches: 2)
            // This load needs no validation, and comes after the others in the loop's order: they wait by now.
            for _ in 0..<20 { try await test.load("/other") }
            release.fire()
            for task in tasks { #expect(try await task.value == "body") }
            #expect(test.server.requests.snapshot.filter { $0.fields.contains(.ifNoneMatch) }.count == 1)
        }
    }

    /// A 304 makes a public response private: the request of another user, which waits for the 304, is sent itself.
    @Test(arguments: ["ada", nil]) func aValidationForOneUserIsNotShared(user: String?) async throws {
        let release = Signal()
        let test = try CachingSession { request in
            let account = request.fields[.authorization] ?? "nobody"
            guard request.path == "/", request.fields.contains(.ifNoneMatch) else {
                return ServerResponse.text("body")
                    .adding(["Cache-Control": "public, max-age=0", "ETag": "\"a\"", "Account": account])
            }
            try request.exchange.wait(for: release)
            return ServerResponse(304).adding(["Cache-Control": "private, max-age=60", "Account": account])
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            let fields = user.map { ["Authorization": $0] } ?? [:]
            let first = Task { try await test.load("/", fields)["Account"] }
            _ = await test.server.requests.count(reaches: 2)
            let second = Task { try await test.load("/", ["Authorization": "bob"])["Account"] }
            for _ in 0..<20 { try await test.load("/other") }
            #expect(test.server.requests.snapshot.filter { $0.path == "/" }.count == 2)
            release.fire()
            #expect(try await first.value == user ?? "nobody")
            #expect(try await second.value == "bob")
        }
    }

    /// What the program removes, or a POST invalidates, while the server validates it, is not stored again.
    @Test(arguments: ["one", "all", "since", "POST"], [false, true])
    func whatIsRemovedDuringItsValidationIsGone(by removal: String, isInBackground: Bool) async throws {
        let (release, held) = (Signal(), Signal())
        defer { held.fire() }
        // The loads in the background and behind it share a connection, so that they end one after the other. A POST needs
        // another one, which is then in use.
        let connections = isInBackground ? removal == "POST" ? 2 : 1 : 6
        let test = try CachingSession({ $0.httpMaximumConnectionsPerHost = connections }) { request in
            let fields = ["Cache-Control": "max-age=10, stale-while-revalidate=20", "ETag": "\"a\""]
            if request.path == "/held" { try request.exchange.wait(for: held) }
            guard request.path == "/", request.fields.contains(.ifNoneMatch) else {
                return ServerResponse.text("body").adding(fields)
            }
            try request.exchange.wait(for: release)
            return ServerResponse(304).adding(fields)
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: isInBackground ? 15 : 40)
            let load = Task { try await test.load().body }
            _ = await test.server.requests.count(reaches: 2)
            switch removal {
            case "one": test.cache.removeCachedResponse(for: test.request())
            case "all": test.cache.removeAllCachedResponses()
            case "since": test.cache.removeCachedResponses(since: .distantPast)
            default: try await test.load(test.request(method: "POST"))
            }
            let holding = connections == 2 ? Task { try await test.load("/held") } : nil
            if holding != nil { _ = await test.server.requests.count(reaches: 4) }
            release.fire()
            #expect(try await load.value == "body")
            if isInBackground { try await test.load("/other") }
            held.fire()
            _ = try await holding?.value
            #expect(test.cache.cachedResponse(for: test.request()) == nil)
            try await test.load()
            #expect(test.server.requests.last?.fields.contains(.ifNoneMatch) == false)
        }
    }

    @Test func waitingRequestsGoOnWhenTheFirstIsCancelled() async throws {
        let test = try CachingSession { request in
            guard request.fields.contains(.ifNoneMatch) else {
                return ServerResponse.text("body").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
            }
            if request.fields.contains(name: "First") { try request.exchange.waitUntilClientCloses() }
            return ServerResponse(304)
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 10)
            let first = Task { await test.session.outcome(test.request("/", ["First": "1"])) }
            _ = await test.server.requests.count(reaches: 2)
            let second = Task { try await test.load().body }
            for _ in 0..<20 { try await test.load("/other") }
            #expect(test.server.requests.snapshot.filter { $0.path == "/" }.count == 2)
            first.cancel()
            #expect(try await second.value == "body")
            #expect(await first.value == .failed(.cancelled))
        }
    }

    @Test func waitingRequestsGoOutWhenTheResponseIsNew() async throws {
        let counter = Counter()
        let release = Signal()
        let test = try CachingSession { request in
            if request.fields.contains(.ifNoneMatch) { try request.exchange.wait(for: release) }
            return ServerResponse.text("\(counter.next())").adding([
                "Cache-Control": "max-age=10", "ETag": "\"\(counter.next())\"",
            ])
        }
        defer { test.stop() }
        try await withTimeout {
            #expect(try await test.load().body == "1")
            test.clock.advance(by: 10)
            let tasks = (0..<3).map { _ in Task { try await test.load().body } }
            _ = await test.server.requests.count(reaches: 2)
            release.fire()
            for task in tasks {
                let body = try await task.value
                #expect(body != "1")
            }
        }
    }

    /// Counts its look-ups.
    private final class Counting: URLCache, @unchecked Sendable {  // as its superclass; a Recorder
        let looks = Recorder<Bool>()

        override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
            looks.append(true)
            return super.cachedResponse(for: request)
        }
    }

    /// When many requests wait for a validation that is inconclusive, each looks into the cache a few times at most.
    @Test(arguments: [10, 100]) func manyWaitForAnInconclusiveValidation(count: Int) async throws {
        let cache = Counting(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let gate = Signal()
        let test = try CachingSession({ $0.urlCache = cache }) { request in
            guard request.fields.contains(.ifNoneMatch) else {
                return ServerResponse.text("old").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
            }
            gate.waitBlocking()
            return ServerResponse.text("new").adding("Cache-Control", "no-store")
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 10)
            cache.looks.removeAll()
            let tasks = (0..<count).map { _ in Task { try await test.load().body } }
            await cache.looks.count(reaches: count)
            gate.fire()
            for task in tasks {
                let body = try await task.value
                #expect(body == "new")
            }
            #expect(cache.looks.count <= 3 * count)
        }
    }

    /// The first response has no `Vary`, and later ones have one, also a 304. Each language has its own tag.
    private static func varying(
        by vary: String, validated: @escaping LoopbackServer.Route
    ) -> LoopbackServer.Route {
        let counter = Counter()
        return { request in
            let language = request.fields[.acceptLanguage] ?? "none"
            var fields = ["Cache-Control": "max-age=10", "ETag": "\"\(language)\""]
            if counter.next() > 1 { fields["Vary"] = vary }
            guard request.fields[.ifNoneMatch] == fields["ETag"] else { return .text(language).adding(fields) }
            return try validated(request).adding(fields)
        }
    }

    @Test(arguments: ["Accept-Language", "*"]) func aValidationThatChangesVary(vary: String) async throws {
        let test = try CachingSession(route: Self.varying(by: vary) { _ in ServerResponse(304) })
        defer { test.stop() }
        try await withTimeout { () async throws in
            #expect(try await test.load("/", ["Accept-Language": "de"]).body == "de")
            test.clock.advance(by: 10)
            #expect(try await test.load("/", ["Accept-Language": "de"]).body == "de" && test.count == 2)
            #expect(try await test.load("/", ["Accept-Language": "en"]).body == "en" && test.count == 3)
            #expect(try await test.load("/", ["Accept-Language": "de"]).body == "de")
            #expect(test.count == (vary == "*" ? 4 : 3))
        }
    }

    /// A request that waits for the validation is not answered by a response that turns out to be for other requests.
    @Test func aValidationThatChangesVaryIsNotShared() async throws {
        let release = Signal()
        let test = try CachingSession(
            route: Self.varying(by: "Accept-Language") { request in
                try request.exchange.wait(for: release)
                return ServerResponse(304)
            })
        defer { test.stop() }
        try await withTimeout {
            try await test.load("/", ["Accept-Language": "de"])
            test.clock.advance(by: 10)
            let first = Task { try await test.load("/", ["Accept-Language": "de"]).body }
            _ = await test.server.requests.count(reaches: 2)
            let second = Task { try await test.load("/", ["Accept-Language": "en"]).body }
            for _ in 0..<20 { try await test.load("/other") }
            release.fire()
            #expect(try await first.value == "de")
            #expect(try await second.value == "en")
        }
    }

    /// The response to HEAD shows that the stored response may be for other requests.
    @Test(arguments: ["Accept-Language", "*"]) func aHeadThatChangesVary(vary: String) async throws {
        let test = try CachingSession { request in
            let response = ServerResponse.text(request.fields[.acceptLanguage] ?? "none")
                .adding("Cache-Control", "max-age=10")
            return request.method == "HEAD" ? response.adding("Vary", vary) : response
        }
        defer { test.stop() }
        try await withTimeout {
            #expect(try await test.load("/", ["Accept-Language": "de"]).body == "de")
            var head = test.request("/", ["Accept-Language": "de"], method: "HEAD")
            head.cachePolicy = .reloadIgnoringLocalCacheData
            try await test.load(head)
            #expect(try await test.load("/", ["Accept-Language": "en"]).body == "en" && test.count == 3)
        }
    }

    /// A response to GET that a HEAD has validated is fresh again for both (RFC 9111 §4.3.4).
    @Test func aHeadThatValidatesAResponseToGET() async throws {
        let test = try CachingSession { request in
            if request.fields.contains(.ifNoneMatch) { return ServerResponse(304) }
            return ServerResponse.text("body").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 15)
            let head = test.request(method: "HEAD")
            for _ in 0..<2 { #expect(try await test.load(head).status == 200) }
            #expect(try await test.load().body == "body")
            #expect(test.server.requests.snapshot.map(\.method) == ["GET", "HEAD"])
        }
    }

    /// A stale response is validated behind an answer to a request with a condition, and is fresh afterwards.
    @Test(arguments: [("If-None-Match", "\"b\""), ("If-Modified-Since", date(0))])
    func staleForAProgramsOwnCondition(name: String, value: String) async throws {
        // The loads share a connection, so that they end one after the other.
        let test = try CachingSession({ $0.httpMaximumConnectionsPerHost = 1 }) { request in
            let fields = ["Cache-Control": "max-age=10, stale-while-revalidate=20", "ETag": "\"a\""]
            if request.fields.values(of: .ifNoneMatch) == ["\"a\""] { return ServerResponse(304).adding(fields) }
            return ServerResponse.text("body").adding(fields)
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            test.clock.advance(by: 15)
            for _ in 0..<2 {
                try await test.load("/", [name: value])
                try await test.load("/other", policy: .reloadIgnoringLocalCacheData)
            }
            #expect(test.server.requests.snapshot.map(\.path) == ["/", "/", "/other", "/other"])
        }
    }

    @Test func aProgramsOwnConditions() async throws {
        let test = try CachingSession { request in
            if request.fields[.ifNoneMatch] == "\"b\"" { return ServerResponse(304) }
            return ServerResponse.text("body").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            #expect(try await test.load("/", ["If-None-Match": "\"a\""]).status == 304)
            #expect(test.count == 1)
            #expect(try await test.load("/", ["If-None-Match": "\"b\""]).body == "body")
            #expect(test.count == 1)
            test.clock.advance(by: 10)
            let asked = try await test.load("/", ["If-None-Match": "\"b\""])
            #expect(asked.status == 304 && test.server.requests.last?.fields.values(of: .ifNoneMatch) == ["\"b\""])
        }
    }
}
