import Foundation
import Glibc
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The idle connections of a process have one bound, for all of its sessions.
@Suite struct IdleConnectionTests {
    /// Names of this machine that are origins of their own.
    private static func request(_ peer: ScriptedPeer, _ index: Int) -> URLRequest {
        URLRequest(url: URL(string: peer.url("/", host: "host\(index).localhost")) ?? URL(fileURLWithPath: "/"))
    }

    private static func openCount(_ peer: ScriptedPeer) -> Int { peer.connections.count { $0.ending == .open } }

    @Test("beyond the bound those that are idle for longest are closed", arguments: [1, 3])
    func bound(sessions: Int) async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let connections = IdleConnections(limit: 8)
        let loops = (0..<sessions).map { EventLoop(name: "idle-\($0)", idleConnections: connections) }
        defer { for loop in loops { loop.stop() } }
        let sessions = loops.map { makeSession(on: $0) }
        try await withTimeout {
            for index in 0..<40 {
                let session = sessions[index % sessions.count]
                #expect(await session.outcome(Self.request(peer, index)) == .ok("a"))
                #expect(connections.count <= 9)
            }
            try await waitUntil { Self.openCount(peer) <= 8 }
            // The last ones are still there.
            let last = sessions[39 % sessions.count]
            #expect(await last.outcome(Self.request(peer, 39)) == .ok("a"))
            #expect(peer.connections.count == 40)
        }
    }

    @Test("a connection that is used again and again is not the oldest")
    func used() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let connections = IdleConnections(limit: 4)
        let loop = EventLoop(name: "idle", idleConnections: connections)
        defer { loop.stop() }
        let session = makeSession(on: loop)
        try await withTimeout {
            for index in 1..<30 {
                #expect(await session.outcome(Self.request(peer, 0)) == .ok("a"))
                #expect(await session.outcome(Self.request(peer, index)) == .ok("a"))
            }
            #expect(peer.connections.count == 30)
        }
    }

    /// The monotonic clock, by which a connection is idle, stands while the machine sleeps.
    @Test("what was idle when the machine went to sleep is not used")
    func sleep() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "sleep", time: .manual(time))
        defer { loop.stop() }
        let session = makeSession(on: loop)
        try await withTimeout {
            for (asleep, connections) in [(0, 1), (0, 1), (86_400, 2), (0, 2)] as [(UInt64, Int)] {
                time.sleep(seconds: asleep)
                time.advance(by: .milliseconds(20))
                #expect(await session.outcome(peer.request()) == .ok("a"))
                #expect(peer.connections.count == connections)
            }
        }
    }

    @Test("of HTTP/2, too", arguments: BothVersions.all)
    func bothVersions(version: String) async throws {
        let connections = IdleConnections(limit: 4)
        let authority = try CertificateAuthority()
        let identity = try authority.issue(.names("*.here.localhost"))
        let options = TLSServerOptions(identity, applicationProtocols: [version])
        let server = try LoopbackServer(LoopbackServer.Options(tls: options)) { _ in .text("a") }
        defer { server.stop() }
        let loop = EventLoop(name: "idle", idleConnections: connections)
        defer { loop.stop() }
        let session = makeSession(on: loop) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        try await withTimeout {
            for index in 0..<20 {
                let url = try #require(URL(string: server.url("/", host: "host\(index).here.localhost")))
                #expect(await session.outcome(URLRequest(url: url)) == .ok("a"))
                #expect(connections.count <= 5)
            }
            await server.endings.count(reaches: 16)
        }
    }

    @Test("when descriptors are out, idle connections are closed for a new one", arguments: [EMFILE, ENFILE])
    func descriptorsAreOut(code: Int32) async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("a")])])
        defer { peer.stop() }
        let loop = EventLoop(name: "descriptors", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        let session = makeSession(on: loop)
        try await withTimeout {
            #expect(await session.outcome(Self.request(peer, 0)) == .ok("a"))
            loop.attach(FaultPlan(.socket, .nth(1), .fail(code)))
            #expect(await session.outcome(Self.request(peer, 1)) == .ok("a"))
            let plan = FaultPlan(.socket, .from(1), .fail(code))
            loop.attach(plan)
            do {
                _ = try await session.data(for: Self.request(peer, 2))
                Issue.record("there was no descriptor")
            } catch let error as URLError {
                #expect(error.code == .cannotConnectToHost)
                let reason = error.userInfo[NSUnderlyingErrorKey].map { "\($0)" } ?? ""
                #expect(code == ENFILE || reason.contains("RLIMIT_NOFILE"), "\(reason)")
            }
            loop.attach(nil)
            #expect(await session.outcome(Self.request(peer, 2)) == .ok("a"))
        }
    }

    @Test("a queue that never empties holds none of those that were served")
    func servedAreLetGo() async throws {
        let closing: [ScriptedPeer.Step] = [.expectRequest, .respond("a", fields: ["Connection: close"])]
        let peer = try ScriptedPeer(scripts: Array(repeating: closing, count: 60) + [[.expectRequest, .hold]])
        defer { peer.stop() }
        let session = makeSession { $0.httpMaximumConnectionsPerHost = 1 }
        defer { session.invalidateAndCancel() }
        struct Reference { weak var task: URLSessionTask? }
        let ended = Recorder<Int>()
        // In the order in which they are served; each has a connection of its own.
        let references = (0..<64).map { number in
            let task = session.dataTask(with: peer.request()) { _, _, _ in ended.append(number) }
            task.resume()
            return Reference(task: task)
        }
        try await withTimeout {
            await ended.count(reaches: 60)
            await peer.requestCount(reaches: 61)
            let waiting = await session.allTasks.count
            #expect(waiting == 4)
            // But for a few of the last.
            while references.prefix(40).contains(where: { $0.task != nil }) {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    @Test func limits() {
        let expected = [(64, 32), (1024, 512), (1_048_576, 10_000), (1, 1), (Int.max, 10_000)]
        for (descriptors, limit) in expected {
            #expect(IdleConnections.limit(ofDescriptors: descriptors) == limit)
        }
    }
}
