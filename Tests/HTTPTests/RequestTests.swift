import Foundation
import LoadingKit
import LoadingKitContentCoding
import LoadingKitTransport
import TestSupport
import Testing

/// The requests that are sent.
@Suite struct RequestTests {
    private static func sent(
        _ configure: (URLSessionConfiguration) -> Void = { _ in }, path: String = "/",
        _ change: @escaping @Sendable (inout URLRequest) -> Void
    ) async throws -> RecordedRequest {
        let peer = try ScriptedPeer([.expectRequest, .respond("ok"), .close])
        defer { peer.stop() }
        let session = makeSession(configure)
        return try await withTimeout {
            var request = peer.request(path)
            change(&request)
            #expect(await session.outcome(request) == .ok("ok"))
            return try #require(await peer.receivedRequest(0))
        }
    }

    /// A part of a body in a coding cannot be decoded, so that none is offered with a range; a program's own offer is sent.
    @Test func noCodingIsOfferedForARange() async throws {
        let ranged = try await Self.sent { $0.setValue("bytes=2-4", forHTTPHeaderField: "Range") }
        #expect(ranged[field: "Accept-Encoding"] == "identity")
        let own = try await Self.sent {
            $0.setValue("bytes=2-4", forHTTPHeaderField: "Range")
            $0.setValue("gzip", forHTTPHeaderField: "Accept-Encoding")
        }
        #expect(own[field: "Accept-Encoding"] == "gzip")
    }

    @Test func theUsualFields() async throws {
        let request = try await Self.sent { _ in }
        #expect(request.requestLine == "GET / HTTP/1.1")
        #expect(request[field: "Host"]?.hasPrefix("127.0.0.1:") == true)
        #expect(request[field: "Accept"] == "*/*")
        #expect(request[field: "Accept-Encoding"] == ContentDecoder.acceptEncoding)
        #expect(request[field: "User-Agent"]?.contains("LoadingKit") == true)
        #expect(request[field: "Content-Length"] == nil && request[field: "Transfer-Encoding"] == nil)
    }

    @Test func theCallersFieldsAndTheSessions() async throws {
        let request = try await Self.sent({
            $0.httpAdditionalHeaders = ["X-A": "session", "X-B": "session", "TE": "x"]
        }) {
            $0.setValue("caller", forHTTPHeaderField: "x-a")
            $0.setValue("mine", forHTTPHeaderField: "User-Agent")
            $0.setValue("99", forHTTPHeaderField: "Content-Length")
            $0.setValue("chunked", forHTTPHeaderField: "Transfer-Encoding")
            $0.setValue("upgrade", forHTTPHeaderField: "Connection")
        }
        #expect(request[field: "X-A"] == "caller")
        #expect(request[field: "X-B"] == "session")
        #expect(request[field: "User-Agent"] == "mine")
        #expect(request[field: "Connection"] == "keep-alive")
        for reserved in ["Content-Length", "Transfer-Encoding", "TE"] {
            #expect(request[field: reserved] == nil)
        }
    }

    @Test func targets() async throws {
        for (path, target) in [
            ("", "/"), ("/a/b%20c", "/a/b%20c"), ("/?q=1&r=%00", "/?q=1&r=%00"), ("?q", "/?q"), ("/a#fragment", "/a"),
            ("/a?b#c?d", "/a?b"), ("//double", "//double"), ("/%2e%2e/x", "/%2e%2e/x"),
        ] {
            let request = try await Self.sent(path: path) { _ in }
            #expect(request.target == target)
        }
    }

