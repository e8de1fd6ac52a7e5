import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// How much of a response's body is put together in memory, and how far a coded one may expand.
@Suite struct BodyLimitTests {
    private static let tooLong = Outcome.failed(.dataLengthExceedsMaximum)

    private static let route: LoopbackServer.Route = { request in
        switch request.path {
        case "/announced":
            // The rest does not come: a client that waits for it waits for ever.
            return .stream(.length(1_001)) { writer in
                try writer.write("a")
                try request.exchange.waitUntilClientCloses()
            }
        case "/gzip":
            return try .gzip([UInt8](repeating: 0x61, count: 1_001))
        case "/parts":
            return .stream(.chunked, type: "multipart/x-mixed-replace; boundary=frame") { writer in
                for letter in ["a", "b", "c"] {
                    let part = String(repeating: letter, count: 900)
                    try writer.write("--frame\r\nContent-Type: text/plain\r\n\r\n\(part)\r\n")
                }
                try writer.write("--frame--\r\n")
            }
        case "/304":
            return ServerResponse(304).adding("Content-Length", "5000")
        case let path:
            let count = Int(path.dropFirst()) ?? 0
            guard request.query == "chunked" else { return .bytes([UInt8](repeating: 0x61, count: count)) }
            return .stream(.chunked) { writer in
                for _ in 0..<count { try writer.write("a") }
            }
        }
    }

    @Test(arguments: BothVersions.all) func collectedBodies(_ version: String) async throws {
        let whole = Outcome.ok(String(repeating: "a", count: 1_000))
        let cases: [(String, String, Outcome)] = [
            ("/1000", "GET", whole), ("/1001", "GET", Self.tooLong), ("/1000?chunked", "GET", whole),
            ("/1001?chunked", "GET", Self.tooLong), ("/gzip", "GET", Self.tooLong),
            ("/5000", "HEAD", .ok("")), ("/304", "GET", .loaded(status: 304, body: "")),
            ("/1000", "POST", whole), ("/1001?chunked", "POST", Self.tooLong),
            ("/parts", "GET", .ok(String(repeating: "c", count: 900))), ("/announced", "GET", Self.tooLong),
        ]
        try await BothVersions.withServer(version, Self.route) {
            $0.maximumCollectedBodySize = 1_000
        } body: { session, server in
            for (path, method, outcome) in cases {
                let body = method == "POST" ? Data("question".utf8) : nil
                let request = try BothVersions.request(server, path, method, body: body)
                #expect(await session.outcome(request) == outcome, "\(path)")
            }
        }
    }

