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
        let (isRefused, isBroken) = (Box(false), Box(false))
        let delegate = ChallengeAnswerer(takesTrust: true) { _ in
            isRefused.value ? (.cancelAuthenticationChallenge, nil) : (.performDefaultHandling, nil)
        }
        let route: LoopbackServer.Route = { request in
            if isBroken.value { try request.exchange.reset() }
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
            // An error of the server: the stored response is still there.
            isRefused.value = false
            isBroken.value = true
            #expect(await session.outcome(request) == .ok("stored"))
        }
    }

    /// A connection that breaks in the handshake counts as an error of the server, which may be restarting.
    @Test func aResetInTheHandshakeIsAnErrorOfTheServer() async throws {
        let authority = try CertificateAuthority()
        let stored = "HTTP/1.1 200 OK\r\nCache-Control: max-age=10, stale-if-error=100\r\nContent-Length: 6\r\n"
        let peer = try ScriptedPeer(scripts: [
            [
                .startTLS(TLSServerOptions(try authority.issue())), .expectRequest,
                .send("\(stored)Connection: close\r\n\r\nstored"), .close,
            ],
            [.expectBytes(5), .reset],
        ])
        defer { peer.stop() }
        let clock = TestWallClock()
        let session = makeSession {
            $0.urlCache = Self.cache()
            $0.settings.wallClock = clock.wallClock
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = peer.url("/").replacing("http://127.0.0.1", with: "https://localhost")
            let request = URLRequest(url: try #require(URL(string: url)))
            for _ in 0..<2 {
                #expect(await session.outcome(request) == .ok("stored"))
                clock.advance(by: 15)
            }
            #expect(peer.requests.count == 1)
        }
    }

    /// A task's own delegate accepts the server, which the session does not trust. Another task waits for the validation.
    @Test func aValidationWithoutTrustIsNotShared() async throws {
        let clock = TestWallClock()
        let (cache, release) = (Self.cache(), Signal())
        let route: LoopbackServer.Route = { request in
            guard request.fields.contains(.ifNoneMatch) else {
                return ServerResponse.text("stored").adding(["Cache-Control": "max-age=10", "ETag": "\"a\""])
            }
            try request.exchange.wait(for: release)
            return ServerResponse(304)
        }
        try await BothVersions.withServer("http/1.1", route) {
            $0.urlCache = cache
            $0.settings.wallClock = clock.wallClock
        } body: { trusting, server in
            let request = try BothVersions.request(server, "/")
            #expect(await trusting.outcome(request) == .ok("stored"))
            clock.advance(by: 15)
            let authority = try CertificateAuthority()
            let session = makeSession {
                $0.urlCache = cache
                $0.settings.wallClock = clock.wallClock
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            defer { session.invalidateAndCancel() }
            let accepting = TaskDelegateTrustTests.Decider.accepting()
            // The first one's connection: nobody waits for a validation whose task has a challenge to answer.
            let other = try BothVersions.request(server, "/other")
            #expect(await session.outcome(other, delegate: accepting) == .ok("stored"))
            let first = Task { await session.outcome(request, delegate: accepting) }
            _ = await server.requests.count(reaches: 3)
            let second = Task { await session.outcome(request) }
            while await session.allTasks.count < 2, !Task.isCancelled { await Task.yield() }
            // This load comes after the second one in the loop's order: it waits by now.
            #expect(await session.outcome(other, delegate: accepting) == .ok("stored"))
            release.fire()
            #expect(await first.value == .ok("stored"))
            #expect(await second.value == .failed(.serverCertificateHasUnknownRoot))
        }
    }
}