    @Test func bodies() async throws {
        let data = try await Self.sent {
            $0.httpMethod = "POST"
            $0.httpBody = Data("hello".utf8)
        }
        #expect(data.bodyText == "hello" && data[field: "Content-Length"] == "5")
        #expect(data[field: "Content-Type"] == "application/x-www-form-urlencoded")

        let nothing = try await Self.sent {
            $0.httpMethod = "POST"
            $0.httpBody = Data()
        }
        #expect(nothing[field: "Content-Type"] == nil && nothing[field: "Content-Length"] == "0")

        let get = try await Self.sent { $0.httpBody = Data("hello".utf8) }
        #expect(get.bodyText == "hello" && get[field: "Content-Type"] == nil)

        let stream = try await Self.sent {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(data: Data(repeating: 65, count: 200_000))
            $0.setValue("text/plain", forHTTPHeaderField: "Content-Type")
            $0.setValue("", forHTTPHeaderField: "Expect")
        }
        #expect(stream.body == Array(repeating: 65, count: 200_000))
        #expect(stream[field: "Transfer-Encoding"] == "chunked" && stream[field: "Content-Length"] == nil)

        let known = try await Self.sent {
            $0.httpMethod = "PUT"
            $0.httpBodyStream = InputStream(data: Data("hello".utf8))
            $0.setValue("5", forHTTPHeaderField: "Content-Length")
        }
        #expect(known.bodyText == "hello" && known[field: "Content-Length"] == "5")
        #expect(known[field: "Transfer-Encoding"] == nil)

        let empty = try await Self.sent { $0.httpMethod = "POST" }
        #expect(empty[field: "Content-Length"] == "0")
    }

