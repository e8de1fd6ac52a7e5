import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// How loads find their way through proxies, as those of `http` do: resolvers, scripts, and proxies that want a password.
@Suite struct ProxyWaysTests {
    /// A resolver that answers as the test says, and records what it is asked.
    private final class Resolver: ProxyResolver {
        let queries = Recorder<String>()
        private let choices: [ProxyChoice]

        init(_ choices: [ProxyChoice]) { self.choices = choices }

        func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
            queries.append("\(query.url) \(query.script == nil ? "" : "script")")
            guard !choices.isEmpty else { throw URLError(.dnsLookupFailed) }
            return choices
        }
    }

    /// Answers a proxy's challenges with one credential after the other, and then cancels.
    private final class Answerer: NSObject, URLSessionTaskDelegate {
        let seen = Recorder<String>()
        private let passwords: [String]

        init(_ passwords: [String]) { self.passwords = passwords }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            guard space.isProxy() else { return completionHandler(.performDefaultHandling, nil) }
            let count = seen.snapshot.count
            seen.append("\(space.proxyType ?? "-") \(challenge.previousFailureCount)")
            guard count < passwords.count else { return completionHandler(.cancelAuthenticationChallenge, nil) }
            let credential = URLCredential(user: "user", password: passwords[count], persistence: .forSession)
            completionHandler(.useCredential, credential)
        }
    }

    /// A port at which nobody listens.
    private static func gonePort() throws -> UInt16 {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        return UInt16(server.url().split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
    }

    private static func dictionary(_ program: ProxyServer.Program, _ proxy: ProxyServer) -> [AnyHashable: Any] {
        program == .microsocks
            ? ["SOCKSEnable": 1, "SOCKSProxy": "127.0.0.1", "SOCKSPort": Int(proxy.port)]
            : ["FTPEnable": 1, "FTPProxy": "127.0.0.1", "FTPPort": Int(proxy.port)]
    }

    private static let askers: [(ProxyServer.Program, ProxyServer.Scheme)] = [
        (.tinyproxy, .basic), (.squid, .basic), (.squid, .digest), (.microsocks, .basic),
    ]

    /// The control connection and each data connection have a tunnel of their own; the program is asked until the proxy accepts.
    @Test(arguments: askers) func aProxysChallengeIsPutToTheProgram(
        _ program: ProxyServer.Program, _ scheme: ProxyServer.Scheme
    ) async throws {
        let proxy = try await onThread { try ProxyServer(program, credential: "user:right", by: scheme) }
        defer { proxy.stop() }
        let run = try await ScenarioRun.start(.pyftpdlib, .explicit)
        defer { run.server.stop() }
        // tinyproxy takes itself for the server when the password is wrong: its status is 401 then.
        let answerer = Answerer(program == .tinyproxy ? ["right"] : ["wrong", "right"])
        let session = run.makeSession(delegate: answerer) {
            $0.connectionProxyDictionary = Self.dictionary(program, proxy)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for _ in 0..<3 {
                let bytes = try await run.load("/a.txt", in: session)
                #expect(bytes == ScenarioRun.text)
            }
        }
        let type = program == .microsocks ? NSURLProtectionSpaceSOCKSProxy : NSURLProtectionSpaceFTPProxy
        #expect(answerer.seen.snapshot == (program == .tinyproxy ? ["\(type) 0"] : ["\(type) 0", "\(type) 1"]))
    }

    @Test(arguments: askers) func withoutTheRightPasswordThereIsNoLoad(
        _ program: ProxyServer.Program, _ scheme: ProxyServer.Scheme
    ) async throws {
        let proxy = try await onThread { try ProxyServer(program, credential: "user:right", by: scheme) }
        defer { proxy.stop() }
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let dictionary = Self.dictionary(program, proxy)
        let cancelling = makeFTPSession(delegate: Answerer([])) { $0.connectionProxyDictionary = dictionary }
        let silent = makeFTPSession { $0.connectionProxyDictionary = dictionary }
        defer { for session in [cancelling, silent] { session.invalidateAndCancel() } }
        try await withTimeout {
            #expect(await cancelling.outcome(server.url()) == .failed(.cancelled))
            #expect(await silent.outcome(server.url()) == .failed(.userAuthenticationRequired))
        }
        #expect(server.steps == [])
    }

    /// What a session has learnt of a proxy is not another session's.
    @Test func twoSessionsAskTheirOwnPrograms() async throws {
        let proxy = try await onThread { try ProxyServer(.squid, credential: "user:right") }
        defer { proxy.stop() }
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let answerers = [Answerer(["right"]), Answerer(["right"])]
        let sessions = answerers.map { answerer in
            makeFTPSession(delegate: answerer) { $0.connectionProxyDictionary = Self.dictionary(.squid, proxy) }
        }
        defer { for session in sessions { session.invalidateAndCancel() } }
        try await withTimeout {
            for session in sessions + sessions {
                #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
            }
        }
        #expect(answerers.map(\.seen.snapshot.count) == [1, 1])
    }

    /// A proxy that is not there is passed over, and tried after the others from then on.
    @Test func theWaysOfAResolverAreTriedInTurn() async throws {
        let proxy = try await onThread { try ProxyServer(.microsocks) }
        defer { proxy.stop() }
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let gone = ProxyChoice(.http, host: "127.0.0.1", port: try Self.gonePort())
        let resolver = Resolver([gone, ProxyChoice(.socks5, host: "127.0.0.1", port: proxy.port), .direct])
        let session = makeFTPSession {
            $0.connectionProxyDictionary = nil
            $0.proxyResolver = resolver
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for _ in 0..<2 {
                let url = try #require(URL(string: server.url()))
                let metrics = MetricsRecorder()
                let (data, _) = try await session.data(for: URLRequest(url: url), delegate: metrics)
                #expect(Array(data) == FaultyFTPServer.file)
                #expect(metrics.isProxied.snapshot.last == true)
            }
        }
        let address = try #require(URL(string: server.url()))
        #expect(resolver.queries.snapshot == ["ftp://\(address.host ?? ""):\(address.port ?? 0) "])
    }

    private final class MetricsRecorder: NSObject, URLSessionTaskDelegate {
        let isProxied = Recorder<Bool>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            for transaction in metrics.transactionMetrics { isProxied.append(transaction.isProxyConnection) }
        }
    }

    @Test func directWhereTheResolverSaysSo() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession {
            $0.connectionProxyDictionary = nil
            $0.proxyResolver = Resolver([.direct])
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
        }
    }

    /// Nothing goes to the server directly where the ways are not known, or none leads on.
    @Test func whereNoWayIsKnownNothingGoesDirectly() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let gone = ProxyChoice(.http, host: "127.0.0.1", port: try Self.gonePort())
        let script: [AnyHashable: Any] = [
            "ProxyAutoConfigEnable": 1, "ProxyAutoConfigURLString": "http://127.0.0.1/proxy.pac",
        ]
        let cases: [([AnyHashable: Any]?, Resolver?, URLError.Code, String)] = [
            (nil, Resolver([]), .dnsLookupFailed, "1006"), (nil, Resolver([gone]), .cannotConnectToHost, "The proxy"),
            (
                nil, Resolver([gone, gone, ProxyChoice(.socks5, host: "127.0.0.1", port: gone.server?.port ?? 0)]),
                .cannotConnectToHost, "None of 2 ways"
            ),
            (script, nil, .cannotConnectToHost, "configuration.proxyResolver"),
        ]
        for (dictionary, resolver, code, text) in cases {
            let session = makeFTPSession {
                $0.connectionProxyDictionary = dictionary
                $0.proxyResolver = resolver
            }
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: server.url()))
            try await withTimeout {
                do {
                    _ = try await session.data(from: url)
                    Issue.record("loaded")
                } catch let error as URLError {
                    #expect(error.code == code && "\(error)".contains(text), "\(error)")
                }
            }
        }
        #expect(server.steps == [])
    }

    /// A load that is cancelled while its resolver thinks.
    @Test func aLoadThatIsCancelledWhileTheResolverIsAsked() async throws {
        let asked = Signal()
        struct Thinking: ProxyResolver {
            let asked: Signal

            func proxies(for query: ProxyQuery) async throws -> [ProxyChoice] {
                asked.fire()
                try await Task.sleep(for: .seconds(1000))
                return [.direct]
            }
        }
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession {
            $0.connectionProxyDictionary = nil
            $0.proxyResolver = Thinking(asked: asked)
        }
        let url = server.url()
        try await withTimeout {
            let load = Task { await session.outcome(url) }
            await asked.wait()
            session.invalidateAndCancel()
            #expect(await load.value == .failed(.cancelled))
        }
        #expect(server.steps == [])
    }
}
