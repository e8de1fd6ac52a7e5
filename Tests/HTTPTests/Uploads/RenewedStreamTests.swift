import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// A lost connection has read the stream that is a request's body: where the request is sent again, the delegate gives
/// another one.
@Suite(.timeLimit(.minutes(5))) struct RenewedStreamTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var method = "POST"
        var ending: [ScriptedPeer.Step] = [.close]
        var isGiven = true
        var retries = true
        let outcome: Outcome
        var isAsked = true
    }

    private static let lost = Outcome.failed(.networkConnectionLost)

    private static let cases = [
        Case(testDescription: "an idle connection is closed", outcome: .ok("again")),
        Case(testDescription: "it is reset", ending: [.reset], outcome: .ok("again")),
        Case(testDescription: "the delegate has no stream", isGiven: false, outcome: lost),
        Case(testDescription: "the session does not want it", retries: false, outcome: lost, isAsked: false),
        Case(testDescription: "PUT does no harm", method: "PUT", retries: false, outcome: .ok("again")),
        Case(
            testDescription: "the server has begun to respond", ending: [.send("HTTP/1.1 103 Early\r\n\r\n"), .close],
            outcome: lost, isAsked: false),
    ]

    private static func peer(_ ending: [ScriptedPeer.Step] = [.close]) throws -> ScriptedPeer {
        try ScriptedPeer(scripts: [
            [.expectRequest, .respond("first"), .expectRequest] + ending,
            [.expectRequest, .respond("again"), .close],
        ])
    }

    /// A request that does not wait for `100 Continue`.
    private static func streamed(_ url: URL?, _ method: String = "POST") throws -> URLRequest {
        var request = URLRequest(url: try #require(url))
        request.httpMethod = method
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        request.setValue("4", forHTTPHeaderField: "Content-Length")
        return request
    }

    private static func answerer(isGiven: Bool = true) -> ChallengeAnswerer {
        ChallengeAnswerer("u", "p", bodies: { isGiven ? InputStream(data: Data("BODY".utf8)) : nil })
    }

    @Test(arguments: cases) private func isAskedFor(_ test: Case) async throws {
        let peer = try Self.peer(test.ending)
        defer { peer.stop() }
        let session = makeSession { $0.retriesUnansweredRequests = test.retries }
        let answerer = Self.answerer(isGiven: test.isGiven)
        try await withTimeout(test.testDescription) {
            #expect(await session.outcome(peer.request()) == .ok("first"))
            let request = try Self.streamed(peer.request().url, test.method)
            #expect(await session.outcome(request, delegate: answerer) == test.outcome)
        }
        #expect(answerer.seen.snapshot == (test.isAsked ? ["body"] : []))
        let bodies = test.outcome == Self.lost ? ["", "body"] : ["", "body", "BODY"]
        #expect(peer.requests.snapshot.map(\.bodyText) == bodies)
    }

    /// Resets the first stream that has a body, when it has all of it.
    private static func resetFirst(
        _ socket: StreamSocket, _ code: HTTP2ErrorCode, _ bodies: Recorder<UInt32>
    ) throws {
        try socket.serveHTTP2 { event, machine, output in
            switch event {
            case .headers(let stream, _, true):
                try machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &output)
            case .data(let stream, _, _, true):
                bodies.append(stream.rawValue)
                guard bodies.count > 1 else { return machine.sendReset(stream, code, to: &output) }
                try machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &output)
            default: break
            }
        }
    }

    @Test(arguments: [(HTTP2ErrorCode.internalError, false), (.refusedStream, true)])
    func isAskedForOverHTTP2WhereTheServerHasNotActed(_ code: HTTP2ErrorCode, _ isSentAgain: Bool) async throws {
        let bodies = Recorder<UInt32>()
        let server = try ConnectionAcceptor(.ipv4()) { socket, _ in try? Self.resetFirst(socket, code, bodies) }
        defer { server.stop() }
        let session = makeSession { $0.assumesCleartextHTTP2 = true }
        let answerer = Self.answerer()
        let url = try server.url
        try await withTimeout {
            let empty = Outcome.loaded(status: 204, body: "")
            #expect(await session.outcome(URLRequest(url: url)) == empty)
            let outcome = await session.outcome(try Self.streamed(url), delegate: answerer)
            #expect(outcome == (isSentAgain ? empty : Self.lost))
        }
        #expect(bodies.count == (isSentAgain ? 2 : 1))
        #expect(answerer.seen.snapshot == (isSentAgain ? ["body"] : []))
    }

    /// Keeps what it has to answer with. It answers challenges at once.
    private final class Keeper: NSObject, URLSessionTaskDelegate, Sendable {
        let asked = Recorder<@Sendable (InputStream?) -> Void>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) { completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none)) }

        func urlSession(
            _ session: URLSession, task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) { asked.append(completionHandler) }
    }

    /// The idle timeout, of 1,000 seconds, does not run while the delegate is asked.
    @Test(arguments: [false, true]) func theDelegateMayTakeItsTime(isCancelled: Bool) async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "asked", time: .manual(time))
        defer { loop.stop() }
        let peer = try Self.peer()
        defer { peer.stop() }
        let session = makeSession(on: loop)
        let keeper = Keeper()
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("first"))
            let request = try Self.streamed(peer.request().url)
            let load = Task { await session.outcome(request, delegate: keeper) }
            let answer = try #require(await keeper.asked.element(at: 0))
            time.advance(by: .seconds(2000))
            _ = await session.allTasks
            if isCancelled { load.cancel() } else { answer(InputStream(data: Data("BODY".utf8))) }
            #expect(await load.value == (isCancelled ? .failed(.cancelled) : .ok("again")))
            if isCancelled { answer(InputStream(data: Data("BODY".utf8))) }
            #expect(await session.outcome(peer.request("/last")) == .ok("again"))
        }
        #expect(
            peer.requests.snapshot.map(\.target) == (isCancelled ? ["/", "/", "/last"] : ["/", "/", "/", "/last"]))
    }

    /// The server has answered the request, and nothing is to come from it.
    @Test func theDelegateMayTakeItsTimeAfterAChallenge() async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "challenged", time: .manual(time))
        defer { loop.stop() }
        let site = ProtectedSite("Basic realm=r")
        let server = try LoopbackServer(route: site.route)
        defer { server.stop() }
        let session = makeSession(on: loop)
        let keeper = Keeper()
        try await withTimeout {
            let request = try Self.streamed(URL(string: server.url()))
            let load = Task { await session.outcome(request, delegate: keeper) }
            let answer = try #require(await keeper.asked.element(at: 0))
            // Several times the idle timeout.
            for _ in 0..<3 {
                time.advance(by: .seconds(1500))
                _ = await session.allTasks
            }
            answer(InputStream(data: Data("BODY".utf8)))
            #expect(await load.value == .ok("POST BODY"))
        }
        #expect(keeper.asked.count == 1)
    }

    private struct Replacement: LoadInterceptor {
        let stream: String?

        func load(_ load: LoadContext) async throws {
            var request = load.request
            if let stream, request.httpMethod == "POST" {
                request.httpBodyStream = InputStream(data: Data(stream.utf8))
            }
            try await load.receive(load.next.load(request))
        }
    }

    /// The delegate's stream would be another body than the interceptor's.
    @Test(arguments: [nil, "MORE"]) func isNotAskedForWhereAnInterceptorHasReplacedIt(_ stream: String?) async throws {
        let peer = try Self.peer()
        defer { peer.stop() }
        let session = makeSession { $0.interceptors = [Replacement(stream: stream)] }
        let answerer = Self.answerer()
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("first"))
            let request = try Self.streamed(peer.request().url)
            #expect(await session.outcome(request, delegate: answerer) == (stream == nil ? .ok("again") : Self.lost))
        }
        #expect(answerer.seen.snapshot == (stream == nil ? ["body"] : []))
    }
}
