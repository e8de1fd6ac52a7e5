import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// A stream that the server has not asked for is sent with the next request, without another one from the program.
@Suite struct UnreadStreamTests {
    /// What the server does in place of `100 Continue`, on a connection that has carried a request before.
    enum Answer: String, CaseIterable {
        case expectationFailed = "417 Expectation Failed\r\n"
        case unauthorized = "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"\r\n"
        case redirect = "307 Temporary Redirect\r\nLocation: /\r\n"
        case close = ""

        var steps: [ScriptedPeer.Step] {
            self == .close ? [.close] : [.send("HTTP/1.1 \(rawValue)Content-Length: 0\r\n\r\n"), .readUntilClose]
        }
    }

    private static func peer(_ answer: Answer) throws -> ScriptedPeer {
        try ScriptedPeer(scripts: [
            [.expectRequest, .respond("first"), .expectHead] + answer.steps,
            [.expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBody, .respond("taken")],
        ])
    }

    private static func sequence() -> AsyncStream<Data> {
        AsyncStream { stream in
            for text in ["some ", "bytes"] { stream.yield(Data(text.utf8)) }
            stream.finish()
        }
    }

    /// Nothing asks for the body but the server: the loop's time stands still.
    private static func withSession(
        _ answerer: SessionChallengeAnswerer, _ body: @escaping @Sendable (URLSession) async throws -> Void
    ) async throws {
        let loop = EventLoop.still()
        defer { loop.stop() }
        let session = makeSession(delegate: answerer, on: loop)
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session) }
    }

    @Test(arguments: Answer.allCases) func isSentWithTheNextRequest(_ answer: Answer) async throws {
        let peer = try Self.peer(answer)
        defer { peer.stop() }
        let answerer = SessionChallengeAnswerer("ada", "secret")
        try await Self.withSession(answerer) { session in
            #expect(await session.outcome(peer.request()) == .ok("first"))
            let (data, _) = try await session.upload(for: peer.request(method: "PUT"), from: Self.sequence())
            #expect(String(decoding: data, as: UTF8.self) == "taken")
        }
        #expect(peer.requests.snapshot.map(\.connection) == [0, 0, 1])
        #expect(peer.requestsWithBody.snapshot.map(\.bodyText) == ["some bytes"])
        #expect(!answerer.seen.snapshot.contains("body"))
    }

    /// The first message of NTLM goes without the body, and does not wait for `100 Continue`.
    @Test func isSentWithTheLastMessageOfNTLM() async throws {
        func refusal(_ token: String) -> ScriptedPeer.Step {
            .send("HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\(token)\r\nContent-Length: 0\r\n\r\n")
        }
        let challenge = refusal(" " + Data(NTLMServer.challenge).base64EncodedString())
        let peer = try ScriptedPeer(scripts: [
            [.expectHead, refusal(""), .readUntilClose],
            [
                .expectRequest, challenge, .expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBody,
                .respond("taken"),
            ],
        ])
        defer { peer.stop() }
        let answerer = SessionChallengeAnswerer("D\\u", "p")
        try await Self.withSession(answerer) { session in
            var request = peer.request(method: "PUT")
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            let (data, _) = try await session.upload(for: request, from: Self.sequence())
            #expect(String(decoding: data, as: UTF8.self) == "taken")
        }
        #expect(peer.requestsWithBody.snapshot.map(\.bodyText) == ["some bytes"])
        #expect(peer.requests.snapshot.map { $0[field: "Expect"] } == ["100-continue", nil, "100-continue"])
        #expect(!answerer.seen.snapshot.contains("body"))
    }

    /// Refuses the first request, and takes the next one's body. Records the streams on which content comes.
    private static func refuseFirst(_ socket: StreamSocket, _ bodies: Recorder<UInt32>) throws {
        try socket.serveHTTP2 { event, machine, output in
            switch event {
            case .headers(let stream, _, _):
                var fields = HTTPFields()
                fields.append(.wwwAuthenticate, "Basic realm=\"a\"")
                let isFirst = stream.rawValue == 1
                try machine.sendResponse(
                    isFirst ? 401 : 100, isFirst ? fields : HTTPFields(), on: stream, endStream: false, to: &output)
            case .data(let stream, _, _, let isEnd):
                bodies.append(stream.rawValue)
                guard isEnd, stream.rawValue > 1 else { break }
                try machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &output)
            default: break
            }
        }
    }

    /// Over HTTP/2: the delegate thinks about the response for longer than `100 Continue` is waited for.
    @Test func aRefusedBodyStaysUnsent() async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "refused", time: .manual(time))
        defer { loop.stop() }
        let bodies = Recorder<UInt32>()
        let peer = try ConnectionAcceptor(.ipv4()) { socket, _ in try? Self.refuseFirst(socket, bodies) }
        defer { peer.stop() }
        let answerer = SessionChallengeAnswerer { _ in
            time.advance(by: .seconds(5))
            // The loop's timers have run before its second turn.
            for _ in 0..<2 {
                let turned = Signal()
                loop.execute { turned.fire() }
                turned.waitBlocking()
            }
            return (.useCredential, URLCredential(user: "ada", password: "secret", persistence: .none))
        }
        let session = makeSession(delegate: answerer, on: loop) { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        let url = try peer.url
        try await withTimeout {
            var request = URLRequest(url: url)
            request.httpMethod = "PUT"
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            request.httpBody = Data("some bytes".utf8)
            #expect(await session.outcome(request) == .loaded(status: 204, body: ""))
        }
        #expect(bodies.snapshot == [3])
    }

    /// A load closes the stream that it has sent. The next load of the same request has no body to send.
    @Test(arguments: BothVersions.all) func aStreamThatWasSentIsNotAnEmptyBody(_ version: String) async throws {
        try await BothVersions.withServer(version, { request in .bytes(request.body) }) { session, server in
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: 10, inputStream: &input, outputStream: &output)
            output?.open()
            #expect(output?.write(Array("some bytes".utf8), maxLength: 10) == 10)
            output?.close()
            for stream in [input, URLRequest.bodyStream(of: Self.sequence())] {
                var request = try BothVersions.request(server, "/", "POST")
                request.httpBodyStream = stream
                #expect(await session.outcome(request) == .ok("some bytes"))
                #expect(await session.outcome(request) == .failed(.requestBodyStreamExhausted))
            }
            let next = try BothVersions.request(server, "/")
            #expect(await session.outcome(next) == .ok(""))
            #expect(server.requests.snapshot.filter { $0.method == "POST" }.count == 2)
        }
    }

    /// The program closes the reading end: the body is not complete.
    @Test(arguments: BothVersions.all) func aStreamThatIsClosedIsNotAtItsEnd(_ version: String) async throws {
        try await BothVersions.withServer(version, { request in .bytes(request.body) }) { session, server in
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: 10, inputStream: &input, outputStream: &output)
            output?.open()
            #expect(output?.write(Array("some".utf8), maxLength: 4) == 4)
            var request = try BothVersions.request(server, "/", "POST")
            request.httpBodyStream = input
            let loading = Task { [request] in await session.outcome(request) }
            await server.openings.count(reaches: 1)
            input?.close()
            #expect(await loading.value == .failed(.requestBodyStreamExhausted))
            let next = try BothVersions.request(server, "/")
            #expect(await session.outcome(next) == .ok(""))
            #expect(server.requests.snapshot.map(\.method) == ["GET"])
            output?.close()
        }
    }
}
