import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// When a session asks its resolver, and what the loads do meanwhile.
@Suite struct ProxyResolverTests {
    private static let forward: [ScriptedPeer.Step] = [.forever([.expectRequest, .respond("proxied")])]

    @Test func aServerIsAskedAboutOnce() async throws {
        let proxy = try ScriptedPeer(Self.forward)
        defer { proxy.stop() }
        let resolver = TestResolver([ProxyChoice(to: proxy)])
        try await withTimeout {
            let session = makeSession { $0.resolve(by: resolver) }
            for path in ["/secret?a=b", "/other", "/third"] {
                #expect(await session.outcome(of: "http://me:pw@H.example\(path)") == .ok("proxied"))
            }
            #expect(await session.outcome(of: "http://h.example:81/") == .ok("proxied"))
        }
        #expect(
            resolver.queries.snapshot == [
                ProxyQuery(url: try #require(URL(string: "http://h.example:80"))),
                ProxyQuery(url: try #require(URL(string: "http://h.example:81"))),
            ])
        #expect(await proxy.receivedRequest(0)?.target == "http://h.example/secret?a=b")
    }

    @Test func aDictionaryWithoutAScriptDecidesAlone() async throws {
        let server = try ScriptedPeer(Self.forward)
        defer { server.stop() }
        let resolver = TestResolver { _ in throw URLError(.badURL) }
        try await withTimeout {
            let session = makeSession {
                $0.proxyResolver = resolver
                $0.connectionProxyDictionary = [:]
            }
            #expect(await session.outcome(server.request()) == .ok("proxied"))
        }
        #expect(resolver.queries.count == 0)
    }

    @Test(arguments: [true, false]) func theDictionarysScriptIsForTheResolver(_ isText: Bool) async throws {
        let proxy = try ScriptedPeer(Self.forward)
        defer { proxy.stop() }
        let resolver = TestResolver([ProxyChoice(to: proxy)])
        try await withTimeout {
            let session = makeSession {
                $0.resolve(by: resolver)
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesProxyAutoConfigEnable: 1,
                    kCFNetworkProxiesProxyAutoConfigURLString: "http://s.example/p.pac",
                    kCFNetworkProxiesExceptionsList: ["127.0.0.0/8"],
                    // The script decides alone.
                    kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: 1,
                ]
                if isText { $0.connectionProxyDictionary?[kCFNetworkProxiesProxyAutoConfigJavaScript] = "text" }
            }
            #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
            #expect(await session.outcome(proxy.request()) == .ok("proxied"))
        }
        let url = try #require(URL(string: "http://s.example/p.pac"))
        let expected: ProxyScript = isText ? .javaScript("text") : .url(url)
        #expect(resolver.queries.snapshot.map { $0.script } == [expected])
    }

    /// Without what runs it, a script does not let requests go past its proxies.
    @Test func aScriptThatNothingRunsIsAnError() async throws {
        let server = try ScriptedPeer(Self.forward)
        defer { server.stop() }
        let url = kCFNetworkProxiesProxyAutoConfigURLString
        let keys: [(String, any Sendable, String)] = [
            (url, "http://s/", "LoadingKitSystemProxies"),
            (kCFNetworkProxiesProxyAutoConfigJavaScript, "x", "proxyResolver"),
            ("Other", 1, url), (url, 7, "names none"), (url, "", "names none"),
        ]
        for (key, value, text) in keys {
            try await withTimeout {
                let session = makeSession {
                    $0.connectionProxyDictionary = [
                        kCFNetworkProxiesProxyAutoConfigEnable: true, kCFNetworkProxiesExceptionsList: ["127.0.0.1"],
                        key: value,
                    ]
                }
                let error = await failure(session, "http://localhost:1/")
                #expect(error?.code == .cannotConnectToHost && error?.localizedDescription.contains(text) == true)
                #expect(await session.outcome(server.request()) == .ok("proxied"))
            }
        }
    }

