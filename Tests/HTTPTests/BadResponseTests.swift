import Foundation
import LoadingKit
import TestSupport
import Testing

/// Servers that misbehave: each way gives an error of the right code, or the response where that is what clients do,
/// and the session's next task is unharmed.
@Suite struct BadResponseTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let steps: [ScriptedPeer.Step]
        let outcome: Outcome
        var testDescription: String { name }

        init(_ name: String, _ response: String, _ outcome: Outcome, then: [ScriptedPeer.Step] = [.close]) {
            self.name = name
            self.outcome = outcome
            steps = [.expectRequest, .send(response)] + then
        }

        init(_ name: String, steps: [ScriptedPeer.Step], _ outcome: Outcome) {
            self.name = name
            self.outcome = outcome
            self.steps = steps
        }
    }

    private static func ok(_ fields: String, _ body: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)"
    }
    private static func chunked(_ body: String) -> String { ok("Transfer-Encoding: chunked", body) }
    private static let malformed = Outcome.failed(.cannotParseResponse)
    private static let lost = Outcome.failed(.networkConnectionLost)

    private static let cases: [Case] = [
        Case("nothing at all", steps: [.expectRequest, .close], lost),
        Case("a reset instead of an answer", steps: [.expectRequest, .reset], lost),
        Case("garbage before the status line", "garbage\r\nHTTP/1.1 200 OK\r\n\r\n", malformed),
        Case("an empty status", "HTTP/1.1  OK\r\n\r\n", malformed),
        Case("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", malformed),
        Case("a version of the future", "HTTP/3.0 200 OK\r\n\r\n", malformed),
        Case("an endless status line", steps: [.expectRequest, .send("HTTP/1.1 200 "), .sendForever("a")], malformed),
        Case(
            "an endless head", steps: [.expectRequest, .send("HTTP/1.1 200 OK\r\n"), .sendForever("A: b\r\n")],
            malformed),
        Case(
            "an endless field", steps: [.expectRequest, .send("HTTP/1.1 200 OK\r\nA: "), .sendForever("a")], malformed),
        Case("10,000 fields", ok(Array(repeating: "A: b", count: 10_000).joined(separator: "\r\n")), malformed),
        Case("NUL in a field's value", ok("A: b\0c\r\nContent-Length: 0"), malformed),
        Case("a bare CR in a field's value", ok("A: b\rc\r\nContent-Length: 0"), malformed),
        Case("NUL in a field's name", ok("A\0: b\r\nContent-Length: 0"), malformed),
        Case("a field without a name", ok(": b\r\nContent-Length: 0"), malformed),
        Case("a field without a colon", ok("hello\r\nContent-Length: 0"), malformed),
        Case("two lengths that differ", ok("Content-Length: 1\r\nContent-Length: 2", "ab"), malformed),
        Case("a list of lengths that differ", ok("Content-Length: 1, 2", "ab"), malformed),
        Case("two lengths that are equal", ok("Content-Length: 2\r\nContent-Length: 2", "ab"), .ok("ab")),
        Case("a negative length", ok("Content-Length: -1"), malformed),
        Case("a length with a sign", ok("Content-Length: +1", "a"), malformed),
        Case("a huge length", ok("Content-Length: 99999999999999999999999"), malformed),
        Case("a hexadecimal length", ok("Content-Length: 0x10"), malformed),
        Case("an empty length", ok("Content-Length: "), malformed),
        Case("a large length and an end", ok("Content-Length: 9223372036854775807", "abc"), lost),
        Case("a body shorter than announced", ok("Content-Length: 10", "abc"), lost),
        Case("a body longer than announced", ok("Content-Length: 3", "abcdef"), .ok("abc")),
        Case(
            "a second response nobody asked for", ok("Content-Length: 1", "a") + ok("Content-Length: 1", "b"), .ok("a")),
        Case("a reset in mid-body", ok("Content-Length: 10", "abc"), lost, then: [.reset]),
        Case("a chunk size that overflows", chunked("ffffffffffffffffff\r\nabc"), malformed),
        Case("a chunk size that is none", chunked("xyz\r\nabc\r\n0\r\n\r\n"), malformed),
        Case("a negative chunk size", chunked("-1\r\nabc\r\n0\r\n\r\n"), malformed),
        Case("an empty chunk size", chunked("\r\nabc\r\n0\r\n\r\n"), malformed),
        Case("a chunk that is longer than its size", chunked("2\r\nabcd\r\n0\r\n\r\n"), malformed),
        Case("an end between chunks", chunked("3\r\nabc\r\n"), lost),
        Case("an end before the trailers' end", chunked("3\r\nabc\r\n0\r\n"), lost),
        Case("chunks with extensions and trailers", chunked("3;a=\"b\"\r\nabc\r\n0\r\nA: b\r\n\r\n"), .ok("abc")),
        Case(
            "an endless chunk extension",
            steps: [
                .expectRequest, .send(chunked("3;")), .sendForever("a"),
            ], malformed),
        Case(
            "corrupt gzip", ok("Content-Encoding: gzip\r\nContent-Length: 4", "junk"), .failed(.cannotDecodeRawData)
        ),
        Case(
            "a gzip that ends early",
            steps: [
                .expectRequest, .send(ok("Content-Encoding: gzip\r\nContent-Length: 12")),
                .send([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x4c]), .close,
            ], .failed(.cannotDecodeRawData)),
        Case("an unknown coding", ok("Content-Encoding: rot13\r\nContent-Length: 3", "nop"), .ok("nop")),
        Case(
            "an endless row of interim responses",
            steps: [
                .expectRequest, .sendForever("HTTP/1.1 103 Early Hints\r\n\r\n"),
            ], malformed),
        Case(
            "interim responses and an answer",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                + ok("Content-Length: 1", "a"), .ok("a")),
        Case("a body until the end", "HTTP/1.0 200 OK\r\n\r\nabc", .ok("abc")),
        Case("bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", .ok("abc")),
        Case("no reason phrase", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", .ok("")),
        Case(
            "chunked beats a length", ok("Content-Length: 99\r\nTransfer-Encoding: chunked", "1\r\na\r\n0\r\n\r\n"),
            .ok("a")),
        Case(
            "chunked that is not last", ok("Transfer-Encoding: chunked, gzip", "abc"), .failed(.cannotDecodeRawData)),
        Case("an error page", "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops", .loaded(status: 500, body: "oops")),
        Case(
            "204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n", .loaded(status: 204, body: "")),
    ]

    @Test(arguments: cases) private func theTaskFailsInTheRightWayAndTheNextSucceeds(_ test: Case) async throws {
        let peer = try ScriptedPeer(scripts: [test.steps, [.expectRequest, .respond("unharmed"), .close]])
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout(test.name) {
            #expect(await session.outcome(peer.request()) == test.outcome)
            #expect(await session.outcome(peer.request()) == .ok("unharmed"))
        }
    }

    /// A length beside a transfer coding is not the body's: it is not expected, and exceeds no limit (RFC 9112 §6.3).
    @Test(
        arguments: [
            ("9000000000", true, -1), ("-5", true, -1), ("98, 99", true, -1), ("none", true, -1),
            ("1\r\nContent-Length: 1", false, 1), ("1, 1", false, 1),
        ] as [(String, Bool, Int64)])
    func expectedLengths(_ length: String, _ isChunked: Bool, _ expected: Int64) async throws {
        let fields = "Content-Length: \(length)" + (isChunked ? "\r\nTransfer-Encoding: chunked" : "")
        let peer = try ScriptedPeer([
            .expectRequest, .send(Self.ok(fields, isChunked ? "1\r\na\r\n0\r\n\r\n" : "a")), .close,
        ])
        defer { peer.stop() }
        let session = makeSession { $0.maximumCollectedBodySize = 10 }
        try await withTimeout {
            let (data, response) = try await session.data(for: peer.request())
            #expect(data == Data("a".utf8) && response.expectedContentLength == expected)
        }
    }

    @Test func aResponseMayBeSplitAtEveryByte() async throws {
        let response = Self.chunked("3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: x\r\n\r\n")
        let scripts: [[ScriptedPeer.Step]] = (0...response.utf8.count).map { split in
            let bytes = Array(response.utf8)
            return [.expectRequest, .send(Array(bytes[..<split])), .send(Array(bytes[split...])), .close]
        }
        let peer = try ScriptedPeer(scripts: scripts + [[.expectRequest, .sendByteByByte(response), .close]])
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout {
            for _ in 0...scripts.count {
                #expect(await session.outcome(peer.request()) == .ok("abc0123456789"))
            }
        }
    }

    @Test func anEndAtEveryByteIsAnError() async throws {
        let bytes = Array(Self.ok("Content-Length: 5\r\nContent-Type: text/plain", "hello").utf8)
        let peer = try ScriptedPeer(
            scripts: bytes.indices.map { [.expectRequest, .send(Array(bytes[..<$0])), .close] })
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout {
            for _ in bytes.indices { #expect(await session.outcome(peer.request()) == Self.lost) }
        }
    }
}
