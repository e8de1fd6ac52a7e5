import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// The responses that a session stores, and the delegate's decision about them.
@Suite struct CacheStoringTests {
    /// Decides what is stored, and collects the calls.
    private final class Storekeeper: NSObject, URLSessionDataDelegate {
        let events = Guarded<[String]>([])
        let fetched = Guarded<[URLSessionTaskMetrics.ResourceFetchType]>([])
        let ended = Recorder<Bool>()
        private let decide: @Sendable (CachedURLResponse) -> CachedURLResponse?

        init(_ decide: @escaping @Sendable (CachedURLResponse) -> CachedURLResponse?) { self.decide = decide }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            events.withLock { $0.append("data \(data.count)") }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
            completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
        ) {
            events.withLock { $0.append("store \(proposedResponse.data.count)") }
            completionHandler(decide(proposedResponse))
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            fetched.withLock { $0 += metrics.transactionMetrics.map(\.resourceFetchType) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.withLock { $0.append("end") }
            ended.append(error == nil)
        }
    }

    private static let answer: LoopbackServer.Route = { request in
        if request.fields.contains(.ifNoneMatch) { return ServerResponse(304) }
        return ServerResponse.text("hello").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
    }

    /// Loads that store nothing, and still make stored responses out of date (RFC 9111 §4.4).
    @Test(arguments: ["POST", "PUT", "DELETE"]) func whatIsNotStoredInvalidates(method: String) async throws {
        let test = try CachingSession { _ in
            ServerResponse.text("hello").adding(["Cache-Control": "max-age=10", "Content-Location": "/"])
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            let (file, _) = try await test.session.download(for: test.request(method: method))
            #expect(try String(contentsOf: file, encoding: .utf8) == "hello")
            try FileManager.default.removeItem(at: file)
            try await test.load()
            #expect(test.count == 3)
            var coded = test.request(method: method)
            coded.keepsContentCodings = true
            #expect(try await test.load(coded).body == "hello")
            try await test.load()
            #expect(test.count == 5)
        }
    }