    @Test func aFailingResolverFailsTheLoadsThatWait() async throws {
        struct NoIdea: Error, LocalizedError { var errorDescription: String? { "no idea" } }
        let fails = TestResolver { query in
            if query.url.host() == "own" { throw URLError(.dnsLookupFailed) }
            if query.url.host() == "cancels" { throw CancellationError() }
            throw NoIdea()
        }
        try await withTimeout {
            let session = makeSession { $0.resolve(by: fails) }
            let error = await failure(session, "http://h.example/")
            #expect(error?.code == .cannotConnectToHost && error?.localizedDescription.contains("no idea") == true)
            #expect(error?.userInfo[NSUnderlyingErrorKey] is NoIdea)
            #expect(error?.failingURL?.absoluteString == "http://h.example/")
            #expect(await failure(session, "http://own/")?.code == .dnsLookupFailed)
            #expect(await failure(session, "http://cancels/")?.code == .cannotConnectToHost)
            // It is asked anew.
            _ = await failure(session, "http://h.example/")
            #expect(fails.queries.count == 4)
        }
    }

    /// All that wait are told by one answer; a cancelled load does not wait.
    @Test func manyLoadsAskOnce() async throws {
        let (proxy, go) = (try ScriptedPeer(Self.forward), Signal())
        defer { proxy.stop() }
        let resolver = TestResolver { _ in
            await go.wait()
            return [ProxyChoice(to: proxy)]
        }
        try await withTimeout {
            let session = makeSession { $0.resolve(by: resolver) }
            let first = Task { await session.outcome(of: "http://h.example/") }
            await resolver.queries.count(reaches: 1)
            let cancelled = Task { await session.outcome(of: "http://h.example/") }
            let loads = (0..<50).map { number in Task { await session.outcome(of: "http://h.example/\(number)") } }
            try await waitUntil { await session.allTasks.count == 52 }
            cancelled.cancel()
            #expect(await cancelled.value == .failed(.cancelled))
            go.fire()
            for load in [first] + loads { #expect(await load.value == .ok("proxied")) }
            #expect(resolver.queries.count == 1)
        }
    }

    @Test func aQuestionThatNobodyWaitsForIsCancelled() async throws {
        let (cancelled, cancelledWithItsSession) = (Signal(), Signal())
        let resolver = TestResolver { query in
            await TestResolver.waitForCancellation(query.url.port == 80 ? cancelled : cancelledWithItsSession)
            return [.direct]
        }
        try await withTimeout {
            let session = makeSession { $0.resolve(by: resolver) }
            let load = Task { await session.outcome(of: "http://h.example/") }
            await resolver.queries.count(reaches: 1)
            load.cancel()
            #expect(await load.value == .failed(.cancelled))
            await cancelled.wait()
            let other = makeSession { $0.resolve(by: resolver) }
            let second = Task { await other.outcome(of: "http://h.example:81/") }
            await resolver.queries.count(reaches: 2)
            other.invalidateAndCancel()
            #expect(await second.value == .failed(.cancelled))
            await cancelledWithItsSession.wait()
        }
    }

    /// Neither a resolver that never answers, nor one that blocks its threads, holds up anything but its own session.
    @Test func aSilentResolverHoldsItsOwnSessionsLoadsUntilTheirTimeout() async throws {
        let (server, end, blocked) = (try ScriptedPeer(Self.forward), Signal(), DispatchSemaphore(value: 0))
        defer { server.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let resolver = TestResolver { query in
            if query.url.port == 1 { blocked.wait() } else { await end.wait() }
            return [.direct]
        }
        try await withTimeout {
            let session = makeSession(on: loop) {
                $0.resolve(by: resolver)
                $0.timeoutIntervalForRequest = 10
            }
            let other = makeSession { $0.resolve(by: TestResolver([.direct])) }
            // More than are asked at a time, and than there are threads for tasks.
            let loads = (0..<40).map { number in
                Task {
                    await session.outcome(of: "http://h\(number).example:\(number.isMultiple(of: 2) ? 1 : 2)/")
                }
            }
            await resolver.queries.count(reaches: 16)
            try await waitUntil { await session.allTasks.count == 40 }
            #expect(await other.outcome(server.request()) == .ok("proxied"))
            time.advance(by: .seconds(11))
            for load in loads { #expect(await load.value == .failed(.timedOut)) }
            #expect(resolver.queries.count == 16)
            for _ in 0..<40 { blocked.signal() }
            end.fire()
        }
    }

    /// A stream task has no idle timeout, but the search for its proxies has a limit.
    @Test func aSilentResolverHoldsAStreamTaskUntilItsTimeout() async throws {
        let cancelled = Signal()
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let resolver = TestResolver { _ in
            await TestResolver.waitForCancellation(cancelled)
            return [.direct]
        }
        try await withTimeout {
            let session = makeSession(on: loop) {
                $0.resolve(by: resolver)
                $0.timeoutIntervalForRequest = 10
            }
            let task = session.streamTask(withHostName: "h.example", port: 1)
            task.resume()
            let read = Task { try await task.readData(ofMinLength: 1, maxLength: 1, timeout: 0) }
            await resolver.queries.count(reaches: 1)
            time.advance(by: .seconds(10))
            let error = await #expect(throws: URLError.self) { try await read.value }
            #expect(error?.code == .timedOut && error?.localizedDescription.contains("resolver") == true)
            await cancelled.wait()
        }
    }

    @Test func anAnswerHoldsForAMinuteAndUntilAReset() async throws {
        let proxy = try ScriptedPeer(Self.forward)
        defer { proxy.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let resolver = TestResolver([ProxyChoice(to: proxy)])
        try await withTimeout {
            let session = makeSession(on: loop) { $0.resolve(by: resolver) }
            func load() async -> Int {
                #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
                return resolver.queries.count
            }
            #expect(await load() == 1)
            time.advance(by: .seconds(59))
            #expect(await load() == 1)
            time.advance(by: .seconds(2))
            #expect(await load() == 2)
            await session.reset()
            #expect(await load() == 3)
        }
    }

    /// Each session has its own resolver, and connections of its own.
    @Test func twoSessionsShareNothing() async throws {
        let (one, two) = (try ScriptedPeer(Self.forward), try ScriptedPeer(Self.forward))
        defer {
            one.stop()
            two.stop()
        }
        try await withTimeout {
            let first = makeSession { $0.resolve(by: TestResolver([ProxyChoice(to: one)])) }
            let second = makeSession { $0.resolve(by: TestResolver([ProxyChoice(to: two)])) }
            for session in [first, second] {
                #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
            }
            #expect(one.requests.count == 1 && two.requests.count == 1)
        }
    }

    @Test func aRedirectAsksAboutItsServer() async throws {
        let proxy = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 302 Go\r\nLocation: http://other.example/\r\nContent-Length: 0\r\n\r\n"),
            .expectRequest, .respond("there"),
        ])
        defer { proxy.stop() }
        let resolver = TestResolver([ProxyChoice(to: proxy)])
        try await withTimeout {
            let session = makeSession { $0.resolve(by: resolver) }
            #expect(await session.outcome(of: "http://h.example/") == .ok("there"))
        }
        #expect(resolver.queries.snapshot.compactMap { $0.url.host() } == ["h.example", "other.example"])
    }

    /// A URL without a server, or whose server is a file, has no proxy.
    @Test func otherSchemesAndSocketsAreNotAskedAbout() async throws {
        let folder = try TemporaryFolder()
        try folder.write("text", to: "file")
        let server = try ScriptedPeer(Self.forward, on: .unix(path: folder.file("socket").path))
        defer { server.stop() }
        let (resolver, path) = (TestResolver { _ in throw URLError(.badURL) }, folder.file("socket").path)
        try await withTimeout {
            let session = makeSession {
                $0.resolve(by: resolver)
                $0.unixSocket = { $0 == "s" ? UnixSocket(path: path) : nil }
            }
            #expect(await session.outcome(of: "data:,text") == .loaded(status: 0, body: "text"))
            #expect(
                await session.outcome(URLRequest(url: folder.file("file"))) == .loaded(status: 0, body: "text"))
            #expect(await session.outcome(of: "http://s/") == .ok("proxied"))
        }
        #expect(resolver.queries.count == 0)
    }
}
