import Foundation
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// A server has asked who the client is, after the handshake, and the program takes its time. On a clock that the test moves.
@Suite struct LateClientCertificateWaitTests {
    private struct World: Sendable {
        let session: URLSession
        let peer: ScriptedPeer
        let delegate: TrustThinker
        let request: URLRequest
        let time: ManualTime

        /// Moves the time, and returns when the loop has seen it.
        func pass(seconds: Int) async {
            time.advance(by: .seconds(seconds))
            _ = await session.allTasks
        }

        /// Begins a load, and returns when its delegate was asked who the client is.
        func ask() async throws -> (load: Task<Outcome, Never>, question: TrustThinker.Question) {
            let load = Task { await session.outcome(request) }
            try #require(await delegate.questions.element(at: 0)).accept()
            let question = try #require(await delegate.questions.element(at: 1))
            #expect(
                question.challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate)
            return (load, question)
        }
    }

    /// A server that asks on its first connection, and a session whose loads may be idle for 10 s, and take 100 s.
    private static func with(
        _ steps: [ScriptedPeer.Step], _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer(
            scripts: [
                [.expectRequest, .askForCertificate] + steps, [.expectRequest, .respond("next"), .readUntilClose],
            ],
            tls: TLSServerOptions(try authority.issue()))
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let delegate = TrustThinker()
        let session = makeSession(delegate: delegate, on: loop) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.timeoutIntervalForRequest = 10
            $0.timeoutIntervalForResource = 100
            $0.httpMaximumConnectionsPerHost = 1
        }
        let request = URLRequest(url: try #require(URL(string: "https://localhost:\(peer.address.port ?? 0)/")))
        try await withTimeout {
            try await body(
                World(session: session, peer: peer, delegate: delegate, request: request, time: time))
            session.invalidateAndCancel()
            await delegate.invalidated.wait()
        }
    }

    private static let answering: [ScriptedPeer.Step] = [.awaitCertificate, .respondWithClient, .readUntilClose]

    @Test("no idle time runs, however long the program thinks") func idle() async throws {
        try await Self.with(Self.answering) { world in
            let (load, question) = try await world.ask()
            for _ in 0..<4 { await world.pass(seconds: 20) }
            question.answer(.performDefaultHandling, nil)
            #expect(await load.value == .ok("nobody"))
        }
    }

    @Test("the idle time runs from the answer on") func idleAfterwards() async throws {
        let isAnswered = Signal()
        try await Self.with([.awaitCertificate, .fire(isAnswered), .hold]) { world in
            let (load, question) = try await world.ask()
            await world.pass(seconds: 60)
            question.answer(.performDefaultHandling, nil)
            await isAnswered.wait()
            await world.pass(seconds: 9)
            #expect(await world.session.allTasks.count == 1)
            await world.pass(seconds: 2)
            #expect(await load.value == .failed(.timedOut))
        }
    }

    @Test("the time of the whole load runs: its end closes the connection, and a late answer changes nothing")
    func whole() async throws {
        try await Self.with([.readUntilClose]) { world in
            let (load, question) = try await world.ask()
            await world.pass(seconds: 101)
            #expect(await load.value == .failed(.timedOut))
            await world.peer.endedCount(reaches: 1)
            question.answer(.performDefaultHandling, nil)
            let next = Task { await world.session.outcome(world.request) }
            try #require(await world.delegate.questions.element(at: 2)).accept()
            #expect(await next.value == .ok("next"))
            #expect(world.delegate.questions.count == 3)
        }
    }

    @Test("a delegate that cancels, and one that answers twice") func answers() async throws {
        try await Self.with([.readUntilClose]) { world in
            let (load, question) = try await world.ask()
            question.answer(.cancelAuthenticationChallenge, nil)
            question.answer(.performDefaultHandling, nil)
            #expect(await load.value == .failed(.cancelled))
            await world.peer.endedCount(reaches: 1)
        }
    }

    @Test("a load that waits for the only connection goes on with another one, when the first is cancelled")
    func queue() async throws {
        try await Self.with([.readUntilClose]) { world in
            let (load, question) = try await world.ask()
            let next = Task { await world.session.outcome(world.request) }
            try await waitUntil { await world.session.allTasks.count == 2 }
            await world.pass(seconds: 60)
            load.cancel()
            #expect(await load.value == .failed(.cancelled))
            try #require(await world.delegate.questions.element(at: 2)).accept()
            #expect(await next.value == .ok("next"))
            question.answer(.performDefaultHandling, nil)
        }
    }

    @Test("a session that is invalidated does not wait for a delegate that never answers") func invalidated()
        async throws
    {
        try await Self.with([.readUntilClose]) { world in
            let (load, _) = try await world.ask()
            world.session.invalidateAndCancel()
            #expect(await load.value == .failed(.cancelled))
            await world.delegate.invalidated.wait()
            await world.peer.endedCount(reaches: 1)
        }
    }

    @Test("a session that is to finish its tasks waits for the answer") func finishing() async throws {
        try await Self.with(Self.answering) { world in
            let (load, question) = try await world.ask()
            world.session.finishTasksAndInvalidate()
            await world.pass(seconds: 60)
            #expect(!world.delegate.invalidated.hasFired)
            question.answer(.performDefaultHandling, nil)
            #expect(await load.value == .ok("nobody"))
            await world.delegate.invalidated.wait()
        }
    }
}
