import Foundation
import LoadingKit
import LoadingKitContentCoding
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Bodies in each content coding, from a server.
@Suite struct CodedBodyTests {
    private typealias Encoder = @Sendable ([UInt8]) throws -> [UInt8]

    private static let text = (0..<5_000).map { "line \($0) of many\n" }.joined()

    /// The field's value, and what makes such a body: each coding alone, and those beyond the ones of zlib upon gzip.
    private static let codings: [(name: String, encode: Encoder)] =
        ContentCoding.builtIn.map { coding in (coding.rawValue, { try coding.encode($0) }) }
        + ContentCoding.builtIn.filter { ![.gzip, .deflate].contains($0) }.map { coding in
            ("gzip, \(coding.rawValue)", { try coding.encode(Gzip.compress($0)) })
        }

    private static func response(_ body: [UInt8], _ coding: String) -> ServerResponse {
        ServerResponse.bytes(body, type: "text/plain").adding("Content-Encoding", coding)
    }

    private static func coding(_ request: ServerRequest) throws -> (name: String, encode: Encoder) {
        try #require(codings.first { $0.name == request.query?.removingPercentEncoding })
    }

    /// Each path, with the coding as the query: what comes of it.
    private static let cases: [(path: String, method: String, outcome: Outcome)] = [
        ("/whole", "GET", .ok(text)), ("/chunked", "GET", .ok(text)), ("/empty", "GET", .ok("")),
        ("/nothing", "GET", .ok("")), ("/whole", "HEAD", .ok("")), ("/404", "GET", .loaded(status: 404, body: text)),
        ("/truncated", "GET", .failed(.cannotDecodeRawData)), ("/corrupt", "GET", .failed(.cannotDecodeRawData)),
        ("/bomb", "GET", .failed(.cannotDecodeRawData)),
    ]

    private static let route: LoopbackServer.Route = { request in
        let coding = try coding(request)
        let body = try coding.encode(Array(text.utf8))
        switch request.path {
        case "/whole": return response(body, coding.name)
        case "/empty": return response(try coding.encode([]), coding.name)
        case "/nothing": return response([], coding.name)
        case "/truncated": return response(body.dropLast(9), coding.name)
        case "/corrupt": return response(Array("this is in no coding at all".utf8), coding.name)
        case "/bomb": return response(try coding.encode([UInt8](repeating: 0, count: 48 << 20)), coding.name)
        case "/404":
            var response = response(body, coding.name)
            response.status = 404
            return response
        case _:
            return ServerResponse.stream(.chunked, type: "text/plain") { writer in
                for start in stride(from: 0, to: body.count, by: 700) {
                    try writer.write(Array(body[start..<min(start + 700, body.count)]))
                }
            }.adding("Content-Encoding", coding.name)
        }
    }

    /// A program that decodes the body itself, or passes it on, gets it as it came, in every kind of task.
    @Test(arguments: BothVersions.all) func codingsAreKeptWhereTheRequestSaysSo(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            for coding in Self.codings {
                let body = Data(try coding.encode(Array(Self.text.utf8)))
                for path in ["/whole", "/chunked"] {
                    var request = try Self.request(server, path, coding.name)
                    request.setValue(coding.name, forHTTPHeaderField: "Accept-Encoding")
                    // The stored decoded body does not answer this request, nor the other way about.
                    let decoded = try await session.data(for: request).0
                    #expect(String(decoding: decoded, as: UTF8.self) == Self.text)
                    request.keepsContentCodings = true
                    let (data, response) = try await session.data(for: request)
                    #expect(data == body, "\(coding.name) \(path)")
                    let field = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding")
                    #expect(field == coding.name)
                    #expect(response.expectedContentLength == (path == "/whole" ? Int64(body.count) : -1))
                    let (location, _) = try await session.download(for: request)
                    #expect(try Data(contentsOf: location) == body)
                    try FileManager.default.removeItem(at: location)
                    request.keepsContentCodings = false
                    let again = try await session.data(for: request).0
                    #expect(again == decoded)
                }
            }
        }
    }

    @Test(arguments: BothVersions.all) func codingsAreKeptWhereTheSessionSaysSo(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { decoding, server in
            let configuration = decoding.configuration
            configuration.keepsContentCodings = true
            let session = URLSession(configuration: configuration)
            defer { session.finishTasksAndInvalidate() }
            for coding in Self.codings {
                let body = Data(try coding.encode(Array(Self.text.utf8)))
                var request = try Self.request(server, "/whole", coding.name)
                request.setValue(coding.name, forHTTPHeaderField: "Accept-Encoding")
                // They have the cache in common.
                #expect(String(decoding: try await decoding.data(for: request).0, as: UTF8.self) == Self.text)
                #expect(try await session.data(for: request).0 == body)
                #expect(String(decoding: try await decoding.data(for: request).0, as: UTF8.self) == Self.text)
            }
        }
    }

    private static func request(
        _ server: LoopbackServer, _ path: String, _ coding: String, _ method: String = "GET"
    ) throws -> URLRequest {
        let query = try #require(coding.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        return try BothVersions.request(server, "\(path)?\(query)", method)
    }

    @Test(arguments: BothVersions.all) func everyCoding(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            for (coding, _) in Self.codings {
                for (path, method, outcome) in Self.cases {
                    let request = try Self.request(server, path, coding, method)
                    #expect(await session.outcome(request) == outcome, "\(method) \(path) \(coding)")
                }
            }
        }
    }

    /// The announced length is that of the coded body, so that the content's is unknown: of what HEAD would give, too.
    @Test(arguments: BothVersions.all) func lengths(_ version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            for (coding, _) in Self.codings {
                for method in ["GET", "HEAD"] {
                    let (_, response) = try await session.data(for: try Self.request(server, "/whole", coding, method))
                    #expect(response.expectedContentLength == -1, "\(method) \(coding)")
                    let http = try #require(response as? HTTPURLResponse)
                    #expect(http.value(forHTTPHeaderField: "Content-Length") != nil)
                    #expect(http.value(forHTTPHeaderField: "Content-Encoding") == coding)
                }
            }
        }
    }

    /// The program has the bytes that the server has flushed before the rest is sent.
    @Test(arguments: BothVersions.all) func streaming(_ version: String) async throws {
        let plain = (0..<5).map { Array("piece \($0)\n".utf8) }
        var pieces: [String: [[UInt8]]] = [:]
        #if Brotli
            pieces["/br"] = BrotliEncoder.compress(pieces: plain)
        #endif
        #if Zstd
            pieces["/zstd"] = ZstdEncoder.compress(pieces: plain)
        #endif
        let taken = plain.map { _ in pieces.mapValues { _ in Signal() } }
        let route: LoopbackServer.Route = { [pieces] request in
            let body = try #require(pieces[request.path])
            return ServerResponse.stream { writer in
                for (index, piece) in body.enumerated() {
                    try writer.write(piece)
                    try #require(taken[index][request.path]).waitBlocking()
                }
            }.adding("Content-Encoding", String(request.path.dropFirst()))
        }
        try await BothVersions.withServer(version, route) { [pieces] session, server in
            for path in pieces.keys.sorted() {
                var index = 0
                let (bytes, _) = try await session.bytes(for: try BothVersions.request(server, path))
                for try await line in bytes.lines {
                    #expect(line == "piece \(index)")
                    taken[index][path]?.fire()
                    index += 1
                }
                #expect(index == plain.count)
            }
        }
    }
}
