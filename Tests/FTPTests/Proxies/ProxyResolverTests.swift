import Foundation
import LoadingKit
import LoadingKitTransport
import TestSupport
import Testing

/// A session's source of proxies is asked about FTP servers, too, and its answers are used as for HTTP.
@Suite(.usesPeers) struct ProxyResolverTests {
    private struct Failure: Error {}

    private final class Resolver: ProxyResolver {
        let queries = Recorder<ProxyQuery>()
        private let answer: @Sendable () async throws -> [ProxyChoice]

        init(_ answer: @escaping @Sendable () async throws -> [ProxyChoice]) { self.answer = answer }

        func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
            queries.append(query)
            return try await answer()
        }
    }

    /// Which loads went through a proxy.
    private final class Metrics: NSObject, URLSessionTaskDelegate, Sendable {
        let isProxied = Recorder<Bool>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            isProxied.append(metrics.transactionMetrics.last?.isProxyConnection ?? false)
        }
    }

    private func makeSession(
        _ resolver: Resolver?, _ dictionary: [AnyHashable: Any]? = nil, delegate: Metrics? = nil
    ) -> URLSession {
        makeFTPSession(delegate: delegate) {
            $0.connectionProxyDictionary = dictionary
            $0.proxyResolver = resolver
        }
    }

    /// A proxy that is not there.
    private func gone(_ kind: ProxyChoice.Kind, _ port: RefusingPort) -> ProxyChoice {
        ProxyChoice(kind, host: "127.0.0.1", port: port.number)
    }

    private func address(_ server: FaultyFTPServer) -> String { server.url("") }

    @Test func noProxy() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let (resolver, metrics) = (Resolver { [.direct] }, Metrics())
        let session = makeSession(resolver, delegate: metrics)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 { #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file)) }
        #expect(resolver.queries.snapshot.map(\.url.absoluteString) == [address(server)])
        #expect(await metrics.isProxied.contents { $0.count == 2 } == [false, false])
    }

    @Test(arguments: [ProxyChoice.Kind.http, .socks5]) func theProxyAfterOneThatIsGone(
        _ kind: ProxyChoice.Kind
    ) async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(kind == .http ? .squid : .microsocks) }
        defer { proxy.stop() }
        let port = try RefusingPort()
        let gone = gone(kind, port)
        let (resolver, metrics) = (
            Resolver { [gone, ProxyChoice(kind, host: "127.0.0.1", port: proxy.port)] }, Metrics()
        )
        let session = makeSession(resolver, delegate: metrics)
        defer { session.invalidateAndCancel() }
        try await withTimeout("loads through \(kind)") {
            for _ in 0..<2 { #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file)) }
        }
        #expect(await metrics.isProxied.contents { $0.count == 2 } == [true, true])
        // One control connection: the proxy that is gone was not tried again.
        #expect(server.steps.filter { $0 == "greeting" }.count == 1)
        withExtendedLifetime(port) {}
    }

    @Test func theDirectWayAfterAProxyThatIsGone() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let port = try RefusingPort()
        let gone = gone(.http, port)
        let session = makeSession(Resolver { [gone, .direct] })
        defer {
            session.invalidateAndCancel()
            withExtendedLifetime(port) {}
        }
        #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
    }

    /// A silent proxy has a part of the request's own time, and not of the session's, which is longer.
    @Test func theDirectWayAfterASilentProxy() async throws {
        let (server, silent) = (try FaultyFTPServer(), try ScriptedPeer([.expectRequest, .hold]))
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        let proxy = ProxyChoice(.http, host: "127.0.0.1", port: try #require(silent.address.port))
        let session = makeFTPSession(on: loop) {
            $0.connectionProxyDictionary = nil
            $0.proxyResolver = Resolver { [proxy, .direct] }
        }
        defer {
            session.invalidateAndCancel()
            loop.stop()
            silent.stop()
            server.stop()
        }
        var request = URLRequest(url: try #require(URL(string: server.url())))
        request.timeoutInterval = 5
        try await withTimeout { [request] in
            async let load = session.outcome(request)
            await silent.requestCount(reaches: 1)
            time.advance(by: .seconds(2.6))
            #expect(await load == .loaded(FaultyFTPServer.file))
        }
    }

    @Test func noWayLeadsOn() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let port = try RefusingPort()
        let gone = [gone(.http, port), gone(.socks5, port)]
        let session = makeSession(Resolver { gone })
        defer {
            session.invalidateAndCancel()
            withExtendedLifetime(port) {}
        }
        let url = try #require(URL(string: server.url()))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .cannotConnectToHost)
        #expect(error.map { "\($0)".contains("None of 2 routes led to the server") } == true, "\(error as Any)")
        #expect(server.steps == [])
    }

    @Test func nothingGoesDirectlyBecauseTheProxiesAreNotKnown() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let script: [AnyHashable: Any] = [
            "ProxyAutoConfigEnable": 1, "ProxyAutoConfigJavaScript": "function FindProxyForURL() { return 'DIRECT' }",
        ]
        for session in [makeSession(Resolver { throw Failure() }), makeSession(nil, script)] {
            defer { session.invalidateAndCancel() }
            #expect(await session.outcome(server.url()) == .failed(.cannotConnectToHost))
        }
        #expect(server.steps == [])
        // Whoever runs the script gets it.
        let runner = Resolver { [.direct] }
        let session = makeSession(runner, script)
        defer { session.invalidateAndCancel() }
        #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        #expect(
            runner.queries.snapshot.map(\.script) == [.javaScript("function FindProxyForURL() { return 'DIRECT' }")])
    }

    /// The load that asks is cancelled: the resolver's task is, and the next load asks again.
    @Test func aLoadThatIsCancelledWhileTheResolverThinks() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let (began, ended, isFirst) = (Signal(), Signal(), Box(true))
        let resolver = Resolver {
            guard
                isFirst.update({ first in
                    defer { first = false }
                    return first
                })
            else { return [.direct] }
            began.fire()
            await withTaskCancellationHandler {
                await ended.wait()
            } onCancel: {
                ended.fire()
            }
            return [.direct]
        }
        let session = makeSession(resolver)
        defer { session.invalidateAndCancel() }
        let load = Task { await session.outcome(server.url()) }
        await began.wait()
        load.cancel()
        #expect(await load.value == .failed(.cancelled))
        await ended.wait()
        #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        #expect(resolver.queries.snapshot.count == 2)
    }
}
