import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// HTTP/2 to servers that others wrote, beside nginx: ``HTTP2LoadTests``.
@Suite(.usesPeers) struct HTTP2ServersTests {
    private static let long = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    private static let text = Array(
        (0..<30_000).map { "line \($0) \(UInt32(truncatingIfNeeded: $0 &* 2_654_435_761))\n" }.joined().utf8)
    private static let files: [String: [UInt8]] = [
        "short": Array("short".utf8), "empty": [], "long": long, "coded.txt": text,
    ]

    private func withServer(
        _ program: HTTP2Server.Program,
        _ body: @escaping @Sendable (URLSession, HTTP2Server) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let server = try await onThread { try HTTP2Server(program, files: Self.files, identity: try authority.issue()) }
        defer { server.stop() }
        let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        try await withTimeout(program.rawValue) { try await body(session, server) }
    }

    private static func request(_ server: HTTP2Server, _ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: server.url(path))))
    }

    @Test(arguments: HTTP2Server.Program.allCases) func downloads(program: HTTP2Server.Program) async throws {
        try await withServer(program) { session, server in
            let (data, response) = try await session.data(for: try Self.request(server, "/long"))
            #expect(Array(data) == Self.long)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length") == "3000001")
            #expect(await session.outcome(try Self.request(server, "/empty")) == .ok(""))
            let (_, missing) = try await session.data(for: try Self.request(server, "/missing"))
            #expect((missing as? HTTPURLResponse)?.statusCode == 404)
        }
    }

    @Test(arguments: HTTP2Server.Program.allCases) func manyAtOnce(program: HTTP2Server.Program) async throws {
        try await withServer(program) { session, server in
            let request = try Self.request(server, "/short")
            let failures = await withTaskGroup(of: String?.self, returning: [String].self) { group in
                for _ in 0..<500 {
                    group.addTask {
                        do {
                            let (data, _) = try await session.data(for: request)
                            return data == Data("short".utf8) ? nil : "\(data.count) bytes"
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: []) { if let failure = $1 { $0.append(failure) } }
            }
            #expect(failures.isEmpty)
        }
    }

    /// Apache, when it compresses what its buffer does not hold, sends DATA after the head of its answer to HEAD.
    @Test(arguments: HTTP2Server.Program.allCases) func heads(program: HTTP2Server.Program) async throws {
        try await withServer(program) { session, server in
            var request = try Self.request(server, "/coded.txt")
            let isCoded = program == .apache
            let (data, got) = try await session.data(for: request)
            #expect(Array(data) == Self.text)
            request.httpMethod = "HEAD"
            for _ in 0..<3 {
                let (nothing, response) = try await session.data(for: request)
                #expect(nothing.isEmpty && response.expectedContentLength == got.expectedContentLength)
                let http = try #require(response as? HTTPURLResponse)
                #expect((http.value(forHTTPHeaderField: "Content-Encoding") == "gzip") == isCoded)
            }
            #expect(await session.outcome(try Self.request(server, "/short")) == .ok("short"))
        }
    }

    /// A task that is cancelled in its body harms none of its connection's others.
    @Test(arguments: HTTP2Server.Program.allCases) func cancelling(program: HTTP2Server.Program) async throws {
        try await withServer(program) { session, server in
            for _ in 0..<10 {
                let (bytes, _) = try await session.bytes(for: try Self.request(server, "/long"))
                var iterator = bytes.makeAsyncIterator()
                #expect(try await iterator.next() == Self.long[0])
                bytes.task.cancel()
                #expect(await session.outcome(try Self.request(server, "/short")) == .ok("short"))
            }
        }
    }

    @Test(arguments: HTTP2Server.Program.allCases.filter(\.echoes))
    func uploads(program: HTTP2Server.Program) async throws {
        try await withServer(program) { session, server in
            for count in [1, 100_000, 3_000_001] {
                for isStreamed in [false, true] {
                    let body = Data(Self.long.prefix(count))
                    var request = try Self.request(server, "/echo")
                    request.httpMethod = "POST"
                    if isStreamed { request.httpBodyStream = InputStream(data: body) } else { request.httpBody = body }
                    let (data, _) = try await session.data(for: request)
                    #expect(data == body, "\(count) \(isStreamed)")
                }
            }
        }
    }
}
