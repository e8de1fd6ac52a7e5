import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitProxies
import TestSupport
import Testing

@testable import LoadingKitHTTP
@testable import LoadingKitTransport

/// Several proxies that are tried in turn.
@Suite(.usesPeers) struct ProxyRoutesTests {
    private static let forward: [ScriptedPeer.Step] = [.forever([.expectRequest, .respond("proxied")])]

    private static func session(
        _ choices: [ProxyChoice], delegate: (any URLSessionDelegate)? = nil, on loop: EventLoop = .next(),
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        makeSession(delegate: delegate, on: loop) {
            $0.resolve(by: TestResolver(choices))
            configure($0)
        }
    }

    @Test func aProxyThatIsGoneIsPassedOver() async throws {
        let (proxy, recorder) = (try ScriptedPeer(Self.forward), MetricsRecorder())
        defer { proxy.stop() }
        let choices = [try .gone(), try .gone(.socks5), try .gone(.socks4), try .gone(.https), ProxyChoice(to: proxy)]
        try await withTimeout {
            let session = Self.session(choices, delegate: recorder)
            let outcome = await session.outcome(of: "http://h.example/a")
            #expect(outcome == .ok("proxied"))
            #expect(await proxy.receivedRequest(0)?.target == "http://h.example/a")
            let transactions = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics)
            #expect(transactions.count == 1 && transactions.first?.isProxyConnection == true)
        }
    }

    @Test func theDirectWayIsTheLast() async throws {
        let (server, recorder) = (try ScriptedPeer(Self.forward), MetricsRecorder())
        defer { server.stop() }
        let choices = [try ProxyChoice.gone(user: "me"), .direct]
        try await withTimeout {
            let session = Self.session(choices, delegate: recorder)
            #expect(await session.outcome(server.request("/path")) == .ok("proxied"))
            let received = try #require(await server.receivedRequest(0))
            #expect(received.target == "/path" && received[field: "Proxy-Authorization"] == nil)
            let transactions = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics)
            #expect(transactions.first?.isProxyConnection == false)
        }
    }

    @Test func theDirectWayMayBeTheFirst() async throws {
        let proxy = try ScriptedPeer(Self.forward)
        defer { proxy.stop() }
        let port = try RefusingPort.keepOne()
        try await withTimeout {
            let session = Self.session([.direct, ProxyChoice(to: proxy)])
            #expect(await session.outcome(of: "http://127.0.0.1:\(port)/") == .ok("proxied"))
        }
    }

    /// A proxy's credential is for that proxy.
    @Test func eachProxyGetsItsOwnCredential() async throws {
        let proxy = try ScriptedPeer(Self.forward)
        defer { proxy.stop() }
        let gone = try ProxyChoice.gone(user: "me")
        for (choice, expected) in [
            (ProxyChoice(to: proxy), nil as String?), (ProxyChoice(to: proxy, user: "you"), "Basic eW91OnNlY3JldA=="),
        ] {
            proxy.requests.removeAll()
            try await withTimeout {
                let session = Self.session([gone, choice])
                #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
                #expect(await proxy.receivedRequest(0)?[field: "Proxy-Authorization"] == expected)
            }
        }
    }

    @Test func whereNoWayLeadsOnAllAreNamed() async throws {
        let choices = [try ProxyChoice.gone(), try .gone(.socks5), .direct]
        let port = try RefusingPort.keepOne()
        for scheme in ["http", "https"] {
            try await withTimeout {
                let session = Self.session(choices)
                let error = try #require(await failure(session, "\(scheme)://127.0.0.1:\(port)/"))
                let text = error.localizedDescription
                #expect(error.code == .cannotConnectToHost && text.contains("None of 3 routes"), "\(text)")
                for choice in choices.dropLast() {
                    #expect(text.contains("127.0.0.1:\(choice.server?.port ?? 0)"), "\(text)")
                }
                #expect(text.contains("127.0.0.1:\(port)"), "\(text)")
                let direct = Self.session([try .gone(), .direct])
                #expect(await failure(direct, "\(scheme)://no.such.name.invalid/")?.code == .cannotFindHost)
            }
        }
    }

    /// A tunnel that the proxy refuses is its answer; a proxy that closes the connection, or speaks no HTTP, is none.
    @Test func aRefusalIsAnAnswer() async throws {
        let authority = try CertificateAuthority()
        let answers: [(String, ScriptedPeer.Step, Bool)] = [
            ("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", .close, false),
            ("HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n", .close, false),
            ("HTTP/1.1 407 Who\r\n\r\n", .close, false), ("", .close, true), ("", .reset, true),
            ("SSH-2.0-x\r\n\r\n", .close, true),
        ]
        for (answer, end, goesOn) in answers {
            let first = try ScriptedPeer([.expectRequest, .send(answer), end])
            let second = try ScriptedPeer([
                .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(TLSServerOptions(try authority.issue())),
                .expectRequest, .respond("tunnelled"),
            ])
            defer {
                first.stop()
                second.stop()
            }
            try await withTimeout {
                let session = Self.session([ProxyChoice(to: first), ProxyChoice(to: second)]) {
                    $0.tlsTrustRoots = .pem(authority.certificatePEM)
                }
                let outcome = await session.outcome(of: "https://localhost/")
                #expect((outcome == .ok("tunnelled")) == goesOn, "\(answer)")
                #expect(second.requests.count == (goesOn ? 2 : 0), "\(answer)")
            }
        }
    }

    /// Trust in a server's certificate does not depend on the route.
    @Test func aServerThatIsNotTrustedIsNotTriedAnotherWay() async throws {
        let first = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"),
            .startTLS(TLSServerOptions(try CertificateAuthority().issue())), .expectRequest,
        ])
        let second = try ScriptedPeer(Self.forward)
        defer {
            first.stop()
            second.stop()
        }
        try await withTimeout {
            let session = Self.session([ProxyChoice(to: first), ProxyChoice(to: second)])
            #expect(
                await session.outcome(of: "https://localhost/") == .failed(.serverCertificateHasUnknownRoot))
            #expect(second.connections.isEmpty)
        }
    }

    /// A request that was sent is not sent another way.
    @Test func aRequestThatWasSentStaysWhereItIs() async throws {
        let first = try ScriptedPeer([.expectRequest, .close])
        let second = try ScriptedPeer(Self.forward)
        defer {
            first.stop()
            second.stop()
        }
        try await withTimeout {
            let session = Self.session([ProxyChoice(to: first), ProxyChoice(to: second)])
            var request = try makeRequest("http://h.example/", method: "POST")
            request.httpBody = Data("once".utf8)
            #expect(await session.outcome(request) == .failed(.networkConnectionLost))
            #expect(first.requests.count == 1 && second.connections.isEmpty)
        }
    }

    @Test func aStreamIsSentOnceAndWhole() async throws {
        let proxy = try ScriptedPeer(Self.forward)
        defer { proxy.stop() }
        let gone = try ProxyChoice.gone()
        try await withTimeout {
            let session = Self.session([gone, ProxyChoice(to: proxy)])
            var request = try makeRequest("http://h.example/", method: "POST")
            request.httpBodyStream = InputStream(data: Data(repeating: 97, count: 300_000))
            #expect(await session.outcome(request) == .ok("proxied"))
            #expect(await proxy.receivedRequest(0)?.body.count == 300_000)
        }
    }

    /// A proxy that takes connections and says nothing has a part of the request's time alone. All that wait for it go on.
    @Test(arguments: [(nil, 10.5), (5.0, 2.6)] as [(TimeInterval?, Double)])
    func aSilentProxyHasAPartOfTheTime(ofTheRequestsTime: TimeInterval?, seconds: Double) async throws {
        let authority = try CertificateAuthority()
        let silent = try ScriptedPeer([.expectRequest, .hold])
        let second = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(TLSServerOptions(try authority.issue())),
            .forever([.expectRequest, .respond("tunnelled")]),
        ])
        defer {
            silent.stop()
            second.stop()
        }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await withTimeout {
            let session = Self.session([ProxyChoice(to: silent), ProxyChoice(to: second)], on: loop) {
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
                $0.timeoutIntervalForRequest = 60
            }
            let loads = (0..<5).map { _ in
                Task { await session.outcome(of: "https://localhost/", timeout: ofTheRequestsTime) }
            }
            await silent.requestCount(reaches: 1)
            try await waitUntil { await session.allTasks.count == 5 }
            time.advance(by: .seconds(seconds))
            for load in loads { #expect(await load.value == .ok("tunnelled")) }
            #expect(silent.connections.count == 1)
        }
    }

    /// A connection is being made in a part of a request's time. The request is cancelled, and another one waits for
    /// the connection, whose last route this is.
    @Test func theLastRouteHasTheRestOfTheTime() async throws {
        let (authority, mayClose) = (try CertificateAuthority(), Signal())
        let first = try ScriptedPeer([.expectRequest, .waitFor(mayClose), .close])
        let second = try ScriptedPeer(scripts: [
            [.expectRequest, .hold],
            [
                .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(TLSServerOptions(try authority.issue())),
                .expectRequest, .respond("tunnelled"),
            ],
        ])
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer {
            for peer in [first, second] { peer.stop() }
            loop.stop()
        }
        let choices = [ProxyChoice(to: first), ProxyChoice(to: second)]
        let error = ProxyError(
            proxy: try #require(choices[0].server), destination: "localhost:443", cause: .closed)
        try await withTimeout {
            let session = Self.session(choices, on: loop) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            let last = Task { await session.outcome(of: "https://localhost/") }
            await first.requestCount(reaches: 1)
            // The next request takes the second proxy first.
            await Self.report(error, to: session)
            let other = Task { await session.outcome(of: "https://localhost/") }
            await second.requestCount(reaches: 1)
            mayClose.fire()
            try await waitUntil {
                let statistics = await session.statistics
                return statistics.connections.opening == 1 && statistics.requests.waiting == 2
            }
            other.cancel()
            _ = await other.value
            time.advance(by: .seconds(10.5))
            #expect(await last.value == .ok("tunnelled"))
            #expect(second.connections.count == 2)
        }
    }

    /// Has the session note a proxy's failure.
    private static func report(_ error: ProxyError, to session: URLSession) async {
        await withCheckedContinuation { done in
            session.core.loop.execute {
                HTTPSession.of(session.core).proxies.proxyDidFail(error.proxy, error)
                done.resume()
            }
        }
    }

    /// A proxy that could not be reached is tried after the others for five minutes.
    @Test func aFailedProxyIsAvoidedForAWhile() async throws {
        let authority = try CertificateAuthority()
        let tunnel: [ScriptedPeer.Step] = [
            .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(TLSServerOptions(try authority.issue())),
            .forever([.expectRequest, .respond("tunnelled")]),
        ]
        let first = try ScriptedPeer(scripts: [[.expectRequest, .close], tunnel])
        let second = try ScriptedPeer(tunnel)
        defer {
            first.stop()
            second.stop()
        }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await withTimeout {
            let session = Self.session([ProxyChoice(to: first), ProxyChoice(to: second)], on: loop) {
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            func load(_ port: Int) async {
                #expect(await session.outcome(of: "https://localhost:\(port)/") == .ok("tunnelled"))
            }
            await load(1)
            await load(2)
            await load(1)
            #expect(first.connections.count == 1 && second.connections.count == 2)
            time.advance(by: .seconds(301))
            await load(3)
            #expect(first.connections.count == 2 && second.connections.count == 2)
        }
    }

    /// Where the networks change all the time, the proxy is not tried again each time, and answers are kept.
    @Test func afterAChangeOfTheNetworksAFailedProxyIsAvoidedForSeconds() async throws {
        let (first, second) = (try ScriptedPeer(Self.forward), try ScriptedPeer(Self.forward))
        defer {
            first.stop()
            second.stop()
        }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let resolver = TestResolver([ProxyChoice(to: first), ProxyChoice(to: second)])
        let error = ProxyError(
            proxy: try #require(ProxyChoice(to: first).server), destination: "h.example:80",
            cause: .unreachable(TransportError(.connect, "127.0.0.1", .refused)))
        try await withTimeout {
            let session = makeSession(on: loop) { $0.resolve(by: resolver) }
            await Self.report(error, to: session)
            for (seconds, requests, queries) in [(0, [0, 1], 1), (0, [0, 2], 1), (1, [0, 3], 2), (16, [1, 3], 3)] {
                time.advance(by: .seconds(seconds))
                #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
                #expect([first.requests.count, second.requests.count] == requests)
                #expect(resolver.queries.count == queries)
                await withCheckedContinuation { done in
                    loop.execute {
                        NetworkMonitor.of(loop).report()
                        done.resume()
                    }
                }
            }
        }
    }

    /// A load that excludes the network to a proxy says nothing about the proxy, which other loads may reach. Neither
    /// does a process that lacks descriptors or threads.
    @Test func anExcludedNetworkIsNoFailureOfTheProxy() async throws {
        let (first, second) = (try ScriptedPeer(Self.forward), try ScriptedPeer(Self.forward))
        defer {
            first.stop()
            second.stop()
        }
        let choices = [ProxyChoice(to: first), ProxyChoice(to: second)]
        let proxy = try #require(choices[0].server)
        let causes: [(TransportError.Cause, requests: [Int])] = [
            (.notAllowed(.expensive, interface: "wwan0"), [1, 0]), (.systemCall(.socket, errno: EMFILE), [2, 0]),
            (.lookupRefused(.tooMuchWaits(2048)), [3, 0]), (.refused, [3, 1]),
        ]
        try await withTimeout {
            let session = Self.session(choices)
            for (cause, requests) in causes {
                let error = ProxyError(
                    proxy: proxy, destination: "h.example:80",
                    cause: .unreachable(TransportError(.connect, "127.0.0.1", cause)))
                await Self.report(error, to: session)
                #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
                #expect([first.requests.count, second.requests.count] == requests)
            }
        }
    }

    /// Connections belong to their proxy: one through a proxy that is not preferred any more is left idle.
    @Test func anIdleConnectionThroughALaterProxyIsNotPreferred() async throws {
        let (first, second) = (try ScriptedPeer(Self.forward), try ScriptedPeer(Self.forward))
        defer {
            first.stop()
            second.stop()
        }
        let order = Recorder<[ProxyChoice]>()
        let resolver = TestResolver { _ in order.last ?? [] }
        try await withTimeout {
            let session = makeSession { $0.resolve(by: resolver) }
            let (one, two) = (ProxyChoice(to: first), ProxyChoice(to: second))
            for (choices, requests) in [([two, one], [0, 1]), ([one, two], [1, 1]), ([two], [1, 2])] {
                order.append(choices)
                #expect(await session.outcome(of: "http://h.example/") == .ok("proxied"))
                #expect([first.requests.count, second.requests.count] == requests)
                session.configuration.urlCache?.removeAllCachedResponses()
                await forgetAnswers(of: session)
            }
            // A reset closes idle connections, and so there are two through the second.
            #expect(first.connections.count == 1 && second.connections.count == 2)
        }
    }

    private func forgetAnswers(of session: URLSession) async { await session.reset() }

    /// A TLS session is continued through the proxy, and as the user, through which it was begun.
    @Test func tlsSessionsBelongToTheirProxy() async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["http/1.1"])
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { request in
            var response = ServerResponse.text(request.tls?.isResumed == true ? "resumed" : "new")
            response.fields.append(name: "Connection", value: "close")
            return response
        }
        defer { server.stop() }
        let proxies = try await onThread { [try ProxyServer(.microsocks), try ProxyServer(.microsocks)] }
        defer { for proxy in proxies { proxy.stop() } }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let order = Recorder<ProxyChoice>()
        let ways = proxies.map { ProxyChoice(.socks5, host: "127.0.0.1", port: $0.port) } + [.direct]
        try await withTimeout {
            let session = makeSession(on: loop) {
                $0.resolve(by: TestResolver { _ in order.last.map { [$0] } ?? [] })
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            for way in ways {
                order.append(way)
                time.advance(by: .seconds(61))
                for expected in ["new", "resumed"] {
                    #expect(await session.outcome(of: server.url("/", host: "localhost")) == .ok(expected))
                }
            }
        }
    }

    @Test func webSocketsTakeTheNextWay() async throws {
        let server = try LoopbackServer(LoopbackServer.Options()) { .webSocket($0) { try $0.echo() } }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(.microsocks) }
        defer { proxy.stop() }
        let choices = [try ProxyChoice.gone(), ProxyChoice(.socks5, host: "127.0.0.1", port: proxy.port)]
        try await withTimeout {
            let session = Self.session(choices)
            let url = try #require(URL(string: server.url("/", host: "localhost").replacing("http", with: "ws")))
            let task = session.webSocketTask(with: url)
            task.resume()
            try await task.send(.string("hello"))
            let echo = try await task.receive()
            if case .string("hello") = echo {} else { Issue.record("no echo: \(echo)") }
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    /// Real proxies of each kind behind one that is gone.
    @Test(arguments: ProxyServer.Program.allCases, BothVersions.all)
    func realProxiesBehindOneThatIsGone(_ program: ProxyServer.Program, version: String) async throws {
        let proxy = try await onThread { try ProxyServer(program) }
        defer { proxy.stop() }
        let choices = [
            try .gone(.socks5), try .gone(),
            ProxyChoice(program.isSOCKS ? .socks5 : .http, host: "127.0.0.1", port: proxy.port),
        ]
        try await BothVersions.withServer(
            version, { .text("\($0.method) \($0.path)") }, { $0.resolve(by: TestResolver(choices)) }
        ) { session, server in
            let outcomes = await withTaskGroup(of: Outcome.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        guard let request = try? BothVersions.request(server, "/\(number)") else {
                            return .failed(.badURL)
                        }
                        return await session.outcome(request)
                    }
                }
                return await group.reduce(into: [Outcome]()) { $0.append($1) }
            }
            #expect(Set(outcomes.map { "\($0)" }) == Set((0..<20).map { "\(Outcome.ok("GET /\($0)"))" }))
        }
    }
}

private final class MetricsRecorder: NSObject, URLSessionTaskDelegate, Sendable {
    let metrics = Recorder<URLSessionTaskMetrics>()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.append(metrics)
    }
}
