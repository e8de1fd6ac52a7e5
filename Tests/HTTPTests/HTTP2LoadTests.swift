import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// HTTP/2 to a real server.
@Suite struct HTTP2LoadTests {
    private final class Metrics: NSObject, URLSessionTaskDelegate {
        let protocols = Recorder<String>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            protocols.append(metrics.transactionMetrics.last?.networkProtocolName ?? "")
        }
    }

    private func withServer(
        directives: String = "", _ configure: @escaping @Sendable (URLSessionConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (URLSession, String, Metrics) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let server = try await onThread {
            try NginxServer(
                files: ["a": Array("a".utf8), "1k": [UInt8](repeating: 7, count: 1024)],
                identity: try authority.issue(), speaksHTTP2: true, directives: directives)
        }
        defer { server.stop() }
        let base = try #require(server.secureURL(""))
        let metrics = Metrics()
        let session = makeSession(delegate: metrics) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, base, metrics) }
    }

    private func request(_ base: String, _ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: base + path)))
    }

    @Test func theServerChooses() async throws {
        try await withServer { session, base, metrics in
            let request = try request(base, "/a")
            #expect(await session.outcome(request) == .ok("a"))
            #expect(await metrics.protocols.element(at: 0) == "h2")
        }
        try await withServer({ $0.allowsHTTP2 = false }) { session, base, metrics in
            let request = try request(base, "/a")
            #expect(await session.outcome(request) == .ok("a"))
            #expect(await metrics.protocols.element(at: 0) == "http/1.1")
        }
    }

    /// Requests that come while the first handshake is under way share its connection, which has room for 100.
    @Test func manyRequestsShareOneConnection() async throws {
        try await withServer(directives: #"location = /c { return 200 "$connection"; }"#) { session, base, _ in
            let request = try request(base, "/c")
            let connections = await withTaskGroup(of: Outcome.self, returning: Set<String>.self) { group in
                for _ in 0..<100 { group.addTask { await session.outcome(request) } }
                return await group.reduce(into: []) { $0.insert("\($1)") }
            }
            #expect(connections.count == 1, "\(connections)")
        }
    }

    @Test func tenThousandAtOnce() async throws {
        try await withServer { session, base, _ in
            let request = try request(base, "/1k")
            let expected = Outcome.ok(String(repeating: "\u{7}", count: 1024))
            let good = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
                for _ in 0..<10_000 { group.addTask { await session.outcome(request) == expected } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(good == 10_000)
        }
    }

    /// Bodies of every shape arrive, as the server's count of their bytes says.
    @Test func uploads() async throws {
        let directives =
            #"location = /u { client_max_body_size 0; proxy_pass $scheme://$server_addr:$server_port/len; } "#
            + #"location = /len { return 200 "$http_content_length $request_method"; }"#
        try await withServer(directives: directives) { session, base, _ in
            for count in [0, 1, 70_000, 3_000_000] {
                var upload = try request(base, "/u")
                upload.httpMethod = "POST"
                upload.httpBody = Data(count: count)
                #expect(await session.outcome(upload) == .ok("\(count) POST"), "\(count)")
                upload.httpBody = nil
                upload.httpBodyStream = InputStream(data: Data(count: count))
                #expect(await session.outcome(upload) == .ok("\(count) POST"), "\(count)")
            }
        }
    }

    @Test func errorsAndRedirectsAndHEAD() async throws {
        let directives = "location = /r { return 302 /a; } location = /n { return 204; }"
        try await withServer(directives: directives) { session, base, _ in
            let redirect = try request(base, "/r")
            #expect(await session.outcome(redirect) == .ok("a"))
            let empty = try request(base, "/n")
            #expect(await session.outcome(empty) == .loaded(status: 204, body: ""))
            var head = try request(base, "/1k")
            head.httpMethod = "HEAD"
            let (data, response) = try await session.data(for: head)
            #expect(data.isEmpty && response.expectedContentLength == 1024)
            let (_, missing) = try await session.data(for: try request(base, "/missing"))
            #expect((missing as? HTTPURLResponse)?.statusCode == 404)
        }
    }

    /// A server that closes connections after some requests says GOAWAY; nothing is lost.
    @Test func connectionsThatTheServerEnds() async throws {
        try await withServer(directives: "keepalive_requests 10;") { session, base, _ in
            let request = try request(base, "/a")
            let good = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
                for _ in 0..<300 { group.addTask { await session.outcome(request) == .ok("a") } }
                return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(good == 300)
        }
    }

    /// Suspended tasks hold back their own streams alone, however much their servers have to send.
    @Test func suspendedTasksDoNotHoldUpOthers() async throws {
        let authority = try CertificateAuthority()
        let server = try await onThread {
            try NginxServer(
                files: ["long": [UInt8](repeating: 1, count: 20_000_000), "a": Array("a".utf8)],
                identity: try authority.issue(), speaksHTTP2: true)
        }
        defer { server.stop() }
        let base = try #require(server.secureURL(""))
        let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            var iterators: [URLSession.AsyncBytes.AsyncIterator] = []
            var tasks: [URLSessionTask] = []
            for _ in 0..<8 {
                let (bytes, _) = try await session.bytes(for: try request(base, "/long"))
                var iterator = bytes.makeAsyncIterator()
                #expect(try await iterator.next() == 1)
                iterators.append(iterator)
                tasks.append(bytes.task)
            }
            let small = try request(base, "/a")
            for _ in 0..<20 { #expect(await session.outcome(small) == .ok("a")) }
            #expect(tasks.allSatisfy { $0.countOfBytesReceived < 10_000_000 })
            var count = 1
            while try await iterators[3].next() != nil { count += 1 }
            #expect(count == 20_000_000)
        }
    }

    /// Windows grow to what a long way holds: as much is on its way as over HTTP/1.1, which has none of its own.
    @Test func aLongWay() async throws {
        let authority = try CertificateAuthority()
        let body = [UInt8](repeating: 5, count: 60_000_000)
        let server = try await onThread {
            try NginxServer(files: ["long": body], identity: try authority.issue(), speaksHTTP2: true)
        }
        defer { server.stop() }
        let port = try #require(server.httpsPort)
        // Other tests run beside this one, so that one round shows it.
        var rounds: [(one: Int, two: Int)] = []
        repeat {
            let one = try await mostOnTheWay(to: port, body.count, authority) { $0.allowsHTTP2 = false }
            rounds.append((one, try await mostOnTheWay(to: port, body.count, authority) { _ in }))
        } while rounds.count < 10 && !rounds.contains { $0.two * 2 > $0.one }
        #expect(rounds.contains { $0.two * 2 > $0.one }, "\(rounds)")
        // More than a window has that has not grown.
        #expect(rounds.contains { $0.one > 1 << 20 }, "\(rounds)")
    }

    /// Loads the body over a way of 25 ms, and gives how many of its bytes were on their way at once.
    private func mostOnTheWay(
        to port: UInt16, _ expected: Int, _ authority: CertificateAuthority,
        _ configure: (URLSessionConfiguration) -> Void
    ) async throws -> Int {
        let proxy = try DelayingProxy(to: .ipv4(port: port), milliseconds: 25)
        let request = try request("https://localhost:\(try #require(proxy.address.port))", "/long")
        let session = makeSession {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        try await withTimeout {
            let count = try await session.data(for: request).0.count
            #expect(count == expected)
        }
        session.invalidateAndCancel()
        // Its connections have ended then.
        try await onThread { proxy.stop() }
        return proxy.mostToClient
    }
}
