import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The decision about the connection of a validation that no task waits for.
@Suite struct BackgroundValidationTrustTests {
    /// A delegate that decides nothing.
    private final class Bystander: NSObject, URLSessionTaskDelegate {}

    /// A delegate that answers the first question, and keeps the others.
    private final class Thinker: NSObject, URLSessionDelegate {
        let answers = Recorder<ChallengeAnswerHandler>()

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeAnswerHandler
        ) {
            answers.append(completionHandler)
            if answers.count == 1 { completionHandler(.performDefaultHandling, nil) }
        }
    }

    /// As ``Thinker``, with a method for tasks alone.
    private final class TaskThinker: NSObject, URLSessionTaskDelegate {
        let answers = Recorder<ChallengeAnswerHandler>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeAnswerHandler
        ) {
            answers.append(completionHandler)
            if answers.count == 1 { completionHandler(.performDefaultHandling, nil) }
        }
    }

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

    /// A session whose delegate has a method for tasks alone, and its cache's time.
    private static func tasksSession(
        _ authority: CertificateAuthority,
        delegate: (any URLSessionDelegate)? = ChallengeAnswerer(takesTrust: true) { _ in (.performDefaultHandling, nil)
        }
    ) -> (session: URLSession, clock: TestWallClock) {
        let clock = TestWallClock()
        let session = makeSession(delegate: delegate) {
            $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
            $0.settings.wallClock = clock.wallClock
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
        }
        return (session, clock)
    }

    /// A server that answers on connections of their own. The second handshake is that of the validation in the
    /// background, which the client cancels.
    private static func peer(_ identity: TLSServerOptions, then third: [ScriptedPeer.Step]) throws -> ScriptedPeer {
        try ScriptedPeer(scripts: [
            [.startTLS(identity), .expectRequest, answer("first")], [.startTLS(identity), .readUntilClose], third,
        ])
    }

    private static func answer(_ body: String) -> ScriptedPeer.Step {
        let control = "Cache-Control: max-age=10, stale-while-revalidate=100"
        return .respond(body, fields: [control, "Vary: Kind", "Connection: close"])
    }

    /// Loads the response, and again when it is stale: its validation is then left to a task.
    private static func leaveValidation(
        of request: URLRequest, _ peer: ScriptedPeer, _ session: URLSession, _ clock: TestWallClock,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) async {
        for ended in 1...2 {
            #expect(await session.outcome(request, delegate: delegate) == .ok("first"))
            await peer.endedCount(reaches: ended)
            if ended == 1 { clock.advance(by: 15) }
        }
    }

    private static func request(_ peer: ScriptedPeer) throws -> URLRequest {
        let url = peer.url("/").replacing("http://127.0.0.1", with: "https://localhost")
        return URLRequest(url: try #require(URL(string: url)))
    }

    /// A request with a condition of its own validates nothing: the validation is left to the next one.
    @Test func aTaskWithACondition() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let peer = try Self.peer(identity, then: [.startTLS(identity), .expectRequest, Self.answer("second")])
        defer { peer.stop() }
        let (session, clock) = Self.tasksSession(authority)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        var conditional = request
        conditional.setValue("\"b\"", forHTTPHeaderField: "If-None-Match")
        try await withTimeout { [conditional] in
            await Self.leaveValidation(of: request, peer, session, clock)
            #expect(await session.outcome(conditional) == .ok("first"))
            #expect(await session.outcome(request) == .ok("second"))
        }
    }

    /// Each validation is left to a task for the same response.
    @Test func twoOriginsInTurn() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let third: [ScriptedPeer.Step] = [.startTLS(identity), .expectRequest, Self.answer("second")]
        let peers = try [Self.peer(identity, then: third), Self.peer(identity, then: third)]
        defer { for peer in peers { peer.stop() } }
        let (session, clock) = Self.tasksSession(authority)
        defer { session.invalidateAndCancel() }
        let requests = try peers.map { try Self.request($0) }
        try await withTimeout {
            for (peer, request) in zip(peers, requests) {
                #expect(await session.outcome(request) == .ok("first"))
                await peer.endedCount(reaches: 1)
            }
            clock.advance(by: 15)
            for (peer, request) in zip(peers, requests) {
                #expect(await session.outcome(request) == .ok("first"))
                await peer.endedCount(reaches: 2)
            }
            for request in requests { #expect(await session.outcome(request) == .ok("second")) }
        }
    }

    /// Responses that `Vary` distinguishes have the same URL.
    @Test func twoVariantsInTurn() async throws {
        let authority = try CertificateAuthority()
        let begin = ScriptedPeer.Step.startTLS(TLSServerOptions(try authority.issue()))
        let refused = [begin, .readUntilClose]
        func loaded(_ body: String) -> [ScriptedPeer.Step] { [begin, .expectRequest, Self.answer(body)] }
        let peer = try ScriptedPeer(
            scripts: [loaded("a"), loaded("b"), refused, refused, loaded("new a"), loaded("new b")])
        defer { peer.stop() }
        let (session, clock) = Self.tasksSession(authority)
        defer { session.invalidateAndCancel() }
        var requests = [try Self.request(peer), try Self.request(peer)]
        requests[0].setValue("a", forHTTPHeaderField: "Kind")
        requests[1].setValue("b", forHTTPHeaderField: "Kind")
        try await withTimeout { [requests] in
            for ended in [0, 2] {
                #expect(await session.outcome(requests[0]) == .ok("a"))
                await peer.endedCount(reaches: ended + 1)
                #expect(await session.outcome(requests[1]) == .ok("b"))
                await peer.endedCount(reaches: ended + 2)
                if ended == 0 { clock.advance(by: 15) }
            }
            #expect(await session.outcome(requests[0]) == .ok("new a"))
            #expect(await session.outcome(requests[1]) == .ok("new b"))
        }
    }

    /// The stale response is still allowed where the task's validation fails.
    @Test func aServerThatHasStopped() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let peer = try Self.peer(identity, then: [.startTLS(identity), .expectAnything, .reset])
        defer { peer.stop() }
        let delegate = ChallengeAnswerer(takesTrust: true) { _ in (.performDefaultHandling, nil) }
        let (session, clock) = Self.tasksSession(authority, delegate: delegate)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        try await withTimeout {
            for ended in 1...3 {
                #expect(await session.outcome(request) == .ok("first"))
                await peer.endedCount(reaches: ended)
                clock.advance(by: 15)
            }
            // The first load's, and that of the task's validation.
            #expect(delegate.seen.count == 2)
            #expect(peer.requests.count == 1)
        }
    }

    /// The stale response is no longer allowed when the task's validation fails.
    @Test func aServerThatStopsLate() async throws {
        let authority = try CertificateAuthority()
        let (isAsked, stops) = (Signal(), Signal())
        let identity = TLSServerOptions(try authority.issue())
        let peer = try Self.peer(identity, then: [.expectAnything, .fire(isAsked), .waitFor(stops), .reset])
        defer { peer.stop() }
        let (session, clock) = Self.tasksSession(authority)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        try await withTimeout {
            #expect(await session.outcome(request) == .ok("first"))
            await peer.endedCount(reaches: 1)
            clock.advance(by: 15)
            #expect(await session.outcome(request) == .ok("first"))
            await peer.endedCount(reaches: 2)
            let last = Task { await session.outcome(request) }
            await isAsked.wait()
            clock.advance(by: 200)
            stops.fire()
            #expect(await last.value == .failed(.secureConnectionFailed))
        }
    }

    /// The refusal by the task's delegate is the result, though the stale response is allowed.
    @Test func theTasksDelegateRefuses() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let peer = try Self.peer(identity, then: [.startTLS(identity), .readUntilClose])
        defer { peer.stop() }
        let isRefused = Box(false)
        let delegate = ChallengeAnswerer(takesTrust: true) { _ in
            (isRefused.value ? .cancelAuthenticationChallenge : .performDefaultHandling, nil)
        }
        let (session, clock) = Self.tasksSession(authority, delegate: delegate)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        try await withTimeout {
            await Self.leaveValidation(of: request, peer, session, clock)
            isRefused.value = true
            #expect(await session.outcome(request) == .failed(.cancelled))
        }
    }

    /// Only the first task has a delegate. The next one gets the response at once, and nobody is asked about the
    /// connection of its validation in the background.
    @Test func aTaskWithoutADelegateDoesNotValidate() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let peer = try Self.peer(identity, then: [.startTLS(identity), .expectRequest, Self.answer("second")])
        defer { peer.stop() }
        let delegate = ChallengeAnswerer(takesTrust: true) { _ in (.performDefaultHandling, nil) }
        let (session, clock) = Self.tasksSession(authority, delegate: nil)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        try await withTimeout {
            await Self.leaveValidation(of: request, peer, session, clock, delegate: delegate)
            #expect(await session.outcome(request) == .ok("first"))
            var outcome: Outcome
            repeat { outcome = await session.outcome(request) } while outcome == .ok("first") && !Task.isCancelled
            #expect(outcome == .ok("second") && peer.requests.count == 2)
        }
    }

    /// The response answers while a task's delegate decides about the connection of the validation that was left to it.
    @Test func theTasksDelegateThinks() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let peer = try Self.peer(identity, then: [.startTLS(identity), .expectRequest, Self.answer("second")])
        defer { peer.stop() }
        let thinker = TaskThinker()
        let (session, clock) = Self.tasksSession(authority, delegate: thinker)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        try await withTimeout {
            await Self.leaveValidation(of: request, peer, session, clock)
            let validating = Task { await session.outcome(request) }
            let answer = try #require(await thinker.answers.element(at: 1))
            for _ in 0..<20 { #expect(await session.outcome(request) == .ok("first")) }
            #expect(await session.statistics.requests.waiting == 1)
            answer(.performDefaultHandling, nil)
            #expect(await validating.value == .ok("second"))
            #expect(await session.outcome(request) == .ok("second"))
            #expect(thinker.answers.count == 2 && peer.connections.count == 3)
        }
    }

    /// Another request has updated the response since its validation was left to a task: when it is stale again, it
    /// answers at once.
    @Test func anUpdateMeanwhile() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        func loaded(_ body: String) -> [ScriptedPeer.Step] {
            [.startTLS(identity), .expectRequest, Self.answer(body)]
        }
        let peer = try ScriptedPeer(
            scripts: [loaded("first"), [.startTLS(identity), .readUntilClose], loaded("second"), loaded("third")])
        defer { peer.stop() }
        let (session, clock) = Self.tasksSession(authority)
        defer { session.invalidateAndCancel() }
        let request = try Self.request(peer)
        var reload = request
        reload.cachePolicy = .reloadIgnoringLocalCacheData
        try await withTimeout { [reload] in
            for (ended, body) in [(1, "first"), (2, "first"), (3, "second")] {
                #expect(await session.outcome(ended == 3 ? reload : request) == .ok(body))
                await peer.endedCount(reaches: ended)
                if ended != 2 { clock.advance(by: 15) }
            }
            #expect(await session.outcome(request) == .ok("second"))
        }
    }

    /// The response answers while the delegate decides about the connection of its one validation.
    @Test(arguments: BothVersions.all) func theSessionsDelegateThinks(version: String) async throws {
        let thinker = Thinker()
        try await Self.withStaleAnswer(version, delegate: thinker) { session, server in
            let answer = try #require(await thinker.answers.element(at: 1))
            let request = try BothVersions.request(server, "/")
            for _ in 0..<20 { #expect(await session.outcome(request) == .ok("/")) }
            // Further validations would wait for the same connection over HTTP/2.
            #expect(await session.statistics.requests.waiting == 1)
            answer(.performDefaultHandling, nil)
            await server.requests.count(reaches: 2)
            // No other connection is being opened.
            await session.flush()
            #expect(thinker.answers.count == 2 && server.requests.count == 2)
        }
    }
}
