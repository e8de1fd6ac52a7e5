import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// A stored part, such as the beginning of a response that was cut off, is completed by a request for the rest.
@Suite struct CachePartialResponseTests {
    private static let cutOff: [ScriptedPeer.Step] = [
        .expectRequest,
        .send(
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Type: text/x\r\nETag: \"a\"\r\nCache-Control: max-age=60"
                + "\r\n\r\n0123"), .close,
    ]

    private static func rest(
        _ status: String = "206 Partial Content", _ range: String = "bytes 4-9/10", tag: String = "\"a\"",
        _ body: String = "456789", and more: [ScriptedPeer.Step] = []
    ) -> [ScriptedPeer.Step] {
        [
            .expectRequest,
            .send(
                "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\nETag: \(tag)\r\n"
                    + "Cache-Control: max-age=60\r\n\(range.isEmpty ? "" : "Content-Range: \(range)\r\n")\r\n\(body)"),
        ] + more
    }

    private static func withPeer(
        _ scripts: [[ScriptedPeer.Step]], delegate: (any URLSessionDelegate)? = nil,
        body: @escaping @Sendable (URLSession, ScriptedPeer, URLCache) async throws -> Void
    ) async throws {
        let peer = try ScriptedPeer(scripts: scripts)
        defer { peer.stop() }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let session = makeSession(delegate: delegate) { $0.urlCache = cache }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, peer, cache) }
    }

    private static func request(_ peer: ScriptedPeer, _ range: String? = nil) -> URLRequest {
        var request = peer.request()
        if let range { request.setValue(range, forHTTPHeaderField: "Range") }
        return request
    }

    @Test func aResponseThatWasCutOff() async throws {
        try await Self.withPeer([Self.cutOff, Self.rest()]) { session, peer, cache in
            #expect(await session.outcome(peer.request()) == .failed(.networkConnectionLost))
            #expect(cache.cachedResponse(for: peer.request()) == nil, "a part is no answer")
            let (data, response) = try await session.data(for: peer.request())
            #expect(String(decoding: data, as: UTF8.self) == "0123456789")
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.statusCode == 200 && http.expectedContentLength == 10)
            #expect(http.value(forHTTPHeaderField: "Content-Type") == "text/x")
            #expect(http.value(forHTTPHeaderField: "Content-Range") == nil)
            #expect(http.value(forHTTPHeaderField: "Content-Length") == "10")
            let second = try #require(await peer.receivedRequest(1))
            #expect(second[field: "Range"] == "bytes=4-9" && second[field: "If-Range"] == "\"a\"")
            // Now the whole is stored.
            #expect(await session.outcome(peer.request()) == .ok("0123456789"))
            #expect(cache.cachedResponse(for: peer.request())?.data == Data("0123456789".utf8))
            #expect(await peer.requestCount(reaches: 2).count == 2)
        }
    }

    /// The second response is cut off, too, and the third request is for what is still missing.
    @Test func oneThatIsCutOffAgain() async throws {
        let again = Array(Self.rest("206 P", "bytes 4-9/10", tag: "\"a\"", "456789").prefix(1))
        let piece: ScriptedPeer.Step = .send(
            "HTTP/1.1 206 P\r\nContent-Length: 6\r\nETag: \"a\"\r\nCache-Control: max-age=60\r\n"
                + "Content-Range: bytes 4-9/10\r\n\r\n45")
        try await Self.withPeer(
            [Self.cutOff, again + [piece, .close], Self.rest("206 P", "bytes 6-9/10", tag: "\"a\"", "6789")]
        ) { session, peer, _ in
            for _ in 0..<2 { #expect(await session.outcome(peer.request()) == .failed(.networkConnectionLost)) }
            #expect(await session.outcome(peer.request()) == .ok("0123456789"))
            #expect(await peer.receivedRequest(2)?[field: "Range"] == "bytes=6-9")
        }
    }

    /// The rest has fewer bytes than the range in its head. The third request is for what is still missing.
    @Test(arguments: ["Content-Length: 2\r\n\r\n45", "Transfer-Encoding: chunked\r\n\r\n2\r\n45\r\n0\r\n\r\n"])
    func aRestThatIsTooShort(_ rest: String) async throws {
        let short: ScriptedPeer.Step = .send(
            "HTTP/1.1 206 P\r\nETag: \"a\"\r\nCache-Control: max-age=60\r\nContent-Range: bytes 4-9/10\r\n\(rest)")
        try await Self.withPeer(
            [Self.cutOff, [.expectRequest, short], Self.rest("206 P", "bytes 6-9/10", tag: "\"a\"", "6789")]
        ) { session, peer, _ in
            for _ in 0..<2 { #expect(await session.outcome(peer.request()) == .failed(.networkConnectionLost)) }
            #expect(await session.outcome(peer.request()) == .ok("0123456789"))
            #expect(await peer.receivedRequest(2)?[field: "Range"] == "bytes=6-9")
        }
    }

    /// Nothing of a rest with more bytes than the range in its head is stored.
    @Test func aRestThatIsTooLong() async throws {
        let long = Self.rest("206 P", "bytes 4-9/10", tag: "\"a\"", "456789X")
        try await Self.withPeer([Self.cutOff, long, Self.rest()]) { session, peer, _ in
            _ = await session.outcome(peer.request())
            #expect(await session.outcome(peer.request()) == .failed(.badServerResponse))
            #expect(await session.outcome(peer.request()) == .ok("0123456789"))
            #expect(await peer.receivedRequest(2)?[field: "Range"] == "bytes=4-9")
        }
    }

    /// A part that the program requested is not stored if it has another number of bytes than the range in its head.
    @Test(arguments: ["01", "0123456789"]) func aPartOfAnotherLength(_ body: String) async throws {
        let part = Self.rest("206 P", "bytes 0-3/10", tag: "\"a\"", body)
        try await Self.withPeer([part, Self.rest("200 OK", "", tag: "\"a\"", "all")]) { session, peer, _ in
            let first = await session.outcome(Self.request(peer, "bytes=0-3"))
            #expect(first == .loaded(status: 206, body: body))
            #expect(await session.outcome(peer.request()) == .ok("all"))
            #expect(await peer.receivedRequest(1)?[field: "Range"] == nil)
        }
    }

    /// Nor is one that was cut off after more bytes than the range in its head.
    @Test func aPartThatWasCutOffAndIsTooLong() async throws {
        let part: ScriptedPeer.Step = .send(
            "HTTP/1.1 206 P\r\nContent-Length: 20\r\nETag: \"a\"\r\nCache-Control: max-age=60\r\n"
                + "Content-Range: bytes 0-3/10\r\n\r\n0123456789")
        try await Self.withPeer([[.expectRequest, part, .close], Self.rest("200 OK", "", tag: "\"a\"", "all")]) {
            session, peer, _ in
            #expect(await session.outcome(Self.request(peer, "bytes=0-3")) == .failed(.networkConnectionLost))
            #expect(await session.outcome(peer.request()) == .ok("all"))
        }
    }

    /// Ranges that begin in the stored part are completed. Other ranges, and parts that cannot be joined, are requested
    /// as they are.
    @Test func ranges() async throws {
        let cases: [(range: String, asked: String, answer: String, body: String, Outcome)] = [
            ("bytes=2-6", "bytes=4-6", "bytes 4-6/10", "456", .loaded(status: 206, body: "23456")),
            ("bytes=1-", "bytes=4-9", "bytes 4-9/10", "456789", .loaded(status: 206, body: "123456789")),
            ("bytes=-7", "bytes=4-9", "bytes 4-9/10", "456789", .loaded(status: 206, body: "3456789")),
            ("bytes=4-6", "bytes=4-6", "bytes 4-6/10", "456", .loaded(status: 206, body: "456")),
            ("bytes=0-1,3-5", "bytes=0-1,3-5", "bytes 0-1/10", "01", .loaded(status: 206, body: "01")),
        ]
        for (range, asked, answer, body, outcome) in cases {
            try await Self.withPeer([Self.cutOff, Self.rest("206 P", answer, tag: "\"a\"", body)]) { session, peer, _ in
                _ = await session.outcome(peer.request())
                #expect(await session.outcome(Self.request(peer, range)) == outcome, "\(range)")
                #expect(await peer.receivedRequest(1)?[field: "Range"] == asked, "\(range)")
            }
        }
    }

    /// The server may send a whole new response, or a part that cannot be used: then the client requests everything.
    @Test func whatDoesNotGoTogether() async throws {
        let whole = Self.rest("200 OK", "", tag: "\"b\"", "new")
        let cases: [(name: String, [ScriptedPeer.Step], Outcome, requests: Int)] = [
            ("new", whole, .ok("new"), 2),
            ("another tag", Self.rest("206 P", "bytes 4-9/10", tag: "\"b\"", and: whole), .ok("new"), 3),
            ("another range", Self.rest("206 P", "bytes 5-9/10", tag: "\"a\"", "56789", and: whole), .ok("new"), 3),
            ("another length", Self.rest("206 P", "bytes 4-9/11", tag: "\"a\"", and: whole), .ok("new"), 3),
            ("no such range", Self.rest("416 No", "bytes */3", tag: "\"b\"", "", and: whole), .ok("new"), 3),
            ("gone", Self.rest("404 No", "", tag: "\"c\"", "gone"), .loaded(status: 404, body: "gone"), 2),
        ]
        for (name, script, outcome, requests) in cases {
            try await Self.withPeer([Self.cutOff, script + [.close], whole]) { session, peer, _ in
                _ = await session.outcome(peer.request())
                #expect(await session.outcome(peer.request()) == outcome, "\(name)")
                let received = await peer.requestCount(reaches: requests)
                #expect(received.count == requests && (requests == 2 || received[2][field: "Range"] == nil), "\(name)")
            }
        }
    }

    /// Without a strong tag, with a content coding, or where the server forbids it, nothing is stored.
    @Test(arguments: [
        "ETag: W/\"a\"", "X: y", "ETag: \"a\"\r\nContent-Encoding: x", "ETag: \"a\"\r\nCache-Control: no-store",
    ])
    func whatIsNotKept(_ fields: String) async throws {
        let cutOff: ScriptedPeer.Step = .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(fields)\r\n\r\n0123")
        try await Self.withPeer([[.expectRequest, cutOff, .close], Self.rest("200 OK", "", tag: "\"a\"", "all")]) {
            session, peer, cache in
            _ = await session.outcome(peer.request())
            #expect(cache.currentMemoryUsage == 0)
            #expect(await session.outcome(peer.request()) == .ok("all"))
            #expect(await peer.receivedRequest(1)?[field: "Range"] == nil)
        }
    }

    /// A slow reader gets the beginning and the rest in order.
    @Test func aReaderThatLags() async throws {
        let half = 3 << 20
        let head = "ETag: \"a\"\r\nCache-Control: max-age=60\r\n"
        let cutOff: [ScriptedPeer.Step] = [
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: \(2 * half)\r\n\(head)\r\n"),
            .send([UInt8](repeating: 1, count: half)), .close,
        ]
        let rest: [ScriptedPeer.Step] = [
            .expectRequest,
            .send(
                "HTTP/1.1 206 P\r\nContent-Length: \(half)\r\nContent-Range: bytes \(half)-\(2 * half - 1)/\(2 * half)\r\n"
                    + "\(head)\r\n"), .send([UInt8](repeating: 2, count: half)),
        ]
        let peer = try ScriptedPeer(scripts: [cutOff, rest])
        defer { peer.stop() }
        let session = makeSession { $0.urlCache = URLCache(memoryCapacity: 256 << 20, diskCapacity: 0, diskPath: nil) }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            _ = await session.outcome(peer.request())
            let (bytes, _) = try await session.bytes(for: peer.request())
            var (position, isInOrder) = (0, true)
            for try await byte in bytes {
                isInOrder = isInOrder && byte == (position < half ? 1 : 2)
                position += 1
            }
            #expect(position == 2 * half && isInOrder)
            #expect(await peer.requestCount(reaches: 2).count == 2)
        }
    }
}
