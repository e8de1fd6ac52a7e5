import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The steps in the errors of loads that fail.
@Suite struct LoadRecordTests {
    /// The lines of a failed load's record, without times and ports.
    private static func lines(
        _ session: URLSession, _ request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil,
        keepsWaits: Bool = false
    ) async throws -> [String] {
        do {
            _ = try await session.data(for: request, delegate: delegate)
            return ["loaded"]
        } catch let error as URLError {
            // A load may wait for a moment until its connection is begun.
            return stepLines(error.loadRecord).filter { !$0.hasPrefix("waits for a connection") || keepsWaits }
        }
    }

    private static let begin = ["the task begins", "the load begins", "not in the cache"]

    @Test func aRefusedConnectionHasItsAddresses() async throws {
        let port = try RefusingPort()
        let session = makeSession()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/path?query"))
        let lines = try await Self.lines(session, URLRequest(url: url))
        #expect(
            lines == ["GET http://127.0.0.1:PORT"] + Self.begin + [
                "connection 1: connecting to 127.0.0.1:PORT",
                "connection 1: no connection to 127.0.0.1: Connection refused",
                "connection 1: failed while connecting", "connection 1: no connection was opened",
            ])
    }

    @Test func theLayersErrorStaysTheUnderlyingOne() async throws {
        let port = try RefusingPort()
        let url = try #require(URL(string: "http://127.0.0.1:\(port.number)/"))
        let error = try await #require(throws: URLError.self) { try await makeSession().data(from: url) }
        #expect(error.userInfo[NSUnderlyingErrorKey] is TransportError)
        let others = try #require(error.userInfo["NSMultipleUnderlyingErrorsKey"] as? [any Error])
        #expect(others.map { $0.localizedDescription } == [error.loadRecord])
    }

    @Test func anUntrustedServerHasTheHandshake() async throws {
        let server = try LoopbackServer(tls: CertificateAuthority().issue()) { _ in .text("no") }
        defer { server.stop() }
        try await withTimeout {
            let lines = try await Self.lines(makeSession(), try BothVersions.request(server, "/"))
            #expect(lines.first == "GET https://localhost:PORT")
            #expect(
                lines.suffix(3) == [
                    "connection 1: the TLS handshake begins", "connection 1: failed while TLS was negotiated",
                    "connection 1: no connection was opened",
                ])
        }
    }

    @Test func aLostConnectionHasTheRetry() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .respond("a"), .expectRequest, .respond("b"), .expectRequest, .close],
            [.expectRequest, .close],
        ])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            for body in ["a", "b"] { #expect(await session.outcome(peer.request()) == .ok(body)) }
            let lines = try await Self.lines(session, peer.request())
            #expect(
                lines.dropFirst(1 + Self.begin.count).filter { !$0.contains("connection 2: connect") } == [
                    "connection 1: the request is sent on a used connection (opened earlier, 2 requests before this task)",
                    "the request is sent again: the connection was lost before the server answered",
                    "connection 1: closed by the peer, or failed", "connection 2: open for HTTP/1.1",
                    "connection 2: the request is sent on a new connection",
                ])
        }
    }

    /// The phases in which a load may wait for too long.
    enum Phase: CaseIterable { case queue, handshake, response }

    @Test(arguments: Phase.allCases)
    func aTimeoutHasThePhase(phase: Phase) async throws {
        let greeted = Signal()
        let peer = try ScriptedPeer(
            phase == .handshake ? [.expectAnything, .fire(greeted), .hold] : [.expectRequest, .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "record", time: .manual(time))
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.timeoutIntervalForResource = 10
            $0.httpMaximumConnectionsPerHost = 1
        }
        let text = phase == .handshake ? peer.url().replacingOccurrences(of: "http:", with: "https:") : peer.url()
        let request = URLRequest(url: try #require(URL(string: text)))
        try await withTimeout {
            async let first = phase == .queue ? session.outcome(request) : .ok("")
            if phase == .queue { _ = await peer.receivedRequest(0) }
            async let lines = Self.lines(session, request, keepsWaits: true)
            switch phase {
            case .queue: try await waitUntil { await session.allTasks.count == 2 }
            case .handshake: await greeted.wait()
            case .response: _ = await peer.receivedRequest(0)
            }
            _ = await session.allTasks
            time.advance(by: .seconds(11))
            let last = try await lines.last
            switch phase {
            case .queue: #expect(last == "waits for a connection")
            case .handshake: #expect(last == "connection 1: the TLS handshake begins")
            case .response: #expect(last == "connection 1: the request is sent on a new connection")
            }
            _ = await first
        }
    }

    @Test func aRefusedChallengeHasItsKind() async throws {
        let server = try LoopbackServer { _ in
            .text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        defer { server.stop() }
        let answerer = ChallengeAnswerer { _ in (.cancelAuthenticationChallenge, nil) }
        let request = URLRequest(url: try #require(URL(string: server.url())))
        try await withTimeout {
            let lines = try await Self.lines(makeSession(), request, delegate: answerer)
            #expect(
                lines.suffix(3) == [
                    "status 401", "challenged for a credential (Basic)", "the challenge is answered: cancelled",
                ])
        }
    }

    @Test func aRedirectThatFailsHasBothServers() async throws {
        let port = try RefusingPort()
        let server = try LoopbackServer { _ in .redirect(to: "http://127.0.0.1:\(port.number)/?secret") }
        defer { server.stop() }
        let request = URLRequest(url: try #require(URL(string: server.url())))
        try await withTimeout {
            let lines = try await Self.lines(makeSession(), request)
            #expect(
                lines.filter { !$0.contains("connect") && !$0.contains("cache") && !$0.contains("stored") } == [
                    "GET http://127.0.0.1:PORT", "the task begins", "the load begins", "status 302",
                    "redirected with status 302", "the load begins",
                ])
            #expect(lines.contains("connection 2: no connection to 127.0.0.1: Connection refused"))
        }
    }

    @Test func aCancelledLoadHasNone() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            let load = Task { try await Self.lines(session, peer.request()) }
            _ = await peer.receivedRequest(0)
            load.cancel()
            let lines = try await load.value
            #expect(lines == ["none"])
        }
    }

    @Test func withoutRecordsThereIsNone() async throws {
        let port = try RefusingPort()
        let session = makeSession { $0.recordsEvents = false }
        let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port.number)/")))
        #expect(try await Self.lines(session, request) == ["none"])
        #expect(await session.flightRecord.split(separator: "\n").count == 1)
    }

    /// What the code of the program makes of a load.
    private struct Interceptor: LoadInterceptor {
        let error: (any Error)?

        func load(_ load: LoadContext) async throws {
            if let error { throw error }
            try await load.receive(load.next.load(load.request))
        }
    }

    private struct OwnError: Error, Equatable {}

    @Test func errorsOfTheProgramStayAsTheyAre() async throws {
        let port = try RefusingPort()
        let request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(port.number)/")))
        func session(_ error: (any Error)?) -> URLSession {
            makeSession { $0.interceptors = [Interceptor(error: error)] }
        }
        await #expect(throws: OwnError()) { try await session(OwnError()).data(for: request) }
        #expect(try await Self.lines(session(URLError(.timedOut)), request) == ["none"])
        #expect(try await Self.lines(session(nil), request).last == "connection 1: no connection was opened")
    }
}
