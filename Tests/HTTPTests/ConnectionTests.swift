import Foundation
import LoadingKit
import LoadingKitTransport
import TestSupport
import Testing

/// Keeping connections, sharing them, and sending again what a dead one lost.
@Suite struct ConnectionTests {
    @Test func aConnectionIsKeptAndUsedAgain() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout {
            for _ in 0..<5 { #expect(await session.outcome(peer.request()) == .ok("a")) }
            #expect(peer.requests.snapshot.map(\.connection) == [0, 0, 0, 0, 0])
        }
    }

    /// The objects of an attempt to connect are released, too: they know the session's credentials.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func nothingIsLeftOfASession(throughProxy: Bool) async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let port = try #require(URL(string: peer.url("/"))?.port)
        let url = try #require(URL(string: throughProxy ? "http://elsewhere.test/" : peer.url("/")))
        weak var credentials: URLCredentialStorage?
        do {
            let session = makeSession {
                $0.urlCredentialStorage = URLCredentialStorage()
                $0.appTransportSecurity.allowsArbitraryLoads = true
                if throughProxy {
                    $0.connectionProxyDictionary = ["HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port]
                }
            }
            credentials = session.configuration.urlCredentialStorage
            let isThere = credentials != nil
            #expect(isThere)
            try await withTimeout { #expect(await session.outcome(URLRequest(url: url)) == .ok("a")) }
            session.invalidateAndCancel()
        }
        try await waitUntil { credentials == nil }
    }

    @Test func aConnectionIsNotKeptWhereTheServerSaysSo() async throws {
        let answers: [ScriptedPeer.Step] = [
            .respond("a", fields: ["Connection: close"]), .send("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"),
            .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
        ]
        for answer in answers {
            let peer = try ScriptedPeer([.expectRequest, answer, .hold])
            defer { peer.stop() }
            let session = makeSession()
            try await withTimeout {
                for _ in 0..<2 { #expect(await session.outcome(peer.request()) == .ok("a")) }
                #expect(peer.requests.snapshot.map(\.connection) == [0, 1])
            }
        }
    }

    @Test func noMoreConnectionsThanTheLimitAreOpenAtOnce() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let session = makeSession { $0.httpMaximumConnectionsPerHost = 3 }
        try await withTimeout {
            let url = try #require(URL(string: peer.url("/")))
            await withTaskGroup(of: Outcome.self) { group in
                for _ in 0..<50 { group.addTask { await session.outcome(URLRequest(url: url)) } }
                for await outcome in group { #expect(outcome == .ok("a")) }
            }
            #expect(peer.connections.count <= 3)
        }
    }

    /// It is not given up when another connection serves the request meanwhile that it is made for.
    @Test func aConnectionThatIsBeingMadeServesTheNextRequest() async throws {
        let go = Signal()
        let greeting: [ScriptedPeer.Step] = [.expectBytes(3), .send([5, 0]), .expectBytes(10)]
        let granted = ScriptedPeer.Step.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        let first: [ScriptedPeer.Step] = [
            granted, .repeated(2, [.expectRequest, .respond("a")]), .expectRequest, .hold,
        ]
        let second: [ScriptedPeer.Step] = [.waitFor(go), granted, .expectRequest, .respond("b")]
        let peer = try ScriptedPeer(scripts: [greeting + first, greeting + second], further: .refuse)
        defer { peer.stop() }
        let session = makeSession {
            $0.httpMaximumConnectionsPerHost = 2
            $0.connectionProxyDictionary = [
                "SOCKSEnable": 1, "SOCKSProxy": "127.0.0.1", "SOCKSPort": Int(peer.address.port ?? 0),
            ]
        }
        try await withTimeout {
            let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1/")))
            async let one = session.outcome(request)
            async let other = session.outcome(request)
            #expect(await [one, other] == [.ok("a"), .ok("a")])
            go.fire()
            // One of them waits on the first connection for ever.
            let bodies = Recorder<Data?>()
            for _ in 0..<2 { session.dataTask(with: request) { data, _, _ in bodies.append(data) }.resume() }
            #expect(await bodies.element(at: 0) == Data("b".utf8))
            session.invalidateAndCancel()
        }
    }

    /// A session with one connection, whose peer answers the first request when the signal is fired.
    private static func withQueue(_ go: Signal) throws -> (ScriptedPeer, URLSession) {
        let peer = try ScriptedPeer([
            .expectRequest, .waitFor(go), .respond("a"), .forever([.expectRequest, .respond("a")]),
        ])
        return (peer, makeSession { $0.httpMaximumConnectionsPerHost = 1 })
    }

    @Test func requestsWaitInOrderAndByPriority() async throws {
        let go = Signal()
        let (peer, session) = try Self.withQueue(go)
        defer { peer.stop() }
        try await withTimeout {
            let done = Recorder<Int>()
            func start(_ path: String, _ priority: Float) throws {
                let task = session.dataTask(with: peer.request(path)) { _, _, _ in done.append(1) }
                task.priority = priority
                task.resume()
            }
            try start("/first", 0.5)
            _ = await peer.receivedRequest(0)
            for (path, priority) in [("/low", 0.1), ("/a", 0.5), ("/b", 0.5), ("/high", 0.9)] as [(String, Float)] {
                try start(path, priority)
            }
            // The tasks are on the loop, in order, once it has answered this.
            _ = await session.allTasks
            go.fire()
            _ = await done.count(reaches: 5)
            #expect(peer.requests.snapshot.map(\.target) == ["/first", "/high", "/a", "/b", "/low"])
        }
    }

    /// A request takes the place that its task's priority gives it while it waits.
    @Test func prioritiesChangeWhileRequestsWait() async throws {
        let go = Signal()
        let (peer, session) = try Self.withQueue(go)
        defer { peer.stop() }
        try await withTimeout {
            let done = Recorder<Int>()
            let tasks = ["/first", "/a", "/b", "/c", "/d"].map { path in
                session.dataTask(with: peer.request(path)) { _, _, _ in done.append(1) }
            }
            tasks[0].resume()
            _ = await peer.receivedRequest(0)
            for task in tasks[1...] { task.resume() }
            _ = await session.allTasks
            (tasks[4].priority, tasks[3].priority, tasks[1].priority) = (0.9, 0.9, 0.1)
            _ = await session.allTasks
            go.fire()
            _ = await done.count(reaches: 5)
            #expect(peer.requests.snapshot.map(\.target) == ["/first", "/c", "/d", "/b", "/a"])
        }
    }

    private struct Replay: CustomTestStringConvertible, Sendable {
        let method: String
        let body: String?
        let ending: ScriptedPeer.Step
        let outcome: Outcome
        var field: String?
        var retries = true
        var testDescription: String { "\(method) \(body ?? "") \(ending) \(field ?? "") \(retries)" }
    }

    private static let replays = [
        Replay(method: "GET", body: nil, ending: .close, outcome: .ok("again")),
        Replay(method: "GET", body: nil, ending: .reset, outcome: .ok("again")),
        Replay(method: "PUT", body: "x", ending: .close, outcome: .ok("again")),
        Replay(method: "DELETE", body: nil, ending: .close, outcome: .ok("again")),
        Replay(method: "POST", body: "x", ending: .close, outcome: .ok("again")),
        Replay(method: "PATCH", body: "x", ending: .reset, outcome: .ok("again")),
        Replay(method: "POST", body: nil, ending: .close, outcome: .ok("again")),
        // Where the program does not want that.
        Replay(method: "POST", body: "x", ending: .close, outcome: .failed(.networkConnectionLost), retries: false),
        Replay(method: "GET", body: nil, ending: .close, outcome: .ok("again"), retries: false),
        Replay(
            method: "POST", body: "x", ending: .close, outcome: .ok("again"), field: "Idempotency-Key", retries: false),
        // The stream is gone.
        Replay(method: "POST", body: "stream", ending: .close, outcome: .failed(.networkConnectionLost)),
        // A byte of the response was there: the server has acted.
        Replay(method: "GET", body: nil, ending: .send("H"), outcome: .failed(.networkConnectionLost)),
    ]

    @Test(arguments: replays) private func aReusedConnectionThatDies(_ test: Replay) async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .respond("first"), .expectRequest, test.ending, .close],
            [.expectRequest, .respond("again"), .close],
        ])
        defer { peer.stop() }
        let session = makeSession { $0.retriesUnansweredRequests = test.retries }
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("first"))
            var request = peer.request("/second", method: test.method)
            if test.body == "stream" {
                request.httpBodyStream = InputStream(data: Data("x".utf8))
            } else {
                request.httpBody = test.body.map { Data($0.utf8) }
            }
            if let field = test.field { request.setValue("1", forHTTPHeaderField: field) }
            #expect(await session.outcome(request) == test.outcome)
        }
    }

    /// The request may be the reason for the end of a connection that has carried no other.
    @Test(arguments: [true, false]) func aNewConnectionThatDies(retries: Bool) async throws {
        let peer = try ScriptedPeer(scripts: [[.expectRequest, .close], [.expectRequest, .respond("again"), .close]])
        defer { peer.stop() }
        let session = makeSession { $0.retriesUnansweredRequests = retries }
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .failed(.networkConnectionLost))
            #expect(peer.requests.count == 1)
        }
    }

    /// In the last tenth of the time after which the server has closed an idle connection it may be closing another. It has
    /// closed the first before the program's next request, or while that was on its way.
    @Test(arguments: [false, true], [(8.9, 2), (9.1, 3)])
    func anIdleConnectionIsNotUsedShortlyBeforeTheServerClosesIt(
        isLost: Bool, _ test: (seconds: Double, connections: Int)
    ) async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "idle", time: .manual(time))
        defer { loop.stop() }
        let close = Signal()
        let ending = isLost ? ScriptedPeer.Step.expectRequest : .waitFor(close)
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .respond("a"), ending, .close],
            [.forever([.expectRequest, .respond("b")])],
            [.forever([.expectRequest, .respond("c")])],
        ])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession(on: loop)
            let pass = { (seconds: Double) in
                // The loop's current work is over, and the connection is idle. Then the loop has the new time.
                _ = await session.allTasks
                time.advance(by: .seconds(seconds))
                _ = await session.allTasks
            }
            #expect(await session.outcome(peer.request()) == .ok("a"))
            await pass(10)
            if !isLost {
                close.fire()
                _ = await peer.endedCount(reaches: 1)
            }
            #expect(await session.outcome(peer.request()) == .ok("b"))
            await pass(test.seconds)
            #expect(await session.outcome(peer.request()) == .ok(test.connections == 2 ? "b" : "c"))
            #expect(peer.connections.count == test.connections)
        }
    }

    /// A server that closes one connection early, for example because it is restarted, keeps the others: they are used again.
    /// After 1.9 seconds it takes more of them, as a server with that limit may be about to close a connection after 2 seconds.
    @Test(arguments: [(0.6, 3), (1.9, 30)])
    func aConnectionThatIsClosedEarlyIsNotTheMeasureOfTheNext(seconds: Double, mostConnections: Int) async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "idle", time: .manual(time))
        defer { loop.stop() }
        let close = Signal()
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .respond("a"), .waitFor(close), .close], [.forever([.expectRequest, .respond("a")])],
        ])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession(on: loop)
            let pass = { (seconds: Double) in
                // As in the test before this one.
                _ = await session.allTasks
                time.advance(by: .seconds(seconds))
                _ = await session.allTasks
            }
            #expect(await session.outcome(peer.request()) == .ok("a"))
            await pass(seconds)
            close.fire()
            _ = await peer.endedCount(reaches: 1)
            for _ in 0..<50 {
                #expect(await session.outcome(peer.request()) == .ok("a"))
                await pass(2)
            }
            #expect(peer.connections.count <= mostConnections)
            #expect(Set(peer.requests.snapshot.suffix(10).map(\.connection)).count == 1)
        }
    }

    @Test func aNewConnectionThatDiesIsNotTriedAgain() async throws {
        let peer = try ScriptedPeer(scripts: [[.expectRequest, .close], [.expectRequest, .respond("again")]])
        defer { peer.stop() }
        try await withTimeout {
            #expect(await makeSession().outcome(peer.request()) == .failed(.networkConnectionLost))
            #expect(peer.connections.count == 1)
        }
    }

    @Test func anIdleConnectionThatTheServerClosesIsNoticed() async throws {
        let close = Signal()
        let peer = try ScriptedPeer([.expectRequest, .respond("a"), .waitFor(close), .close])
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("a"))
            close.fire()
            _ = await peer.endedCount(reaches: 1)
            var post = peer.request(method: "POST")
            post.httpBody = Data("x".utf8)
            #expect(await session.outcome(post) == .ok("a"))
        }
    }

    @Test func aRefusedConnectionFailsAtOnce() async throws {
        // Nobody listens on the port of tcpmux; one that was just let go could be given to another test.
        let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/")))
        try await withTimeout {
            let session = makeSession { $0.timeoutIntervalForRequest = 1000 }
            let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.failingURL == request.url)
            let plain = error?.userInfo[NSUnderlyingErrorKey].map { "\($0)" } ?? ""
            #expect(plain.contains("127.0.0.1") && plain.contains("refused"))
        }
    }

    @Test func aRedirectsConnectionIsDrainedAndKept() async throws {
        let body = String(repeating: "x", count: 10_000)
        let peer = try ScriptedPeer([
            .expectRequest,
            .send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 10000\r\n\r\n" + body.prefix(100)),
            .send(String(body.dropFirst(100))), .expectRequest, .respond("b"),
        ])
        defer { peer.stop() }
        // The time that the rest may take is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        let session = makeSession(on: loop) { $0.httpMaximumConnectionsPerHost = 1 }
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("b"))
            #expect(peer.connections.count == 1)
        }
    }
}
