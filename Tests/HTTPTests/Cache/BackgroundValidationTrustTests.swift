import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The decision about the connection of a validation that no task waits for.
@Suite struct BackgroundValidationTrustTests {
    /// A delegate that decides nothing.
    private final class Bystander: NSObject, URLSessionTaskDelegate {}

    /// Calls `body` when a stale response has been served, and its validation needs a new connection.
    private static func withStaleAnswer(
        _ version: String, delegate: any URLSessionDelegate, isTrusted: Bool = true,
        beforeStale: @escaping @Sendable () -> Void = {},
        body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        let clock = TestWallClock()
        let route: LoopbackServer.Route = { request in
            ServerResponse.text(request.path).adding("Cache-Control", "max-age=10, stale-while-revalidate=100")
        }
        try await BothVersions.withServer(version, route, delegate: delegate) {
            $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            $0.settings.wallClock = clock.wallClock
            if !isTrusted { $0.tlsTrustRoots = .pem((try? CertificateAuthority().certificatePEM) ?? "") }
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("/"))
            await session.flush()
            clock.advance(by: 15)
            beforeStale()
            #expect(await session.outcome(request) == .ok("/"))
            try await body(session, server)
        }
    }

    @Test(arguments: BothVersions.all) func theSessionsDelegateRefuses(version: String) async throws {
        let isRefused = Box(false)
        let delegate = TrustAnswerer { _ in
            isRefused.value ? (.cancelAuthenticationChallenge, nil) : (.performDefaultHandling, nil)
        }
        try await Self.withStaleAnswer(version, delegate: delegate, beforeStale: { isRefused.value = true }) {
            session, server in
            await delegate.challenges.count(reaches: 2)
            let other = try BothVersions.request(server, "/other")
            #expect(await session.outcome(other) == .failed(.cancelled))
            #expect(delegate.challenges.count == 3 && server.requests.count == 1)
        }
    }

    /// The session's delegate accepts a certificate that the session does not trust.
    @Test(arguments: BothVersions.all) func theSessionsDelegateAccepts(version: String) async throws {
        let delegate = TrustAnswerer.accepting()
        try await Self.withStaleAnswer(version, delegate: delegate, isTrusted: false) { _, _ in
            // Nothing is stored without trust, so the second load was the server's.
            #expect(delegate.challenges.count == 2)
        }
        try await Self.withStaleAnswer(version, delegate: delegate) { _, server in
            #expect(await server.requests.count(reaches: 2).map(\.path) == ["/", "/"])
            #expect(delegate.challenges.count == 4)
        }
    }

    @Test(arguments: BothVersions.all) func aDelegateWithoutAMethodForChallenges(version: String) async throws {
        try await Self.withStaleAnswer(version, delegate: Bystander()) { _, server in
            #expect(await server.requests.count(reaches: 2).map(\.path) == ["/", "/"])
        }
    }

    /// The method for a task's challenges is not called without a task: a later task validates the response.
    @Test(arguments: BothVersions.all) func aMethodForTasksAlone(version: String) async throws {
        let delegate = ChallengeAnswerer(takesTrust: true) { _ in (.performDefaultHandling, nil) }
        try await Self.withStaleAnswer(version, delegate: delegate) { session, server in
            #expect(delegate.seen.count == 1)
            let request = try BothVersions.request(server, "/")
            while server.requests.count < 2, !Task.isCancelled { #expect(await session.outcome(request) == .ok("/")) }
            #expect(delegate.seen.count == 2)
        }
    }
}
