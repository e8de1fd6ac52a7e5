import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct StatisticsTests {
    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var configure: @Sendable (URLSessionConfiguration) -> Void = { _ in }
        let run: @Sendable (URLSession, LoopbackServer) async throws -> Void
        /// The figures, where they are the same for both versions of HTTP: `http` stands for the protocol.
        let expected: [String: Int]
    }

    /// A session without a cache.
    private static let plain: @Sendable (URLSessionConfiguration) -> Void = { $0.urlCache = nil }

    /// A connection that carries requests one after the other, and is idle now.
    private static func loads(_ count: Int, _ more: [String: Int] = [:]) -> [String: Int] {
        let loads = [
            "tasks.begun": count, "tasks.succeeded": count, "requests.loads": count, "requests.new": 1,
            "requests.used": count - 1, "requests.2xx": count, "connections.opened.http": 1,
            "connections.http.idle": 1, "times.lookUps": 1, "times.connects": 1, "times.handshakes": 1,
            "times.firstBytes": count,
        ]
        return loads.merging(more) { $1 }.filter { $0.value != 0 }
    }

    static let scenarios = [
        Scenario(
            testDescription: "nothing", run: { _, _ in }, expected: [:]),
        Scenario(
            testDescription: "one load", configure: plain, run: { try await load("/text", $0, $1) },
            expected: loads(1)),
        Scenario(
            testDescription: "a reused connection", configure: plain,
            run: { for _ in 1...3 { try await load("/text", $0, $1) } }, expected: loads(3)),
        Scenario(
            testDescription: "statuses", configure: plain,
            run: { for status in [200, 404, 404, 503] { try await load("/status/\(status)", $0, $1) } },
            expected: loads(4, ["requests.2xx": 1, "requests.4xx": 2, "requests.5xx": 1])),
        Scenario(
            testDescription: "a redirect", configure: plain, run: { try await load("/redirect", $0, $1) },
            expected: loads(
                1,
                [
                    "requests.loads": 2, "requests.redirects": 1, "requests.3xx": 1, "requests.used": 1,
                    "times.firstBytes": 2,
                ])),
        Scenario(
            testDescription: "a challenge with an answer", configure: plain,
            run: { try await load("/secret", $0, $1, Credentials()) },
            expected: loads(
                1,
                [
                    "requests.4xx": 1, "requests.used": 1, "requests.retries.authentication": 1, "challenges.basic": 1,
                    "challenges.serverTrust": 1, "answers.credential": 1, "answers.defaultHandling": 1,
                    "times.firstBytes": 2,
                ])),
        Scenario(
            testDescription: "a challenge without an answer", configure: plain,
            run: { try await load("/secret", $0, $1) },
            expected: loads(1, ["requests.2xx": 0, "requests.4xx": 1, "challenges.basic": 1])),
        Scenario(
            testDescription: "cookies", configure: plain,
            run: {
                try await load("/cookies", $0, $1)
                try await load("/text", $0, $1)
            },
            expected: loads(2, ["cookies.stored": 1, "cookies.refused.otherDomain": 1, "cookies.requests": 1])),
        Scenario(
            testDescription: "a hit", run: { for _ in 1...3 { try await load("/fresh", $0, $1) } },
            expected: loads(
                3,
                [
                    "requests.used": 0, "requests.2xx": 1, "times.firstBytes": 1, "cache.misses.nothingStored": 1,
                    "cache.stored": 1, "cache.hits.fresh": 2,
                ])),
        Scenario(
            testDescription: "a validation", run: { for _ in 1...2 { try await load("/tagged", $0, $1) } },
            expected: loads(
                2,
                [
                    "requests.2xx": 1, "requests.3xx": 1, "cache.misses.nothingStored": 1, "cache.stored": 1,
                    "cache.validations.needsValidation": 1, "cache.validations.validated": 1,
                ])),
        Scenario(
            testDescription: "no-store", run: { try await load("/unstored", $0, $1) },
            expected: loads(1, ["cache.misses.nothingStored": 1, "cache.notStored.notStoredNoStore": 1])),
        Scenario(
            testDescription: "a refused connection", configure: plain,
            run: { session, _ in
                let port = try RefusingPort()
                let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
                _ = await session.outcome(URLRequest(url: url))
                withExtendedLifetime(port) {}
            },
            expected: [
                "tasks.begun": 1, "tasks.failed.-1004": 1, "requests.loads": 1, "requests.failedConnects": 1,
                "connections.failed.connect": 1,
            ]),
        Scenario(
            testDescription: "a name without an address",
            configure: {
                plain($0)
                $0.settings.connectSubstitution = ConnectSubstitution(
                    resolver: Resolver(lookup: { _, _ in .failure(.notFound("no such name")) }), endpoint: { $0 })
            },
            run: { session, _ in
                _ = await session.outcome(URLRequest(url: try #require(URL(string: "https://nowhere.test/"))))
            },
            expected: [
                "tasks.begun": 1, "tasks.failed.-1003": 1, "requests.loads": 1, "requests.failedConnects": 1,
                "connections.failed.lookUp": 1, "times.lookUps": 1,
            ]),
        Scenario(
            testDescription: "data: and file: URLs", configure: plain,
            run: { session, _ in
                for url in ["data:,hello", "\(URL(fileURLWithPath: #filePath))", "nothing://here"] {
                    _ = await session.outcome(URLRequest(url: try #require(URL(string: url))))
                }
            },
            expected: ["tasks.begun": 3, "tasks.succeeded": 2, "tasks.failed.-1002": 1, "requests.loads": 2]),
    ]

    @Test(arguments: scenarios, BothVersions.all) func figures(_ scenario: Scenario, _ version: String) async throws {
        try await BothVersions.withServer(version, Self.route, scenario.configure) { session, server in
            try await scenario.run(session, server)
            let statistics = await session.statistics
            let name = version == "h2" ? "http2" : "http1"
            let expected = scenario.expected.map { ($0.replacing(".http.", with: ".\(name)."), $1) }
                .map { ($0.hasSuffix(".http") ? String($0.dropLast(4)) + name : $0, $1) }
            #expect(statistics.figures == Dictionary(uniqueKeysWithValues: expected), "\(version)")
        }
    }

    private static func load(
        _ path: String, _ session: URLSession, _ server: LoopbackServer, _ delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws {
        _ = try await session.data(for: try BothVersions.request(server, path), delegate: delegate)
    }

    private static let route: LoopbackServer.Route = { request in
        switch request.target {
        case "/redirect": return .redirect(to: "/text")
        case "/secret":
            return request.fields[.authorization] != nil
                ? .text("hello")
                : ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"secret\"")
        case "/cookies":
            return .text("hello").adding("Set-Cookie", "a=1").adding("Set-Cookie", "b=2; Domain=example.com")
        case "/fresh": return .text("hello").adding("Cache-Control", "max-age=1000")
        case "/unstored": return .text("hello").adding("Cache-Control", "no-store")
        case "/tagged":
            let response =
                request.fields[.ifNoneMatch] == nil ? ServerResponse.text("hello") : ServerResponse(304)
            return response.adding("ETag", "\"1\"").adding("Cache-Control", "no-cache")
        case let path where path.hasPrefix("/status/"): return .text("status", status: Int(path.dropFirst(8)) ?? 500)
        default: return .text("hello")
        }
    }

    private final class Credentials: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else {
                return (.performDefaultHandling, nil)
            }
            return (.useCredential, URLCredential(user: "user", password: "password", persistence: .none))
        }
    }

    // MARK: Connections

    /// Four requests at a time share two connections: two wait.
    @Test func requestsThatWait() async throws {
        let (begun, rest) = (Recorder<Int>(), Signal())
        let server = try LoopbackServer { request in
            begun.append(1)
            try request.exchange.wait(for: rest)
            return .text("hello")
        }
        defer { server.stop() }
        let session = makeSession {
            $0.httpMaximumConnectionsPerHost = 2
            $0.urlCache = nil
        }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: server.url()))
        try await withTimeout {
            async let loads = withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...4 { group.addTask { _ = try await session.data(from: url) } }
                try await group.waitForAll()
            }
            _ = await begun.count(reaches: 2)
            let before = await session.statistics
            #expect(before.requests.waiting == 2 && before.requests.longestQueue == 2)
            #expect(before.connections.open["http1"]?.active == 2 && before.tasks.data.running == 4)
            rest.fire()
            try await loads
            let after = await session.statistics
            #expect(after.requests.waiting == 0 && after.requests.longestQueue == 0)
            #expect(after.requests.onNewConnections == 2 && after.requests.onUsedConnections == 2)
            #expect(after.tasks.running == 0 && after.tasks.data.running == 0)
        }
    }

    /// The first request of a connection is answered, and the second one finds it closed.
    @Test func aLostConnectionAndARetry() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .respond("one"), .expectRequest, .reset], [.forever([.expectRequest, .respond("two")])],
        ])
        defer { peer.stop() }
        let session = makeSession { $0.urlCache = nil }
        defer { session.invalidateAndCancel() }
        #expect(await session.outcome(peer.request()) == .ok("one"))
        #expect(await session.outcome(peer.request()) == .ok("two"))
        let figures = await session.statistics.figures
        #expect(
            figures == [
                "tasks.begun": 2, "tasks.succeeded": 2, "requests.loads": 2, "requests.new": 2, "requests.used": 1,
                "requests.2xx": 2, "requests.retries.connectionLost": 1, "connections.opened.http1": 2,
                "connections.closed.lost": 1, "connections.http1.idle": 1, "times.connects": 2, "times.firstBytes": 2,
            ])
    }

    @Test func cancelledTasks() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        let session = makeSession { $0.urlCache = nil }
        defer { session.invalidateAndCancel() }
        let task = Task { await session.outcome(peer.request()) }
        _ = await peer.requests.count(reaches: 1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        let figures = await session.statistics.figures
        #expect(
            figures == [
                "tasks.begun": 1, "tasks.failed.-999": 1, "requests.loads": 1, "requests.new": 1,
                "connections.opened.http1": 1, "connections.closed.unusable": 1, "times.connects": 1,
            ])
    }

    @Test(arguments: BothVersions.all) func bytesAndTimes(_ version: String) async throws {
        let content = Array(repeating: UInt8(ascii: "a"), count: 100_000)
        try await BothVersions.withServer(version, { _ in try .gzip(content) }, { $0.urlCache = nil }) {
            session, server in
            let body = Data(repeating: 1, count: 5000)
            let request = try BothVersions.request(server, "/", "POST", body: body)
            _ = try await session.data(for: request)
            let statistics = await session.statistics
            let bytes = statistics.bytes
            #expect(bytes.decoded == 100_000 && bytes.delivered == 100_000)
            #expect((1..<10_000).contains(bytes.bodiesReceived) && (5000..<5100).contains(bytes.bodiesSent))
            #expect((1..<1000).contains(bytes.headsSent) && (1..<1000).contains(bytes.headsReceived))
            for times in [statistics.connects, statistics.handshakes, statistics.firstBytes] {
                #expect(times.count == 1 && times.total > 0)
                #expect(times.least == times.total && times.greatest == times.total && times.average == times.total)
            }
            #expect(statistics.memory.decodeBuffers == 65_536)
            #expect(statistics.process.eventLoops > 0 && statistics.process.idleConnections > 0)
        }
    }

    @Test func twoSessionsDoNotMix() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let (one, other) = (makeSession { $0.urlCache = nil }, makeSession { $0.urlCache = nil })
        defer { for session in [one, other] { session.invalidateAndCancel() } }
        let url = try #require(URL(string: server.url()))
        for _ in 1...3 { _ = try await one.data(from: url) }
        _ = try await other.data(from: url)
        #expect(await one.statistics.tasks.succeeded == 3)
        #expect(await other.statistics.tasks.succeeded == 1)
        #expect(await other.statistics.requests.onUsedConnections == 0)
    }

    @Test func theCompletionHandlerIsCalledOnTheDelegateQueue() async throws {
        let session = makeSession()
        let queue = session.delegateQueue
        let (isOnQueue, statistics) = await withCheckedContinuation { continuation in
            session.getStatistics { continuation.resume(returning: (OperationQueue.current == queue, $0)) }
        }
        #expect(isOnQueue && statistics.figures == [:] && !statistics.isInvalidated)
        await session.finishTasks()
        #expect(await session.statistics.isInvalidated)
    }

    /// Tasks that were not resumed, or are suspended, and of each kind.
    @Test func tasksByKindAndState() async throws {
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let url = URL(fileURLWithPath: "/nowhere")
        let tasks = [
            session.dataTask(with: url), session.dataTask(with: url), session.downloadTask(with: url),
            session.uploadTask(with: URLRequest(url: url), from: Data()),
            session.streamTask(withHostName: "localhost", port: 1),
            session.webSocketTask(with: try #require(URL(string: "ws://localhost:1/"))),
        ]
        #expect(
            await session.statistics.figures == [
                "tasks.data.suspended": 2, "tasks.download.suspended": 1, "tasks.upload.suspended": 1,
                "tasks.stream.suspended": 1, "tasks.webSocket.suspended": 1,
            ])
        withExtendedLifetime(tasks) {}
    }

    @Test func aStreamTask() async throws {
        let peer = try ScriptedPeer([.send("hello"), .readUntilClose])
        defer { peer.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let task = session.streamTask(withHostName: "127.0.0.1", port: Int(try #require(peer.address.port)))
        task.resume()
        let (data, _) = try await task.readData(ofMinLength: 5, maxLength: 5, timeout: 0)
        #expect(data == Data("hello".utf8))
        var figures = await session.statistics.figures
        #expect(
            figures == [
                "tasks.begun": 1, "tasks.stream.running": 1, "connections.opened.stream": 1,
                "connections.stream.active": 1, "times.connects": 1,
            ])
        task.cancel()
        await session.finishTasks()
        figures = await session.statistics.figures
        #expect(figures["connections.stream.active"] == nil && figures["tasks.failed.-999"] == 1)
    }

    #if Background
        /// The requests are those of the session that performs the transfers.
        @Test func aBackgroundSessionHasTasksAlone() async throws {
            let server = try LoopbackServer { _ in .text("hello") }
            defer { server.stop() }
            let configuration = URLSessionConfiguration.background(withIdentifier: "statistics-\(UUID().uuidString)")
            configuration.runsInProcess = true
            configuration.connectionProxyDictionary = [:]
            let transfers = Transfers()
            let session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
            session.downloadTask(with: try #require(URL(string: server.url()))).resume()
            try await withTimeout {
                await transfers.ended.wait()
                await session.finishTasks()
            }
            #expect(await session.statistics.figures == ["tasks.begun": 1, "tasks.succeeded": 1])
        }

        private final class Transfers: NSObject, URLSessionDownloadDelegate, Sendable {
            let ended = Signal()

            func urlSession(
                _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
            ) {}

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                ended.fire()
            }
        }
    #endif
}
