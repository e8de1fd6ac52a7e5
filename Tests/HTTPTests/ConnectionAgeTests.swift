import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// A connection takes no further request an hour after it was opened, however busy it is, or when its session was reset.
@Suite struct ConnectionAgeTests {
    @Test(arguments: BothVersions.all) func connectionsThatAreNeverIdleForLong(version: String) async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "age", time: .manual(time))
        defer { loop.stop() }
        try await BothVersions.withServer(version, { .text("\($0.connection)") }, on: loop) { session, server in
            let request = try BothVersions.request(server, "/")
            for minute in 0..<61 {
                // Less than the time after which an idle connection is closed.
                for _ in 0..<2 {
                    #expect(await session.outcome(request) == .ok(minute < 60 ? "0" : "1"), "\(minute)")
                    time.advance(by: .seconds(30))
                }
            }
        }
    }

    @Test(arguments: BothVersions.all, [false, true])
    func connectionsWhoseSessionIsReset(version: String, isFlushed: Bool) async throws {
        let (isThere, mayEnd) = (Signal(), Signal())
        let route: LoopbackServer.Route = { request in
            if request.path == "/held" {
                isThere.fire()
                try request.exchange.wait(for: mayEnd)
            }
            return .text("\(request.connection)")
        }
        try await BothVersions.withServer(version, route) { session, server in
            let held = Task { await session.outcome(try BothVersions.request(server, "/held")) }
            await isThere.wait()
            if isFlushed { await session.flush() } else { await session.reset() }
            for _ in 0..<2 { #expect(await session.outcome(try BothVersions.request(server, "/")) == .ok("1")) }
            mayEnd.fire()
            #expect(try await held.value == .ok("0"))
            let requests = try (0..<3).map { _ in try BothVersions.request(server, "/") }
            await withTaskGroup { group in
                for request in requests { group.addTask { await session.outcome(request) } }
                for await outcome in group { #expect(["1", "2", "3"].contains { outcome == .ok($0) }) }
            }
        }
    }
}
