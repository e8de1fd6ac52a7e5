import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Codings of a response's transfer (RFC 9112 §6.1, §7): they are undone, or the load fails; what comes is never taken for
/// the content.
@Suite struct TransferCodingTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let fields: String
        let body: [UInt8]
        let outcome: Outcome
        var version = "HTTP/1.1"
        var method = "GET"
        var status = 200
        var testDescription: String { "\(version) \(method) \(status) \(fields)" }

        init(
            _ fields: String, _ body: [UInt8], _ outcome: Outcome, version: String = "HTTP/1.1", method: String = "GET",
            status: Int = 200
        ) {
            self.fields = fields
            self.body = body
            self.outcome = outcome
            self.version = version
            self.method = method
            self.status = status
        }
    }

    private static let text = "the content"
    private static let plain = Array(text.utf8)
    private static let gzip = (try? Gzip.compress(plain)) ?? []
    private static let twice = (try? Gzip.compress(gzip)) ?? []
    /// A block that is stored, of raw deflate.
    private static let deflate: [UInt8] =
        [1, UInt8(plain.count), 0, ~UInt8(plain.count), 0xff] + plain

    /// In two chunks.
    private static func chunked(_ bytes: [UInt8]) -> [UInt8] {
        let halves = [bytes.prefix(5), bytes.dropFirst(5)].filter { !$0.isEmpty }
        return halves.flatMap { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
            + Array("0\r\n\r\n".utf8)
    }

    private static let content = Outcome.ok(text)
    private static let undecodable = Outcome.failed(.cannotDecodeRawData)

    private static let cases: [Case] = [
        Case("Transfer-Encoding: gzip, chunked", chunked(gzip), content),
        Case("Transfer-Encoding: x-gzip , Chunked", chunked(gzip), content),
        Case("Transfer-Encoding: GZIP,chunked", chunked(gzip), content),
        Case("Transfer-Encoding: deflate, chunked", chunked(deflate), content),
        Case("Transfer-Encoding: gzip, gzip, chunked", chunked(twice), content),
        Case("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", chunked(gzip), content),
        Case(
            "Transfer-Encoding: gzip\r\nA: b\r\nTransfer-Encoding: , ,\r\nTransfer-Encoding: chunked ,", chunked(gzip),
            content),
        Case("Transfer-Encoding: identity, chunked", chunked(plain), content),
        Case("Transfer-Encoding: chunked", chunked(plain), content),
        // Without chunks the body ends with the connection, whatever length is said.
        Case("Transfer-Encoding: gzip", gzip, content),
        Case("Transfer-Encoding: gzip\r\nContent-Length: 5", gzip, content),
        Case("Transfer-Encoding: deflate", deflate, content),
        Case("Transfer-Encoding: identity", plain, content),
        Case("Transfer-Encoding: identity\r\nContent-Length: 3", plain, content),
        Case("Transfer-Encoding:", plain, content),
        Case("Transfer-Encoding: gzip, chunked\r\nContent-Length: 5", chunked(gzip), content),
        // HTTP/1.0 knows none, but a server that sends them means them.
        Case("Transfer-Encoding: gzip, chunked", chunked(gzip), content, version: "HTTP/1.0"),
        Case("Transfer-Encoding: chunked\r\nContent-Length: 3", chunked(plain), content, version: "HTTP/1.0"),
        Case("Transfer-Encoding: gzip", gzip, content, version: "HTTP/1.0"),
        Case("Transfer-Encoding: rot13", plain, undecodable, version: "HTTP/1.0"),
        // The content's codings were applied before the transfer's.
        Case("Content-Encoding: gzip\r\nTransfer-Encoding: gzip, chunked", chunked(twice), content),
        Case("Content-Encoding: deflate\r\nTransfer-Encoding: gzip", (try? Gzip.compress(deflate)) ?? [], content),
        Case("Content-Encoding: rot13\r\nTransfer-Encoding: gzip, chunked", chunked(gzip), content),
        // Codings that cannot be decoded.
        Case("Transfer-Encoding: rot13, chunked", chunked(plain), undecodable),
        Case("Transfer-Encoding: rot13", plain, undecodable),
        Case("Transfer-Encoding: compress, chunked", chunked(plain), undecodable),
        Case("Transfer-Encoding: br, chunked", chunked(plain), undecodable),
        Case("Transfer-Encoding: gzip;q=1, chunked", chunked(gzip), undecodable),
        Case("Transfer-Encoding: xchunked", plain, undecodable),
        Case("Transfer-Encoding: chunked, gzip", chunked(gzip), undecodable),
        Case("Transfer-Encoding: chunked, identity", chunked(plain), undecodable),
        Case("Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip", chunked(gzip), undecodable),
        Case("Transfer-Encoding: gzip, gzip, gzip, gzip, gzip, chunked", chunked(gzip), undecodable),
        Case("Transfer-Encoding: gzip, chunked", chunked(plain), undecodable),
        Case("Transfer-Encoding: gzip, chunked", chunked(gzip.dropLast(3)), undecodable),
        // No sender may apply chunked twice (RFC 9112 §7.1), so that nobody knows where such a message ends.
        Case("Transfer-Encoding: chunked, chunked", chunked(chunked(plain)), .failed(.cannotParseResponse)),
        Case(
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", chunked(chunked(plain)),
            .failed(.cannotParseResponse)),
        Case("Transfer-Encoding: chunked, gzip, chunked", chunked(plain), .failed(.cannotParseResponse)),
        // Without a body there is nothing to undo.
        Case("Transfer-Encoding: rot13, chunked", [], .ok(""), method: "HEAD"),
        Case("Transfer-Encoding: rot13", [], .loaded(status: 304, body: ""), status: 304),
        Case("Transfer-Encoding: rot13, chunked", chunked(plain), undecodable, status: 500),
    ]

    @Test(arguments: cases) private func theContentOrAnError(_ test: Case) async throws {
        let head = Array("\(test.version) \(test.status) OK\r\n\(test.fields)\r\n\r\n".utf8)
        let cut = head.count + test.body.count / 2
        let bytes = head + test.body
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .send(bytes), .close], [.expectRequest, .sendByteByByte(bytes), .close],
            [.expectRequest, .send(Array(bytes[..<cut])), .send(Array(bytes[cut...])), .close],
            [.expectRequest, .respond("unharmed"), .close],
        ])
        defer { peer.stop() }
        let session = makeSession()
        try await withTimeout {
            for _ in 0..<3 {
                var request = peer.request()
                request.httpMethod = test.method
                #expect(await session.outcome(request) == test.outcome)
            }
            #expect(await session.outcome(peer.request()) == .ok("unharmed"), "the connection was not used again")
        }
    }
}
