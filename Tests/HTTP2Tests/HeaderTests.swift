import LoadingKitHTTP2
import Testing

/// Header compression on a connection: its tables follow the settings, and every block is decoded.
@Suite struct HeaderTests {
    private static let head = HTTP2RequestHead(
        method: "GET", scheme: "https", authority: "www.example.com", path: "/index.html?a=b",
        fields: fields(("User-Agent", "loadkit/1.0"), ("Accept", "*/*"), ("Accept-Encoding", "gzip, deflate")))

    @Test func repeatedRequestsAreSmall() throws {
        var client = Peer.connected(.client)
        _ = client.takeOutput()
        _ = try client.machine.sendRequest(Self.head, endStream: true, to: &client.output)
        let first = client.takeOutput()
        _ = try client.machine.sendRequest(Self.head, endStream: true, to: &client.output)
        let second = client.takeOutput()
        #expect(second.count < 9 + 16)
        #expect(first.count > second.count)
        var server = Peer.connected(.server)
        server.feed(first + second)
        var received = Self.head
        received.fields = fields(
            ("user-agent", "loadkit/1.0"), ("accept", "*/*"), ("accept-encoding", "gzip, deflate"))
        #expect(
            server.events == [1, 3].map { .headers(stream: $0, .request(received), endStream: true) })
    }

    /// The peer's table may become smaller and larger at any time, and ours too, once it is acknowledged.
    @Test func tablesFollowTheSettings() throws {
        var client = Peer(.client)
        var server = Peer(.server)
        Peer.exchange(&client, &server)
        for size: UInt32 in [0, 4096, 100, 65536, 0, 64] {
            var settings = server.machine.localSettings
            settings.headerTableSize = size
            server.machine.updateSettings(settings, to: &server.output)
            Peer.exchange(&client, &server)
            for _ in 0..<3 {
                let stream = try client.machine.sendRequest(Self.head, endStream: true, to: &client.output)
                Peer.exchange(&client, &server)
                try server.machine.sendResponse(
                    200, fields(("server", "x"), ("etag", "\(stream)")), on: stream, endStream: true,
                    to: &server.output)
                Peer.exchange(&client, &server)
            }
            #expect(client.error == nil && server.error == nil, "size \(size)")
        }
        let opened = server.events.filter { if case .headers = $0 { true } else { false } }
        #expect(opened.count == 18)
    }

    /// The blocks of streams that are refused, reset or too late change the table all the same.
    @Test func everyBlockIsDecoded() throws {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 1
        var client = Peer.connected(.client)
        var server = Peer.connected(.server, settings: settings)
        var head = Self.head
        for index in 0..<5 {
            head.fields = fields(("x-\(index)", "value-\(index)"))
            _ = try client.machine.sendRequest(head, endStream: true, to: &client.output)
        }
        server.feed(client.takeOutput())
        #expect(server.machine.openStreams == [1])
        server.machine.sendReset(1, to: &server.output)
        head.fields = fields(("x-3", "value-3"), ("x-4", "value-4"))
        let last = try client.machine.sendRequest(head, endStream: true, to: &client.output)
        server.events = []
        server.feed(client.takeOutput())
        #expect(server.events == [.headers(stream: last, .request(head), endStream: true)])
    }

    /// §10.5.1: a list that is too large ends its stream, not the connection.
    @Test func listsAreBounded() throws {
        var limits = HTTP2Limits()
        limits.headerListBytes = 1000
        limits.fieldCount = 10
        let pair = block(("a", "b"))
        let cases: [(String, [UInt8], Bool)] = [
            ("ten fields", responseBlock + (0..<9).flatMap { _ in pair }, true),
            ("eleven fields", responseBlock + (0..<10).flatMap { _ in pair }, false),
            (
                "900 bytes", responseBlock + (0..<7).flatMap { block(("\($0)", String(repeating: "v", count: 87))) },
                true
            ),
            (
                "1,020 bytes", responseBlock + (0..<8).flatMap { block(("\($0)", String(repeating: "v", count: 87))) },
                false
            ),
        ]
        for (name, bytes, isValid) in cases {
            var client = Peer.connected(.client, limits: limits)
            _ = try client.request()
            client.feed(headersFrame(1, bytes))
            #expect(client.error == nil, "\(name)")
            let failure = HTTP2Error(.headerListTooLarge, .stream(1))
            #expect((client.events == [.streamFailed(stream: 1, failure)]) == !isValid, "\(name)")
            _ = try client.request()
            client.feed(headersFrame(3, responseBlock))
            #expect(client.events.count == 2, "\(name)")
        }
    }

    /// The limit that the peer announced is checked before anything is sent.
    @Test func headsThatThePeerDoesNotTake() throws {
        var settings = HTTP2Settings()
        settings.maxHeaderListSize = 300
        var client = Peer.connected(.client, peerSettings: settings)
        _ = client.takeOutput()
        var head = Self.head
        head.fields = fields(("x", String(repeating: "v", count: 300)))
        #expect(throws: HTTP2Error(.headerListTooLong, .call)) {
            try client.machine.sendRequest(head, endStream: true, to: &client.output)
        }
        #expect(client.takeOutput().isEmpty)
        #expect(try client.request() == 1)
    }

    @Test func blocksThatCannotBeDecodedEndTheConnection() throws {
        for bytes: [UInt8] in [[0x80], [0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [0x40], [0, 1, 0x61, 0x81, 0], [0xc5]] {
            var client = Peer.connected(.client)
            _ = try client.request()
            client.feed(headersFrame(1, bytes))
            #expect(client.error == HTTP2Error(.compression), "\(bytes)")
        }
    }

    /// A head that is larger than a frame.
    @Test func longHeadsNeedContinuation() throws {
        var client = Peer.connected(.client)
        var server = Peer.connected(.server)
        var head = Self.head
        // Bytes that Huffman makes no shorter.
        head.fields = fields(("x", String(repeating: "\\", count: 60000)))
        _ = try client.machine.sendRequest(head, endStream: false, to: &client.output)
        let bytes = client.takeOutput()
        for start in stride(from: 0, to: bytes.count, by: 1000) {
            server.feed(Array(bytes[start..<min(bytes.count, start + 1000)]))
        }
        #expect(server.events == [.headers(stream: 1, .request(head), endStream: false)])
    }
}
