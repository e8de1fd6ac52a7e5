import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// A server's response has the same result over HTTP/1.1 and HTTP/2: one body of each test runs over both.
@Suite struct BothVersionsTests {
    private static let long = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    @Sendable private static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/text": return .text("hello")
        case "/empty": return .text("")
        case "/204": return ServerResponse(204)
        case "/404": return .text("nothing", status: 404)
        case "/long": return .bytes(long)
        case "/gzip": return try .gzip(long)
        case "/stream": return .stream { for _ in 0..<50 { try $0.write([UInt8](repeating: 1, count: 4000)) } }
        case "/trailers":
            var response = ServerResponse.stream { try $0.write("body") }
            response.trailers.append(name: "x-sum", value: "1")
            return response
        case "/interim":
            var response = ServerResponse.text("after")
            response.interim = [.init(103), .init(103)]
            return response
        case "/302": return .redirect(to: "/text")
        case "/307": return .redirect(to: "/echo", status: 307)
        case "/loop": return .redirect(to: "/loop")
        case "/fields":
            return .text(request.fields.values(named: "x-a").joined(separator: "|"))
                .adding("X-One", "1").adding("Set-Cookie", "a=b").adding("Set-Cookie", "c=d")
        case "/echo":
            return .text("\(request.method) \(request.bodyLength) \(request.fields[.contentType] ?? "")")
        default: return .text("\(request.method) \(request.target) \(request.fields[.host] ?? "")")
        }
    }

    private func withServer(
        _ version: String, _ body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        try await BothVersions.withServer(version, Self.answer, body: body)
    }

    @Test(arguments: BothVersions.all) func answers(version: String) async throws {
        try await withServer(version) { session, server in
            let expected: [(String, Outcome)] = [
                ("/text", .ok("hello")), ("/empty", .ok("")), ("/204", .loaded(status: 204, body: "")),
                ("/404", .loaded(status: 404, body: "nothing")), ("/trailers", .ok("body")), ("/interim", .ok("after")),
                ("/302", .ok("hello")), ("/loop", .failed(.httpTooManyRedirects)),
                ("/stream", .ok(String(repeating: "\u{1}", count: 200_000))),
                ("/x?y=z#f", .ok("GET /x?y=z localhost:\(server.address.port ?? 0)")),
            ]
            for (path, outcome) in expected {
                let request = try BothVersions.request(server, path)
                #expect(await session.outcome(request) == outcome, "\(path)")
            }
            for path in ["/long", "/gzip"] {
                let (data, response) = try await session.data(for: try BothVersions.request(server, path))
                #expect(Array(data) == Self.long, "\(path)")
                #expect(response.expectedContentLength == (path == "/long" ? Int64(data.count) : -1), "\(path)")
            }
            let (none, response) = try await session.data(for: try BothVersions.request(server, "/long", "HEAD"))
            #expect(none.isEmpty && response.expectedContentLength == Int64(Self.long.count))
        }
    }

    @Test(arguments: BothVersions.all) func fields(version: String) async throws {
        try await withServer(version) { session, server in
            var request = try BothVersions.request(server, "/fields")
            request.addValue("1", forHTTPHeaderField: "X-A")
            request.setValue("close", forHTTPHeaderField: "Connection")
            let (data, response) = try await session.data(for: request)
            #expect(String(decoding: data, as: UTF8.self) == "1")
            let http = try #require(response as? HTTPURLResponse)
            #expect(http.value(forHTTPHeaderField: "x-ONE") == "1")
            #expect(http.value(forHTTPHeaderField: "Set-Cookie") == "a=b, c=d")
            let seen = try #require(server.requests.last)
            #expect(seen.fields.contains(.userAgent) && seen.fields.contains(.acceptEncoding))
            #expect(version == "http/1.1" || !seen.fields.contains(.connection))
        }
    }

    /// A field that would be read as another is refused before anything is sent.
    @Test(arguments: BothVersions.all) func requestsThatCannotBeSent(version: String) async throws {
        try await withServer(version) { session, server in
            for value in ["a\r\nb: c", "a\nb", "a\0b"] {
                var request = try BothVersions.request(server, "/fields")
                request.setValue(value, forHTTPHeaderField: "X-A")
                #expect(await session.outcome(request) == .failed(.badURL), "\(value.debugDescription)")
            }
            for method in ["GE T", "GET\r\nA: b", "G\0T"] {
                let request = try BothVersions.request(server, "/fields", method)
                #expect(await session.outcome(request) == .failed(.badURL), "\(method.debugDescription)")
            }
            for name in ["a b", "a:b", "a\r\nb", "é"] {
                var request = try BothVersions.request(server, "/fields")
                request.setValue("x", forHTTPHeaderField: name)
                #expect(await session.outcome(request) == .failed(.badURL), "\(name.debugDescription)")
            }
            #expect(server.requests.count == 0)
            // White space around a value is not part of it (RFC 9110 §5.5).
            var request = try BothVersions.request(server, "/fields")
            request.setValue(" \t x y \t", forHTTPHeaderField: "X-A")
            #expect(await session.outcome(request) == .ok("x y"))
        }
    }

    @Test(arguments: BothVersions.all) func bodies(version: String) async throws {
        let form = "application/x-www-form-urlencoded"
        try await withServer(version) { session, server in
            for count in [0, 1, 100_000, 2_000_000] {
                for isStreamed in [false, true] {
                    let upload = try BothVersions.request(
                        server, "/echo", "POST", body: Data(count: count), isStreamed: isStreamed)
                    // Data that are none need no type; of a stream nobody knows.
                    let type = count == 0 && !isStreamed ? "" : form
                    #expect(await session.outcome(upload) == .ok("POST \(count) \(type)"), "\(count), \(isStreamed)")
                }
            }
            let redirected = try BothVersions.request(server, "/307", "PUT", body: Data(count: 70_000))
            #expect(await session.outcome(redirected) == .ok("PUT 70000 \(form)"))
        }
    }

    @Test(arguments: BothVersions.all) func cancellingInTheBodyHarmsNobodyElse(version: String) async throws {
        try await withServer(version) { session, server in
            for _ in 0..<20 {
                let (bytes, _) = try await session.bytes(for: try BothVersions.request(server, "/long"))
                var iterator = bytes.makeAsyncIterator()
                #expect(try await iterator.next() != nil)
                bytes.task.cancel()
                let request = try BothVersions.request(server, "/text")
                #expect(await session.outcome(request) == .ok("hello"))
            }
        }
    }

    private static let hosts: [(ofSession: String?, ofRequest: String?)] = [
        (nil, nil), ("session.example", nil), (nil, "own.example"), ("a.example", "b.example"),
    ]

    /// A request has one host: its own, the session's, or the URL's. Over HTTP/2 it is `:authority`.
    @Test(arguments: BothVersions.all) func aProgramsOwnHostIsSentOnce(version: String) async throws {
        for (ofSession, ofRequest) in Self.hosts {
            try await BothVersions.withServer(
                version, { .text($0.fields.values(named: "host").joined(separator: "|")) },
                { $0.httpAdditionalHeaders = ofSession.map { ["Host": $0, "Connection": "close"] } }
            ) { session, server in
                var request = try BothVersions.request(server, "/")
                request.setValue(ofRequest, forHTTPHeaderField: "Host")
                let port = try #require(request.url?.port)
                let expected = ofRequest ?? ofSession ?? "localhost:\(port)"
                for _ in 0..<2 { #expect(await session.outcome(request) == .ok(expected)) }
                #expect(Set(server.requests.snapshot.map(\.connection)).count == 1)
            }
        }
    }
}
