import Foundation
import LoadingKit
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
}