    @Test func everyWayToTakeAWholeBody() async throws {
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        let session = makeSession { configuration in
            configuration.maximumCollectedBodySize = 1_000
            configuration.register(scheme: "own") { load in
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
                for _ in 0..<3 { try await load.receive(Data(count: 500)) }
            }
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let request = try BothVersions.request(server, "/1001?chunked", "POST")
            let body = Data("question".utf8)
            func error(_ load: () async throws -> Void) async -> URLError? {
                await #expect(throws: URLError.self) { try await load() }
            }
            let failures = [
                await error { _ = try await session.data(for: request) },
                await error { _ = try await session.upload(for: request, from: body) },
                await error { _ = try await session.data(from: try #require(URL(string: "own:x"))) },
                await error {
                    let text = String(repeating: "a", count: 1_001)
                    _ = try await session.data(from: try #require(URL(string: "data:,\(text)")))
                },
                await withCheckedContinuation { continuation in
                    session.dataTask(with: request) { data, _, error in
                        #expect(data == nil)
                        continuation.resume(returning: error as? URLError)
                    }.resume()
                },
                await withCheckedContinuation { continuation in
                    session.uploadTask(with: request, from: body) { data, _, error in
                        #expect(data == nil)
                        continuation.resume(returning: error as? URLError)
                    }.resume()
                },
            ]
            for failure in failures {
                #expect(failure?.code == .dataLengthExceedsMaximum)
                #expect(failure?.localizedDescription.contains("configuration.maximumCollectedBodySize") == true)
            }
            // A body that is taken piece by piece has no bound.
            var count = 0
            for try await _ in try await session.bytes(for: request).0 { count += 1 }
            #expect(count == 1_001)
            let (file, _) = try await session.download(for: request)
            #expect(try Data(contentsOf: file).count == 1_001)
            try FileManager.default.removeItem(at: file)
        }
    }

    @Test func whatADelegateTakesHasNoBound() async throws {
        let recorder = TransferRecorder()
        try await BothVersions.withServer("http/1.1", Self.route, delegate: recorder) {
            $0.maximumCollectedBodySize = 0
        } body: { session, server in
            session.dataTask(with: try BothVersions.request(server, "/1001")).resume()
            #expect(await recorder.all().last == "complete ok")
            #expect(recorder.files.snapshot.reduce(0) { $0 + $1.count } == 1_001)
            // Nothing is not too much.
            let empty = try BothVersions.request(server, "/0")
            #expect(await session.outcome(empty) == .ok(""))
        }
    }

    @Test func storedResponsesAreBoundedToo() async throws {
        let server = try LoopbackServer { _ in
            .bytes([UInt8](repeating: 0x61, count: 1_001)).adding("Cache-Control", "max-age=1000")
        }
        defer { server.stop() }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let request = try BothVersions.request(server, "/")
        try await withTimeout {
            let generous = makeSession { $0.urlCache = cache }
            _ = try await generous.data(for: request)
            let strict = makeSession {
                $0.urlCache = cache
                $0.maximumCollectedBodySize = 1_000
            }
            #expect(await strict.outcome(request) == Self.tooLong)
        }
        #expect(server.requests.count == 1)
    }

    // MARK: Codings

    /// So many mebibytes of zeros, as a gzip member for each.
    private static func zeros(_ mebibytes: Int) throws -> [UInt8] {
        let member = try Gzip.compress([UInt8](repeating: 0, count: 1 << 20))
        return (0..<mebibytes).flatMap { _ in member }
    }

    @Test(arguments: BothVersions.all) func bombs(_ version: String) async throws {
        let once = try Self.zeros(64)
        let thrice = try Gzip.compress(try Gzip.compress(once))
        let route: LoopbackServer.Route = { request in
            var response = ServerResponse.bytes(request.path == "/once" ? once : thrice)
            response.fields.set(.contentEncoding, request.path == "/once" ? "gzip" : "gzip, gzip, gzip")
            return response
        }
        for path in ["/once", "/thrice"] {
            try await BothVersions.withServer(version, route) { session, server in
                let request = try BothVersions.request(server, path)
                let error = await #expect(throws: URLError.self) { _ = try await session.data(for: request) }
                #expect(error?.code == .cannotDecodeRawData)
                #expect(error?.localizedDescription.contains("configuration.maximumDecompressionRatio") == true)
                // Whoever takes it.
                let written = await #expect(throws: URLError.self) { _ = try await session.download(for: request) }
                #expect(written?.code == .cannotDecodeRawData)
            }
            try await BothVersions.withServer(version, route) {
                $0.maximumDecompressionRatio = .max
            } body: { session, server in
                let (data, _) = try await session.data(for: try BothVersions.request(server, path))
                #expect(data.count == 64 << 20)
            }
        }
    }

    /// More codings than any server has a reason for are not undone at all.
    @Test func endlessCodings() async throws {
        let body = try Gzip.compress(Array("text".utf8))
        let server = try LoopbackServer { _ in
            var response = ServerResponse.bytes(body)
            response.fields.set(.contentEncoding, Array(repeating: "gzip", count: 5).joined(separator: ", "))
            return response
        }
        defer { server.stop() }
        let (data, _) = try await withTimeout {
            try await makeSession().data(for: try BothVersions.request(server, "/"))
        }
        #expect(Array(data) == body)
    }
}
