import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// Relations between figures that hold at any time.
@Suite(.timeLimit(.minutes(5))) struct StatisticsInvariantTests {
    private static func check(_ statistics: URLSession.Statistics, _ comment: Comment) {
        let (tasks, requests, connections) = (statistics.tasks, statistics.requests, statistics.connections)
        #expect(tasks.running >= 0, comment)
        #expect(tasks.begun == tasks.succeeded + tasks.failed.values.reduce(0, +) + tasks.running, comment)
        let open = connections.open.values.reduce(0) { $0 + $1.active + $1.idle }
        #expect(connections.opened.values.reduce(0, +) - connections.closed.values.reduce(0, +) == open, comment)
        let sent = requests.onNewConnections + requests.onUsedConnections
        #expect(requests.responses.values.reduce(0, +) <= sent, comment)
        #expect(requests.onNewConnections <= connections.opened.values.reduce(0, +), comment)
        #expect(
            requests.waiting >= requests.longestQueue && connections.openStreams <= connections.allowedStreams, comment)
        #expect(statistics.firstBytes.count <= sent, comment)
    }

    private static let route: LoopbackServer.Route = { request in
        switch request.path {
        case "/redirect": return .redirect(to: "/")
        case "/close": return .text("hello").closing()
        case "/broken": return .stream(.length(10)) { _ in throw CancellationError() }
        case "/missing": return .text("", status: 404)
        default: return .text("hello")
        }
    }

    @Test(arguments: BothVersions.all, [1, 2] as [UInt64]) func randomLoads(_ version: String, _ seed: UInt64)
        async throws
    {
        try await BothVersions.withServer(version, Self.route, { $0.httpMaximumConnectionsPerHost = 3 }) {
            session, server in
            var random = SeededGenerator(seed: seed)
            let paths = ["/", "/redirect", "/close", "/broken", "/missing"]
            var loads: [Task<Outcome, Never>] = []
            for number in 1...300 {
                let request = try BothVersions.request(server, paths[Int.random(in: 0..<paths.count, using: &random)])
                let load = Task { await session.outcome(request) }
                if Int.random(in: 0..<5, using: &random) == 0 { load.cancel() }
                loads.append(load)
                if number % 20 == 0 {
                    Self.check(await session.statistics, "after \(number)")
                    for load in loads.suffix(10) { _ = await load.value }
                }
            }
            var ends = (ok: 0, failed: 0)
            for load in loads { if case .failed = await load.value { ends.failed += 1 } else { ends.ok += 1 } }
            let statistics = await session.statistics
            Self.check(statistics, "at the end")
            #expect(statistics.tasks.running == 0 && statistics.requests.waiting == 0)
            #expect(statistics.tasks.succeeded == ends.ok)
            #expect(statistics.tasks.failed.values.reduce(0, +) <= ends.failed)
        }
    }

    /// The snapshots are taken in the middle of loads, which they do not disturb.
    @Test(arguments: BothVersions.all) func aThousandLoads(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route, { $0.urlCache = nil }) { session, server in
            let request = try BothVersions.request(server, "/")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...1000 {
                    group.addTask {
                        #expect(await session.outcome(request) == .ok("hello"))
                        if number % 50 == 0 { Self.check(await session.statistics, "\(number)") }
                    }
                }
                try await group.waitForAll()
            }
            let statistics = await session.statistics
            Self.check(statistics, "at the end")
            #expect(statistics.tasks.succeeded == 1000 && statistics.requests.responses == [2: 1000])
            #expect(statistics.requests.onNewConnections + statistics.requests.onUsedConnections == 1000)
            #expect(statistics.bytes.decoded == 5000)
        }
    }

    // MARK: Connections

    private static func connections(of session: URLSession) async -> [ConnectionState] {
        await withCheckedContinuation { continuation in
            session.core.loop.execute { continuation.resume(returning: session.core.connectionStates()) }
        }
    }

    @Test(arguments: BothVersions.all) func theStateOfConnections(_ version: String) async throws {
        let (begun, rest) = (Recorder<Int>(), Signal())
        let route: LoopbackServer.Route = { request in
            .stream(.length(2)) { writer in
                try writer.write([1])
                begun.append(1)
                if request.path == "/waits" { try request.exchange.wait(for: rest) }
                try writer.write([2])
            }
        }
        try await BothVersions.withServer(version, route, { $0.urlCache = nil }) { session, server in
            #expect(await Self.connections(of: session).isEmpty)
            let quick = try BothVersions.request(server, "/")
            _ = try await session.data(for: quick)
            let (bytes, _) = try await session.bytes(for: try BothVersions.request(server, "/waits"))
            let states = await Self.connections(of: session)
            let state = try #require(states.first)
            #expect(states.count == 1 && state.phase == .active && state.number == 1 && state.requestCount == 2)
            #expect(state.kind == (version == "h2" ? .http2 : .http1))
            #expect(state.info?.tls?.protocolVersion == 0x0304 && state.info?.remote.port == server.address.port)
            if version == "h2" {
                let http2 = try #require(state.http2)
                let stream = try #require(http2.streams.first)
                #expect(http2.openStreams == 1 && http2.streams.count == 1 && http2.allowedStreams > 1)
                #expect(stream.number == 3 && stream.task == bytes.task.taskIdentifier)
                #expect(!stream.isSending && stream.isReceiving)
                #expect(stream.windows.receive > 0 && stream.windows.send > 0)
                #expect(http2.windows.receive > 0 && http2.windows.send > 0)
            }
            rest.fire()
            for try await _ in bytes {}
            let idle = await Self.connections(of: session)
            #expect(idle.map(\.phase) == [.idle])
            #expect(idle.first?.http2?.openStreams ?? 0 == 0)
        }
    }

    /// A connection of HTTP/1.1 leaves the pool, and a stream of HTTP/2 stays.
    @Test(arguments: BothVersions.all) func webSockets(_ version: String) async throws {
        try await WebSocketServing.withSession(version, { .webSocket($0) { while try $0.receive() != nil {} } }) {
            session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            try await task.send(.string("hello"))
            let statistics = await session.statistics
            #expect(statistics.tasks.webSocket.running == 1)
            #expect(statistics.connections.closed == (version == "h2" ? [:] : ["taken": 1]))
            #expect(statistics.connections.openStreams == (version == "h2" ? 1 : 0))
            Self.check(statistics, "\(version)")
            task.cancel()
        }
    }
}
