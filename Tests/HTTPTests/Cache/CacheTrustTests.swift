import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Stored responses of servers that are not trusted when the responses are used again.
@Suite struct CacheTrustTests {
    private static func cache() -> URLCache { URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }

    /// The program's own refusal is not an error of the server, for which a stale response may be used.
    @Test(arguments: BothVersions.all) func aRefusalIsNoErrorOfTheServer(version: String) async throws {
        let clock = TestWallClock()
        let isRefused = Box(false)
        let delegate = ChallengeAnswerer(takesTrust: true) { _ in
            isRefused.value ? (.cancelAuthenticationChallenge, nil) : (.performDefaultHandling, nil)
        }
        let route: LoopbackServer.Route = { request in
            if isRefused.value {
                return ServerResponse.text("", status: 401).adding("WWW-Authenticate", "Basic realm=r")
            }
            return ServerResponse.text("stored").adding("Cache-Control", "max-age=10, stale-if-error=100")
        }
        try await BothVersions.withServer(version, route, delegate: delegate) {
            $0.urlCache = Self.cache()
            $0.settings.wallClock = clock.wallClock
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("stored"))
            clock.advance(by: 15)
            isRefused.value = true
            // The challenge of status 401, and, on a new connection, the one of the certificate.
            #expect(await session.outcome(request) == .failed(.cancelled))
            await session.flush()
            #expect(await session.outcome(request) == .failed(.cancelled))
            #expect(server.requests.count == 2)
            server.stop()
            #expect(await session.outcome(request) == .ok("stored"))
        }
    }
}