    /// Cancels its task at a redirect.
    private final class Canceller: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            task.cancel()
            completionHandler(request)
        }
    }

    /// The server has acted upon the POST, although its redirect is not followed (RFC 9111 §4.4).
    @Test func aRedirectThatIsNotFollowedInvalidates() async throws {
        let test = try CachingSession { request in
            if request.method == "POST" { return ServerResponse.redirect(to: "/other", status: 303) }
            return ServerResponse.text("hello").adding("Cache-Control", "max-age=10")
        }
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            let outcome = await test.session.outcome(test.request(method: "POST"), delegate: Canceller())
            #expect(outcome == .failed(.cancelled))
            try await test.load()
            #expect(test.server.requests.snapshot.map(\.method) == ["GET", "POST", "GET"])
        }
    }

    /// A response to POST with the target as its `Content-Location` answers later GET and HEAD requests, and no POST
    /// (RFC 9110 §9.3.3). It replaces the stored response. Other responses to POST invalidate that (RFC 9111 §4.4).
    @Test func aResponseToPOSTWithItsLocation() async throws {
        let test = try CachingSession { request in
            let answer = ServerResponse.text("\(request.method) \(request.bodyText)")
                .adding(["Cache-Control": "max-age=10"])
            return request.query == "here" ? answer.adding(["Content-Location": "/?here"]) : answer
        }
        defer { test.stop() }
        var post = test.request("/?here", method: "POST")
        post.httpBody = Data("body".utf8)
        var elsewhere = test.request("/?there", method: "POST")
        elsewhere.httpBody = Data("body".utf8)
        try await withTimeout { [post, elsewhere] in
            #expect(try await test.load("/?here").body == "GET ")
            for _ in 0..<2 { #expect(try await test.load(post).body == "POST body") }
            #expect(test.count == 3)
            let stored = try await test.load("/?here")
            #expect(stored.body == "POST body" && stored["Age"] != nil && test.count == 3)
            #expect(try await test.load(test.request("/?here", method: "HEAD"))["Content-Length"] == "9")
            #expect(test.count == 3)
            #expect(try await test.load("/?there").body == "GET ")
            #expect(try await test.load(elsewhere).body == "POST body")
            #expect(try await test.load("/?there").body == "GET " && test.count == 6)
        }
    }

    /// A response to GET that may be older than a POST is delivered, and not stored.
    @Test func whatIsOlderThanAPOSTIsNotStored() async throws {
        let release = Signal()
        let test = try CachingSession { request in
            if request.fields.contains(name: "First") { try request.exchange.wait(for: release) }
            return ServerResponse.text("\(request.method) \(request.number)").adding("Cache-Control", "max-age=10")
        }
        defer { test.stop() }
        try await withTimeout {
            let first = Task { try await test.load("/", ["First": "1"]).status }
            _ = await test.server.requests.count(reaches: 1)
            try await test.load(test.request(method: "POST"))
            release.fire()
            #expect(try await first.value == 200)
            #expect(test.cache.currentMemoryUsage == 0)
            try await test.load()
            try await test.load()
            #expect(test.count == 3)
        }
    }

    @Test func theDelegateDecidesOnceAllIsReceived() async throws {
        let keeper = Storekeeper { proposed in
            CachedURLResponse(
                response: proposed.response, data: Data("changed".utf8), userInfo: ["key": "value"],
                storagePolicy: .allowedInMemoryOnly)
        }
        let test = try CachingSession(delegate: keeper, route: Self.answer)
        defer { test.stop() }
        try await withTimeout {
            for round in 1...2 {
                test.session.dataTask(with: test.request()).resume()
                _ = await keeper.ended.count(reaches: round)
            }
            test.clock.advance(by: 10)
            test.session.dataTask(with: test.request()).resume()
            _ = await keeper.ended.count(reaches: 3)
            #expect(
                keeper.events.withLock { $0 } == ["data 5", "store 5", "end", "data 7", "end", "data 7", "end"])
            #expect(keeper.fetched.withLock { $0 } == [.networkLoad, .localCache, .networkLoad, .localCache])
            #expect(test.count == 2)
            let kept = try #require(test.cache.cachedResponse(for: test.request()))
            let value = kept.userInfo?["key"] as? String
            #expect(value == "value" && kept.storagePolicy == .allowedInMemoryOnly)
        }
    }

    @Test func theDelegateMayRefuse() async throws {
        let keeper = Storekeeper { _ in nil }
        let test = try CachingSession(delegate: keeper, route: Self.answer)
        defer { test.stop() }
        try await withTimeout { () async throws in
            for round in 1...2 {
                test.session.dataTask(with: test.request()).resume()
                _ = await keeper.ended.count(reaches: round)
            }
            #expect(test.count == 2 && test.cache.currentMemoryUsage == 0)
        }
    }

    /// The delegate decides about whole responses, and a body that it wants as a whole is one.
    @Test(arguments: [true, false]) func theDelegateIsNotAskedAboutAPart(isIncremental: Bool) async throws {
        let peer = try ScriptedPeer([
            .expectRequest,
            .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\nCache-Control: max-age=60\r\n\r\n0123"),
            .close,
        ])
        defer { peer.stop() }
        let (keeper, cache) = (Storekeeper { $0 }, URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil))
        let session = makeSession(delegate: keeper) { $0.urlCache = cache }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let task = session.dataTask(with: peer.request())
            task.prefersIncrementalDelivery = isIncremental
            task.resume()
            _ = await keeper.ended.count(reaches: 1)
            #expect(keeper.events.withLock { $0 } == (isIncremental ? ["data 4", "end"] : ["end"]))
            #expect(cache.currentMemoryUsage == 0)
        }
    }

    private static let redirecting: LoopbackServer.Route = { request in
        switch request.path {
        case "/old": .redirect(to: "/new", status: 301).adding("Cache-Control", "max-age=10")
        case "/fresh": .text("fresh").adding("Cache-Control", "max-age=10")
        default: .text("new").adding("Cache-Control", "no-store")
        }
    }

    @Test func theDelegateIsNotAskedAboutARedirect() async throws {
        let keeper = Storekeeper { $0 }
        let test = try CachingSession(delegate: keeper, route: Self.redirecting)
        defer { test.stop() }
        try await withTimeout {
            test.session.dataTask(with: test.request("/old")).resume()
            _ = await keeper.ended.count(reaches: 1)
            #expect(keeper.events.withLock { $0 } == ["data 3", "end"])
            #expect(test.cache.currentMemoryUsage == 0)
        }
    }

    /// The first load shows that the delegate has no method that could refuse.
    @Test func redirectsAreStoredWhereNoDelegateDecides() async throws {
        let recorder = TransferRecorder()
        let test = try CachingSession(delegate: recorder, route: Self.redirecting)
        defer { test.stop() }
        try await withTimeout {
            for (count, path) in ["/fresh", "/old", "/old"].enumerated() {
                test.session.dataTask(with: test.request(path)).resume()
                _ = await recorder.metrics.count(reaches: count + 1)
            }
            #expect(test.server.requests.snapshot.map(\.path) == ["/fresh", "/old", "/new", "/new"])
        }
    }

    @Test func whatIsTooLargeIsDeliveredAndNotKept() async throws {
        let test = try CachingSession { request in
            let body = [UInt8](repeating: 7, count: 2 << 20)
            let response: ServerResponse =
                request.path == "/chunks" ? .stream { try $0.write(body) } : .bytes(body)
            return response.adding("Cache-Control", "max-age=10")
        }
        defer { test.stop() }
        try await withTimeout {
            for path in ["/whole", "/chunks"] {
                let (data, _) = try await test.session.data(for: test.request(path))
                #expect(data.count == 2 << 20)
            }
            #expect(test.cache.currentMemoryUsage == 0)
        }
    }

    @Test(arguments: [100, 300_000]) func allConsumersLeaveTheSameInTheCache(_ count: Int) async throws {
        let keeper = Storekeeper { $0 }
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let test = try CachingSession(delegate: keeper) { _ in .bytes(body).adding("Cache-Control", "max-age=10") }
        defer { test.stop() }
        test.cache.memoryCapacity = 16 << 20
        try await withTimeout {
            test.session.dataTask(with: test.request("/delegate")).resume()
            _ = await keeper.ended.count(reaches: 1)
            #expect(try await test.session.data(for: test.request("/data")).0 == Data(body))
            let (bytes, _) = try await test.session.bytes(for: test.request("/bytes"))
            var read = Data()
            for try await piece in bytes.chunks { read += piece }
            #expect(read == Data(body))
            for path in ["/delegate", "/data", "/bytes"] {
                #expect(test.cache.cachedResponse(for: test.request(path))?.data == Data(body), "\(path)")
                #expect(try await test.session.data(for: test.request(path)).0 == Data(body))
            }
            let (again, _) = try await test.session.bytes(for: test.request("/bytes"))
            var reread = Data()
            for try await piece in again.chunks { reread += piece }
            #expect(reread == Data(body) && test.count == 3)
        }
    }

    @Test func codedBodiesAreKeptDecoded() async throws {
        let test = try CachingSession { _ in
            try ServerResponse.gzip(Array("hello, hello".utf8)).adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
        }
        defer { test.stop() }
        try await withTimeout {
            for _ in 0..<2 {
                let answer = try await test.load()
                #expect(answer.body == "hello, hello" && answer["Content-Encoding"] == "gzip")
                #expect(answer.response.expectedContentLength == -1)
            }
            #expect(test.count == 1)
            // A range is one of the encoded bytes, which are not stored.
            try await test.load("/", ["Range": "bytes=0-1"])
            #expect(test.count == 2)
        }
    }

    @Test func whatEndsEarlyIsNotKept() async throws {
        let test = try CachingSession { _ in
            ServerResponse.stream(.length(9)) { try $0.write("abc") }.adding("Cache-Control", "max-age=10")
        }
        defer { test.stop() }
        try await withTimeout { () async throws in
            await #expect(throws: URLError.self) { try await test.load() }
            #expect(test.cache.currentMemoryUsage == 0)
        }
    }

    @Test func aSuspendedTaskIsToldNothing() async throws {
        let keeper = Storekeeper { $0 }
        let test = try CachingSession(delegate: keeper, route: Self.answer)
        defer { test.stop() }
        try await withTimeout {
            try await test.load()
            let task = test.session.dataTask(with: test.request())
            task.resume()
            task.suspend()
            // Once another load has ended, the loop has handled both.
            try await test.load()
            if task.state == .suspended { task.resume() }
            _ = await keeper.ended.count(reaches: 1)
            #expect(keeper.events.withLock { $0 } == ["data 5", "end"])
        }
    }

    @Test func aProgramsOwnResponsesAreUsed() async throws {
        let test = try CachingSession(route: Self.answer)
        defer { test.stop() }
        try await withTimeout {
            let request = test.request()
            let response = try #require(
                HTTPURLResponse(
                    url: request.url ?? URL(fileURLWithPath: "/"), statusCode: 200, httpVersion: nil,
                    headerFields: ["Cache-Control": "max-age=1000000000"]))
            test.cache.storeCachedResponse(
                CachedURLResponse(response: response, data: Data("mine".utf8)), for: request)
            // It is stored by the system's clock.
            test.clock.advance(by: Date().timeIntervalSince(test.clock.now))
            #expect(try await test.load().body == "mine")
            #expect(test.count == 0)
        }
    }

    @Test func variantsAreKeptApart() async throws {
        let test = try CachingSession { request in
            ServerResponse.text(request.fields[.acceptLanguage] ?? "none")
                .adding(["Cache-Control": "max-age=10", "Vary": "Accept-Language, Accept-Encoding"])
        }
        defer { test.stop() }
        try await withTimeout { () async throws in
            for _ in 0..<2 {
                for language in ["de", "en"] {
                    #expect(try await test.load("/", ["Accept-Language": language]).body == language)
                }
                #expect(try await test.load().body == "none")
            }
            #expect(test.count == 3)
        }
    }
}
