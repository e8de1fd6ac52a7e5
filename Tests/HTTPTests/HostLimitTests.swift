import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// All of a session's connections to one host count for the limit, whichever delegates decide about them.
@Suite(.timeLimit(.minutes(5))) struct HostLimitTests {
    private typealias Decider = TaskDelegateTrustTests.Decider

    /// With those that are being opened.
    private static func connectionCount(of session: URLSession) async -> Int {
        await withCheckedContinuation { continuation in
            session.core.loop.execute { continuation.resume(returning: session.core.connectionStates().count) }
        }
    }

    @Test("tasks with delegates of their own have no more connections than the limit", arguments: BothVersions.all)
    func ownDelegates(version: String) async throws {
        let gates = (0..<12).map { _ in Signal() }
        let route: LoopbackServer.Route = { request in
            let number = Int(request.path.dropFirst()) ?? 0
            try request.exchange.wait(for: gates[number])
            return .text("\(number)")
        }
        try await BothVersions.withServer(version, route) {
            TaskDelegateTrustTests.distrust($0)
            $0.httpMaximumConnectionsPerHost = 2
        } body: { session, server in
            var loads: [Task<Outcome, Never>] = []
            for number in gates.indices {
                let request = try BothVersions.request(server, "/\(number)")
                let delegate = Decider.accepting()
                loads.append(Task { await session.outcome(request, delegate: delegate) })
            }
            // Each request has a connection, or waits for one.
            try await waitUntil {
                let statistics = await session.statistics
                let active = statistics.connections.open.values.reduce(0) { $0 + $1.active }
                return statistics.requests.waiting + active == gates.count
            }
            for number in gates.indices {
                #expect(await Self.connectionCount(of: session) <= 2)
                let request = try #require(await server.requests.element(at: number))
                gates[Int(request.path.dropFirst()) ?? 0].fire()
            }
            for (number, load) in loads.enumerated() { #expect(await load.value == .ok("\(number)")) }
            #expect(await Self.connectionCount(of: session) <= 2)
        }
    }

    @Test("an idle connection is closed for a task that may not use it", arguments: BothVersions.all)
    func idle(version: String) async throws {
        let route: LoopbackServer.Route = { .text("\($0.connection)") }
        try await BothVersions.withServer(version, route, { $0.httpMaximumConnectionsPerHost = 1 }) { session, server in
            let request = try BothVersions.request(server, "/")
            let delegates: [Decider?] = [nil, .accepting(), nil, .accepting()]
            for (number, delegate) in delegates.enumerated() {
                #expect(await session.outcome(request, delegate: delegate) == .ok("\(number)"))
                #expect(await server.endings.count(reaches: number).count == number)
                #expect(await Self.connectionCount(of: session) == 1)
            }
        }
    }

    /// The requests of the queue would otherwise be sent on the connection, one after the other.
    @Test func aQueueGivesWayToATaskWithoutAConnection() async throws {
        let go = Signal()
        let route: LoopbackServer.Route = { request in
            if request.path == "/0" { try request.exchange.wait(for: go) }
            return .text("\(request.connection)")
        }
        try await BothVersions.withServer("http/1.1", route, { $0.httpMaximumConnectionsPerHost = 1 }) {
            session, server in
            var loads: [Task<Outcome, Never>] = []
            for number in 0..<4 {
                let request = try BothVersions.request(server, "/\(number)")
                let delegate = number == 3 ? Decider.accepting() : nil
                loads.append(Task { await session.outcome(request, delegate: delegate) })
                if number == 0 { await server.requests.count(reaches: 1) }
                try await waitUntil { await session.statistics.requests.waiting == number }
            }
            go.fire()
            for (load, connection) in zip(loads, [0, 2, 2, 1]) { #expect(await load.value == .ok("\(connection)")) }
            #expect(server.requests.snapshot.map(\.path) == ["/0", "/3", "/1", "/2"])
        }
    }

    /// The server answers the requests of a connection one after the other.
    @Test func anHTTP2ConnectionWithOverlappingRequestsGivesWay() async throws {
        let gates = [Signal(), Signal()]
        let route: LoopbackServer.Route = { request in
            let number = Int(request.path.dropFirst()) ?? 0
            if gates.indices.contains(number) { try request.exchange.wait(for: gates[number]) }
            return .text("\(request.connection)")
        }
        try await BothVersions.withServer("h2", route, { $0.httpMaximumConnectionsPerHost = 1 }) { session, server in
            var shared: [Task<Outcome, Never>] = []
            for number in gates.indices {
                let request = try BothVersions.request(server, "/\(number)")
                shared.append(Task { await session.outcome(request) })
                try await waitUntil { await session.statistics.connections.openStreams == number + 1 }
            }
            let request = try BothVersions.request(server, "/2")
            let own = Task { await session.outcome(request, delegate: Decider.accepting()) }
            try await waitUntil { await session.statistics.requests.waiting == 1 }
            gates[0].fire()
            #expect(await own.value == .ok("1"))
            #expect(await session.statistics.connections.open["http2"]?.closing == 1)
            // The connection of the other task is idle, and is closed for this one.
            #expect(await session.outcome(request) == .ok("2"))
            gates[1].fire()
            for load in shared { #expect(await load.value == .ok("0")) }
        }
    }

    /// The timeout of each runs from its turn on.
    @Test func tasksWithDelegatesOfTheirOwnTimeOutWhereNobodyAnswers() async throws {
        let peer = try ScriptedPeer([.expectAnything, .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "limit", time: .manual(time))
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.timeoutIntervalForRequest = 60
            $0.httpMaximumConnectionsPerHost = 1
        }
        let text = peer.url().replacingOccurrences(of: "http:", with: "https:")
        var request = URLRequest(url: try #require(URL(string: text)))
        // An attempt to connect takes the session's 60 s.
        request.timeoutInterval = 90
        let timed = request
        try await withTimeout {
            let delegates = [Decider.accepting(), .accepting()]
            var loads: [Task<Outcome, Never>] = []
            for (number, delegate) in delegates.enumerated() {
                loads.append(Task { await session.outcome(timed, delegate: delegate) })
                try await waitUntil { await session.statistics.requests.waiting == number + 1 }
            }
            await peer.connectionCount(reaches: 1)
            for _ in 0..<3 { _ = await session.allTasks }
            time.advance(by: .seconds(61))
            await peer.connectionCount(reaches: 2)
            #expect(await session.allTasks.count == 2)
            time.advance(by: .seconds(31))
            #expect(await loads[0].value == .failed(.timedOut))
            await peer.connectionCount(reaches: 3)
            time.advance(by: .seconds(91))
            #expect(await loads[1].value == .failed(.timedOut))
        }
    }

    /// The connection that was opened for one of them is the session's, as it has decided nothing. The others, which wait
    /// then, have their turns: none waits for ever, and the session has one connection at the end.
    @Test("delegates that decide nothing stay within the limit", arguments: BothVersions.all)
    func bystanders(version: String) async throws {
        try await BothVersions.withServer(version, { .text($0.path) }, { $0.httpMaximumConnectionsPerHost = 1 }) {
            session, server in
            await withTaskGroup(of: (number: Int, outcome: Outcome).self) { group in
                for number in 0..<5 {
                    group.addTask {
                        guard let request = try? BothVersions.request(server, "/\(number)") else {
                            return (number, .failed(.badURL))
                        }
                        let delegate = TaskDelegateTrustTests.Bystander()
                        return (number, await session.outcome(request, delegate: delegate))
                    }
                }
                for await load in group { #expect(load.outcome == .ok("/\(load.number)")) }
            }
            #expect(await Self.connectionCount(of: session) == 1)
        }
    }
}
