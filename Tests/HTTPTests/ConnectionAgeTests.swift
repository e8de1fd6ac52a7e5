import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// A connection takes no further request an hour after it was opened, however busy it is.
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
}
