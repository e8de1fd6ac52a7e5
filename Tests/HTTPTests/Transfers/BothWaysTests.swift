import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Requests and responses whose bodies depend on each other, piece by piece.
@Suite struct BothWaysTests {
    /// The server does not use a chunk before its end has arrived.
    private static let script: [ScriptedPeer.Step] = [
        .expectHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        .expectThrough(Array("1\r\na\r\n".utf8)), .send("1\r\nA\r\n"),
        .expectThrough(Array("2\r\nbc\r\n".utf8)), .send("1\r\nB\r\n"),
        .expectThrough(Array("0\r\n\r\n".utf8)), .send("0\r\n\r\n"),
    ]

    @Test func aChunkEndsBeforeTheNextOneIsThere() async throws {
        let peer = try ScriptedPeer(Self.script)
        defer { peer.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let (pieces, writer) = AsyncStream<Data>.makeStream()
            var request = peer.request(method: "POST")
            request.setValue("", forHTTPHeaderField: "Expect")
            request.httpBodyStream = URLRequest.bodyStream(of: pieces)
            let (bytes, _) = try await session.bytes(for: request)
            var iterator = bytes.makeAsyncIterator()
            writer.yield(Data("a".utf8))
            #expect(try await iterator.next() == UInt8(ascii: "A"))
            writer.yield(Data("bc".utf8))
            #expect(try await iterator.next() == UInt8(ascii: "B"))
            writer.finish()
            #expect(try await iterator.next() == nil)
        }
        let ended = await peer.endedCount(reaches: 1)
        #expect(ended.first?.receivedText.hasSuffix("1\r\na\r\n2\r\nbc\r\n0\r\n\r\n") == true)
    }

    /// Pieces that are there already are sent with the end of the chunk before them, and with nothing twice.
    @Test func manyPieces() async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("ok")])
        defer { peer.stop() }
        let session = makeSession()
        defer { session.invalidateAndCancel() }
        let text = (0..<2000).map { "piece \($0) " }.joined()
        try await withTimeout {
            let pieces = AsyncStream<Data> { writer in
                for number in 0..<2000 { writer.yield(Data("piece \(number) ".utf8)) }
                writer.finish()
            }
            var request = peer.request(method: "POST")
            request.httpBodyStream = URLRequest.bodyStream(of: pieces)
            let (data, _) = try await session.data(for: request)
            #expect(data == Data("ok".utf8))
        }
        #expect(await peer.requestCount(reaches: 1).first?.bodyText == text)
    }
}
