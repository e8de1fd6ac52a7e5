import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The loopback server, seen by a client that knows no HTTP.
@Suite struct ServerTests {
    private final class Parting: Sendable {
        private let onEnd: @Sendable () -> Void

        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    /// What a box or a list lets go may use it.
    @Test func whatIsReplacedMayUseItsHolder() {
        let (box, list, ends) = (Box<Parting?>(nil), Recorder<Parting>(), Recorder<Int>())
        box.value = Parting { ends.append(box.value == nil ? 0 : 1) }
        box.value = nil
        list.append(Parting { ends.append(list.count) })
        list.removeAll()
        #expect(ends.snapshot == [0, 0])
    }

    /// One connection, and all that comes over it when the client sends this and ends its side.
    struct Exchange: Sendable {
        var name: String
        var request: String
        var response: String
    }

    private static let exchanges = [
        Exchange(
            name: "length", request: "GET /text HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\nhello"),
        Exchange(
            name: "HEAD", request: "HEAD /text HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\r\n"),
        Exchange(
            name: "no content", request: "GET /204 HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 204 No Content\r\n\r\n"),
        Exchange(
            name: "chunks and trailers", request: "GET /chunks HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Sum: 7\r\n\r\n"),
        Exchange(
            name: "chunks for an old client", request: "GET /chunks HTTP/1.0\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\nabcdefg"),
        Exchange(
            name: "an old client that keeps alive", request: "GET /204 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            response: "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n"),
        Exchange(
            name: "until close",
            request: "GET /until-close HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\nabc"),
        Exchange(
            name: "the client closes",
            request: "GET /204 HTTP/1.1\r\nHost: h\r\nConnection: x, Close\r\n\r\nGET /204 HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"),
        Exchange(
            name: "interim",
            request: "GET /hints HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"),
        Exchange(
            name: "pipelining, with bodies of both framings",
            request: "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\none"
                + "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ntw\r\n1\r\no\r\n0\r\n\r\n"
                + "GET /204 HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo"
                + "HTTP/1.1 204 No Content\r\n\r\n"),
        Exchange(
            name: "a stream that stops early", request: "GET /short HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 9\r\n\r\nabc"),
        Exchange(name: "a route that throws", request: "GET /throws HTTP/1.1\r\nHost: h\r\n\r\n", response: ""),
        Exchange(
            name: "a response that cannot be sent", request: "GET /bad-field HTTP/1.1\r\nHost: h\r\n\r\n",
            response: ""),
        Exchange(
            name: "trailers that cannot be sent", request: "GET /bad-trailer HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "3\r\nabc\r\n"),
        Exchange(
            name: "framing of the route's own", request: "GET /own HTTP/1.1\r\nHost: h\r\n\r\n",
            response: "HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nabc"),
        Exchange(
            name: "a WebSocket, whose name is in any case",
            request: "GET /socket HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            response: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"),
        Exchange(
            name: "taken over", request: "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\nping",
            response: "HTTP/1.1 200 OK\r\n\r\n<ping>"),
    ]

    @Sendable private static func route(_ request: ServerRequest) throws -> ServerResponse {
        if request.method == "CONNECT" {
            return ServerResponse(
                body: .takeOver { socket in
                    try socket.write(Array("<".utf8) + (try socket.read(atMost: 4)) + Array(">".utf8))
                })
        }
        switch request.path {
        case "/text": return .text("hello")
        case "/204": return ServerResponse(204)
        case "/echo": return ServerResponse(body: .bytes(request.body))
        case "/chunks":
            return .stream { writer in
                try writer.write("abc")
                try writer.write("defg")
                writer.trailers.append(name: "X-Sum", value: "7")
            }
        case "/until-close": return .stream(.untilClose) { try $0.write("abc") }
        case "/bad-field": return ServerResponse(204).adding("X-Name", "a\nb")
        case "/bad-trailer":
            return .stream { writer in
                try writer.write("abc")
                writer.trailers.append(name: "X Sum", value: "3")
            }
        case "/short": return .stream(.length(9)) { try $0.write("abc") }
        case "/hints":
            var response = ServerResponse(204)
            response.interim = [.init(103)]
            response.interim[0].fields.append(name: "Link", value: "</a>")
            return response
        case "/socket": return .webSocket(request) { _ in }
        case "/own":
            var response = ServerResponse(body: .bytes(Array("abc".utf8))).adding("Content-Length", "2")
            response.reason = "Fine"
            return response
        default: throw CancellationError()
        }
    }

    @Test func answersByTheBook() async throws {
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        for exchange in Self.exchanges {
            let text = try await withTimeout(exchange.name) {
                try await onThread {
                    let client = try LoopbackClient(server.address)
                    try client.send(exchange.request)
                    client.halfClose()
                    return try client.receiveAll()
                }
            }
            #expect(text == exchange.response, "\(exchange.name)")
        }
    }

    @Test func refusesWhatIsNoRequest() async throws {
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        let cases = [
            ("nonsense\r\n\r\n", "400 Bad Request"),
            ("GET / HTTP/1.1\r\n\r\n", "400 Bad Request"),
            ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", "505 HTTP Version Not Supported"),
            (
                "GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 2000),
                "431 Request Header Fields Too Large"
            ),
        ]
        for (request, status) in cases {
            let text = try await withTimeout {
                try await onThread {
                    let client = try LoopbackClient(server.address)
                    try client.send(request)
                    return try client.receiveAll()
                }
            }
            #expect(text.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(request.prefix(40))")
            #expect(text.contains("Connection: close\r\n"), "\(request.prefix(40))")
        }
        #expect(server.requests.count == 0)
        let failures = try await withTimeout { await server.failures.count(reaches: cases.count) }
        #expect(failures.count == cases.count)
    }

    @Test func compresses() throws {
        var seed = UInt32(1)
        let noise = (0..<200_000).map { _ in
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return UInt8(seed >> 24)
        }
        for bytes in [[], Array("hello".utf8), [UInt8](repeating: 1, count: 200_000), noise] {
            guard case .bytes(let packed) = try ServerResponse.gzip(bytes).body else {
                Issue.record("no bytes")
                return
            }
            // RFC 1952 §2.3: the magic number and deflate at the start, the length at the end.
            #expect(packed.prefix(3) == [0x1F, 0x8B, 8])
            let length = packed.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(length == bytes.count)
            #expect(packed.count < bytes.count + 200)
        }
    }

    @Test func asksBeforeTheBodyComes() async throws {
        var options = LoopbackServer.Options()
        options.beforeBody = { $0.path == "/refused" ? ServerResponse(417) : nil }
        let server = try LoopbackServer(options, route: Self.route)
        defer { server.stop() }
        let fields = "Host: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
        let (refused, accepted) = try await withTimeout {
            try await onThread { () -> (String, String) in
                let refused = try LoopbackClient(server.address)
                try refused.send("POST /refused HTTP/1.1\r\n\(fields)")
                let answer = try refused.receiveAll()
                let accepted = try LoopbackClient(server.address)
                try accepted.send("POST /echo HTTP/1.1\r\n\(fields)")
                let interim = try accepted.receive(through: "\r\n\r\n")
                try accepted.send("abc")
                return (answer, interim + (try accepted.receive(through: "abc")))
            }
        }
        #expect(refused == "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        #expect(accepted == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    }

    @Test func anEarlyResponseMayTakeTheConnection() async throws {
        var options = LoopbackServer.Options()
        options.beforeBody = { try Self.route($0) }
        let server = try LoopbackServer(options) { _ in ServerResponse(500) }
        defer { server.stop() }
        let text = try await withTimeout {
            try await onThread {
                let client = try LoopbackClient(server.address)
                try client.send("CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\nping")
                client.halfClose()
                return try client.receiveAll()
            }
        }
        #expect(text == "HTTP/1.1 200 OK\r\n\r\n<ping>")
    }

    @Test func recordsWhatItSaw() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue(), route: Self.route)
        defer { server.stop() }
        #expect(server.url("/x").hasPrefix("https://127.0.0.1:"))
        try await withTimeout {
            try await onThread {
                let context = try TLSClientContext(trusting: [authority.certificatePEM])
                for _ in 0..<2 {
                    let client = try LoopbackClient(server.address, tls: context, serverName: "name.test")
                    for _ in 0..<2 {
                        try client.send("POST /echo?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi")
                        _ = try client.receive(through: "hi")
                    }
                    client.close()
                }
            }
            await server.endings.count(reaches: 2)
        }
        let requests = server.requests.snapshot
        #expect(requests.map(\.connection) == [0, 0, 1, 1])
        #expect(requests.map(\.number) == [0, 1, 0, 1])
        for request in requests {
            #expect(request.method == "POST" && request.path == "/echo" && request.query == "a=b")
            #expect(request.bodyText == "hi" && request.bodyLength == 2 && request.fields[name: "host"] == "h")
            #expect(request.tls?.serverName == "name.test" && request.tls?.applicationProtocol == "http/1.1")
        }
    }

    @Test func listensOnEveryKindOfAddress() async throws {
        let folder = try TemporaryFolder()
        let addresses: [LoopbackAddress] = [.ipv4(), .ipv6(), .unix(path: folder.file("socket").path)]
        for address in addresses {
            let server = try LoopbackServer(.init(address), route: Self.route)
            defer { server.stop() }
            #expect(server.address.port != 0)
            let text = try await withTimeout {
                try await onThread {
                    let client = try LoopbackClient(server.address)
                    try client.send("GET /204 HTTP/1.1\r\nHost: h\r\n\r\n")
                    return try client.receive(through: "\r\n\r\n")
                }
            }
            #expect(text == "HTTP/1.1 204 No Content\r\n\r\n", "\(address)")
        }
        #expect(try folder.contents() == [])
    }

    @Test func givesABodyToTheTestPieceByPiece() async throws {
        let received = Box(UInt64(0))
        var options = LoopbackServer.Options()
        options.receiveBody = { _, bytes in received.update { $0 += UInt64(bytes.count) } }
        let server = try LoopbackServer(options) { .text("\($0.bodyLength) \($0.body.count)") }
        defer { server.stop() }
        let count = 1_000_000
        let text = try await withTimeout {
            try await onThread {
                let client = try LoopbackClient(server.address)
                try client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n")
                try client.send([UInt8](repeating: 1, count: count))
                return try client.receiveAll()
            }
        }
        #expect(text.hasSuffix("\r\n\r\n\(count) 0"))
        #expect(received.value == UInt64(count))
    }

    @Test func stopsRoutesThatWait() async throws {
        let waiting = Recorder<String>()
        let server = try LoopbackServer { request in
            waiting.append(request.path)
            switch request.path {
            case "/signal": try request.exchange.wait(for: Signal())
            case "/client": try request.exchange.waitUntilClientCloses()
            default:
                return .stream { writer in while true { try writer.write([UInt8](repeating: 0, count: 65536)) } }
            }
            return .text("never")
        }
        try await withTimeout {
            let clients = try await onThread {
                try ["/signal", "/client", "/stream"].map { path in
                    let client = try StreamSocket(connectingTo: server.address)
                    try client.write(Array("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
                    return client
                }
            }
            await waiting.count(reaches: 3)
            try await onThread { server.stop() }
            #expect(server.endings.count == 3)
            for client in clients { client.close() }
        }
    }

    @Test func servesAThousandConnectionsAndLeavesNothing() async throws {
        let limit = DescriptorCount.raiseLimit()
        let count = min(1000, (limit - 100) / 2)
        try #require(count >= 400)
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        try await withTimeout {
            let (good, open) = try await onThread { () -> (Int, Int) in
                let clients = try (0..<count).map { _ in try LoopbackClient(server.address) }
                for client in clients { try client.send("GET /text HTTP/1.1\r\nHost: h\r\n\r\n") }
                let good = try clients.count { try $0.receive(through: "hello").hasPrefix("HTTP/1.1 200 OK\r\n") }
                let open = server.openings.count - server.endings.count
                server.stop()
                return (good, open)
            }
            #expect(good == count)
            #expect(open == count)
            #expect(server.endings.count == count)
            await #expect(throws: SocketError.self) { try await onThread { _ = try LoopbackClient(server.address) } }
        }
    }
}