    @Test func fieldsThatWouldSplitTheMessageAreRefusedUnsent() async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("ok")])
        defer { peer.stop() }
        let session = makeSession()
        for (name, value) in [("A", "b\r\nC: d"), ("A", "b\nC: d"), ("A", "b\0"), ("A b", "c"), ("A:", "b"), ("", "b")]
        {
            var request = peer.request()
            request.setValue(value, forHTTPHeaderField: name)
            let sent = request
            try await withTimeout {
                let outcome = await session.outcome(sent)
                #expect(outcome == .failed(.badURL), "\(name): \(value.debugDescription)")
            }
        }
        var method = peer.request()
        method.httpMethod = "GET / HTTP/1.1\r\nA: b"
        let sent = method
        try await withTimeout { #expect(await session.outcome(sent) == .failed(.badURL)) }
        #expect(peer.requests.snapshot.isEmpty)
    }

    @Test func aLongBodyWaitsForTheServersWord() async throws {
        let mayCome = Signal()
        let peer = try ScriptedPeer([
            .expectHead, .waitFor(mayCome), .send("HTTP/1.1 100 Continue\r\n\r\n"), .expectBody, .respond("thanks"),
        ])
        defer { peer.stop() }
        // The time to wait for the server's word is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await withTimeout {
            var request = peer.request(method: "POST")
            request.httpBody = Data(repeating: 66, count: 3 << 20)
            let (session, sent) = (makeSession(on: loop), request)
            async let outcome = session.outcome(sent)
            _ = await peer.receivedRequest(0)
            // What goes with the head is sent in the same turn of the loop, which is over then.
            _ = await session.allTasks
            let received = try #require(peer.connections.first?.receivedText)
            #expect(received.hasSuffix("\r\n\r\n"))
            let task = try #require(await session.allTasks.first)
            #expect(task.countOfBytesSent == 0)
            mayCome.fire()
            #expect(await outcome == .ok("thanks"))
            let got = await peer.requestsWithBody.count(reaches: 1)
            #expect(got.first?.body.count == 3 << 20)
            #expect(got.first?[field: "Expect"] == "100-continue")
        }
    }

    @Test func aRefusedBodyIsNotSent() async throws {
        let peer = try ScriptedPeer([
            .expectHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"), .readUntilClose,
        ])
        defer { peer.stop() }
        // The time to wait for the server's word is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await withTimeout {
            var request = peer.request(method: "POST")
            request.httpBody = Data(repeating: 66, count: 3 << 20)
            #expect(await makeSession(on: loop).outcome(request) == .loaded(status: 413, body: "big"))
            let ended = await peer.endedCount(reaches: 1)
            #expect((ended.first?.received.count ?? .max) < 2000)
        }
    }

    @Test func aServerThatDoesNotKnowExpectIsAskedAgain() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectHead, .send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"), .readUntilClose],
            [.expectRequest, .respond("ok")],
        ])
        defer { peer.stop() }
        // The time to wait for the server's word is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await withTimeout {
            var request = peer.request(method: "PUT")
            request.httpBody = Data(repeating: 66, count: 3 << 20)
            #expect(await makeSession(on: loop).outcome(request) == .ok("ok"))
            #expect(await peer.receivedRequest(1)?[field: "Expect"] == nil)
        }
    }

    @Test func aRequestWithoutAURLIsUnsupported() async throws {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        request.url = nil
        try await withTimeout { [request] in
            #expect(await makeSession().outcome(request) == .failed(.unsupportedURL))
        }
    }

    @Test func whateverIsCancelledSaysSo() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            let load = Task { try await session.data(for: peer.request()) }
            _ = await peer.receivedRequest(0)
            for task in await session.allTasks { task.cancel() }
            let error = await #expect(throws: URLError.self) { try await load.value }
            #expect(error?.code == .cancelled && error?.localizedDescription == "cancelled")
            session.invalidateAndCancel()
            let later = await #expect(throws: URLError.self) { try await session.data(for: peer.request()) }
            #expect(later?.code == .cancelled && later?.localizedDescription == "cancelled")
        }
    }

    /// Whether the load has ended when the reader asks for more, or has not heard of the cancellation.
    @Test func aCancelledReaderOfBytesGetsTheErrorOfTheLoad() async throws {
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .hold,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            defer { session.invalidateAndCancel() }
            let request = peer.request("/bytes")
            let read = Task {
                var iterator = try await session.bytes(for: request).0.makeAsyncIterator()
                #expect(try await iterator.next() == UInt8(ascii: "a"))
                withUnsafeCurrentTask { $0?.cancel() }
                return try await iterator.next()
            }
            let error = await #expect(throws: URLError.self) { try await read.value }
            #expect(error?.code == .cancelled && error?.localizedDescription == "cancelled")
            #expect(error?.userInfo[NSURLErrorFailingURLErrorKey] as? URL == request.url)
        }
    }

    @Test func oddURLs() async throws {
        let cases: [(String, URLError.Code)] = [
            ("http://127.0.0.1:0/", .badURL), ("http://127.0.0.1:99999/", .badURL), ("http:///path", .badURL),
            ("nothing://host/", .unsupportedURL), ("http://[::1/", .badURL),
            ("http://example.org/", .appTransportSecurityRequiresSecureConnection),
            ("https://no-such-host.invalid/", .cannotFindHost), ("relative", .unsupportedURL),
        ]
        let session = makeSession()
        for (text, code) in cases {
            guard let url = URL(string: text) else { continue }
            try await withTimeout {
                #expect(await session.outcome(URLRequest(url: url)) == .failed(code), "\(text)")
            }
        }
    }

    @Test func userInformationIsNotPartOfTheHostAndAVeryLongURLIsSent() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("ok")])])
        defer { peer.stop() }
        let session = makeSession()
        let plain = peer.url("/")
        let long = "/" + String(repeating: "a", count: 60_000)
        try await withTimeout {
            let user = try #require(URL(string: plain.replacing("http://", with: "http://user:pass%20word@")))
            #expect(await session.outcome(URLRequest(url: user)) == .ok("ok"))
            #expect(await session.outcome(peer.request(long)) == .ok("ok"))
            #expect(peer.requests.snapshot.map(\.target) == ["/", long])
            #expect(peer.requests.snapshot.first?[field: "Host"]?.hasPrefix("127.0.0.1:") == true)
        }
    }

    @Test func anIPv6AddressWithAndWithoutAZone() async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, .respond("six")])], on: .ipv6())
        defer { peer.stop() }
        let session = makeSession()
        let plain = peer.url("/")
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("six"))
            let zoned = plain.replacing("[::1]", with: "[::1%251]")
            if let url = URL(string: zoned) {
                #expect(await session.outcome(URLRequest(url: url)) == .ok("six"))
                #expect(peer.requests.snapshot.last?[field: "Host"]?.hasPrefix("[::1]:") == true)
            }
        }
    }
}
