import Foundation
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// Timeouts, on a clock that the test moves: no test waits for real time.
@Suite struct TimeoutTests {
    private static func session(
        _ time: ManualTime, _ configure: (URLSessionConfiguration) -> Void
    ) -> (URLSession, EventLoop) {
        let loop = EventLoop(name: "test", time: .manual(time))
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        return (
            URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop), loop
        )
    }

    @Test func aServerThatNeverAnswersTimesOut() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) { $0.timeoutIntervalForRequest = 10 }
        defer { loop.stop() }
        try await withTimeout {
            async let outcome = session.outcome(peer.request())
            _ = await peer.receivedRequest(0)
            time.advance(by: .seconds(11))
            #expect(await outcome == .failed(.timedOut))
        }
    }

    /// Forwards each request twice at the same time, and passes on the response that comes first.
    private struct Twice: LoadInterceptor {
        func load(_ load: LoadContext) async throws {
            let first = try await withThrowingTaskGroup(of: LoadedResponse.self) { group in
                defer { group.cancelAll() }
                for _ in 0..<2 { group.addTask { try await load.next.load(load.request) } }
                return try await group.next()
            }
            if let first { try await load.receive(first) }
        }
    }

    /// One of a task's two loads waits for the connection on which the other one has no answer.
    @Test func aLoadThatWaitsForAConnectionStopsNoOthersTime() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) {
            $0.timeoutIntervalForRequest = 10
            $0.httpMaximumConnectionsPerHost = 1
            $0.interceptors = [Twice()]
        }
        defer { loop.stop() }
        try await withTimeout {
            async let outcome = session.outcome(peer.request())
            await peer.requestCount(reaches: 1)
            try await waitUntil { await session.statistics.requests.waiting == 1 }
            time.advance(by: .seconds(11))
            #expect(await outcome == .failed(.timedOut))
        }
    }

    /// One of a task's two loads is cancelled while it waits for a connection. The body of the other one stalls.
    @Test func aLoadThatWaitedForAConnectionStopsNoOthersTime() async throws {
        let go = Signal()
        let peer = try ScriptedPeer([
            .expectRequest, .waitFor(go), .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na"), .hold,
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) {
            $0.timeoutIntervalForRequest = 10
            $0.httpMaximumConnectionsPerHost = 1
            $0.interceptors = [Twice()]
        }
        defer { loop.stop() }
        try await withTimeout {
            async let loaded = session.bytes(for: peer.request()).0
            await peer.requestCount(reaches: 1)
            try await waitUntil { await session.statistics.requests.waiting == 1 }
            go.fire()
            var iterator = try await loaded.makeAsyncIterator()
            #expect(try await iterator.next() == UInt8(ascii: "a"))
            try await waitUntil { await session.statistics.requests.waiting == 0 }
            time.advance(by: .seconds(11))
            let error = await #expect(throws: URLError.self) { try await iterator.next() }
            #expect(error?.code == .timedOut)
        }
    }

    @Test func aHandshakeThatStallsTimesOut() async throws {
        let tls = TLSServerOptions(try CertificateAuthority().issue())
        let silent = try ScriptedPeer([.expectAnything, .hold])
        let slow = try ScriptedPeer([.beginTLS(tls, answerBytes: 99), .hold])
        defer {
            silent.stop()
            slow.stop()
        }
        for peer in [silent, slow] {
            let time = ManualTime()
            let (session, loop) = Self.session(time) { $0.timeoutIntervalForRequest = 10 }
            defer { loop.stop() }
            let url = try #require(URL(string: peer.url().replacingOccurrences(of: "http:", with: "https:")))
            try await withTimeout {
                async let outcome = session.outcome(URLRequest(url: url))
                await peer.connectionCount(reaches: 1)
                _ = await session.allTasks
                time.advance(by: .seconds(11))
                #expect(await outcome == .failed(.timedOut))
            }
        }
    }

    /// Only the handshake of a WebSocket has the request's time.
    @Test func aQuietWebSocketStays() async throws {
        let go = Signal()
        let server = try LoopbackServer { request in
            .webSocket(request) { socket in
                try socket.send("open")
                try socket.request.exchange.wait(for: go)
                try socket.send("later")
                try socket.echo()
            }
        }
        defer { server.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) { $0.timeoutIntervalForRequest = 10 }
        defer { loop.stop() }
        try await withTimeout {
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            try await expect(task, "open")
            time.advance(by: .seconds(60))
            _ = await session.allTasks
            #expect(task.state == .running)
            go.fire()
            try await expect(task, "later")
            task.cancel()
        }
    }

    /// Those that wait for a handshake that another has begun are in no queue: their own time runs.
    @Test func allThatWaitForAStalledHandshakeTimeOut() async throws {
        let silent = try ScriptedPeer([.expectAnything, .hold])
        defer { silent.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) { $0.timeoutIntervalForRequest = 10 }
        defer { loop.stop() }
        let url = try #require(URL(string: silent.url().replacingOccurrences(of: "http:", with: "https:")))
        try await withTimeout {
            async let first = session.outcome(URLRequest(url: url))
            async let second = session.outcome(URLRequest(url: url))
            async let third = session.outcome(URLRequest(url: url))
            await silent.connectionCount(reaches: 1)
            try await waitUntil { await session.allTasks.count == 3 }
            time.advance(by: .seconds(11))
            #expect(await [first, second, third] == [.failed(.timedOut), .failed(.timedOut), .failed(.timedOut)])
        }
    }

    /// One that waits for a stream of a connection that is open, and for no further connection, is in a queue.
    @Test func aTaskThatWaitsForAStreamHasNoTimeout() async throws {
        let (isHeld, mayEnd) = (Signal(), Signal())
        let route: LoopbackServer.Route = { request in
            isHeld.fire()
            try request.exchange.wait(for: mayEnd)
            return .text(request.path)
        }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await BothVersions.withServer(
            "h2", route, on: loop, { $0.httpMaximumConnectionsPerHost = 1 }
        ) { session, server in
            let loaded = Recorder<String>()
            // As many as the server allows at a time.
            var requests = Array(repeating: try BothVersions.request(server, "/held"), count: 100)
            var last = try BothVersions.request(server, "/last")
            last.timeoutInterval = 10
            requests.append(last)
            let tasks = requests.map { request in
                session.dataTask(with: request) { data, _, error in
                    loaded.append(data.map { String(decoding: $0, as: UTF8.self) } ?? "\(error as Any)")
                }
            }
            // All of them wait before the connection is open.
            loop.execute { for task in tasks { task.resume() } }
            await isHeld.wait()
            _ = await session.allTasks
            time.advance(by: .seconds(11))
            _ = await session.allTasks
            #expect(tasks.last?.state == .running)
            mayEnd.fire()
            let all = await loaded.count(reaches: 101)
            #expect(all.sorted() == Array(repeating: "/held", count: 100) + ["/last"])
        }
    }

    @Test func eachByteStartsTheTimeAnewButNotTheResources() async throws {
        let (first, second) = (Signal(), Signal())
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na"), .waitFor(first), .send("b"),
            .waitFor(second), .send("c"), .hold,
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) {
            $0.timeoutIntervalForRequest = 10
            $0.timeoutIntervalForResource = 25
        }
        defer { loop.stop() }
        try await withTimeout {
            let (bytes, _) = try await session.bytes(for: peer.request())
            var iterator = bytes.makeAsyncIterator()
            #expect(try await iterator.next() == UInt8(ascii: "a"))
            time.advance(by: .seconds(9))
            // The loop has seen the new time once it answers this.
            _ = await session.allTasks
            first.fire()
            #expect(try await iterator.next() == UInt8(ascii: "b"))
            time.advance(by: .seconds(9))
            // The loop has seen the new time once it answers this.
            _ = await session.allTasks
            second.fire()
            #expect(try await iterator.next() == UInt8(ascii: "c"))
            time.advance(by: .seconds(8))
            let error = await #expect(throws: URLError.self) { try await iterator.next() }
            #expect(error?.code == .timedOut)
            #expect(error?.localizedDescription.contains("timeoutIntervalForResource") == true)
        }
    }

    @Test func aRequestsOwnTimeoutCountsBeforeTheSessions() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let (session, loop) = Self.session(time) { $0.timeoutIntervalForRequest = 1000 }
        defer { loop.stop() }
        try await withTimeout {
            var request = peer.request()
            request.timeoutInterval = 5
            async let outcome = session.outcome(request)
            _ = await peer.receivedRequest(0)
            time.advance(by: .seconds(6))
            #expect(await outcome == .failed(.timedOut))
        }
    }
}
