import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// A session treats responses alike over HTTP/1.1 and HTTP/2: one body of each test runs over both.
@Suite struct BothVersionsSessionTests {
    @Sendable private static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/redirect": return .redirect(to: "/new", status: request.query.flatMap { Int($0) } ?? 302)
        case "/long":
            return .stream { writer in for _ in 0..<40 { try writer.write([UInt8](repeating: 1, count: 5000)) } }
        case "/lines": return .text("one\ntwo\r\nthree")
        case "/breaksOff":
            return .stream(.length(1000)) { writer in
                try writer.write("begun")
                try writer.request.exchange.closeAbruptly()
            }
        case "/reset": try request.exchange.reset()
        default: return .text("\(request.method) \(request.path) \(request.bodyText)")
        }
    }

    @Test(arguments: BothVersions.all) func redirectsKeepOrChangeTheMethod(version: String) async throws {
        try await BothVersions.withServer(version, Self.answer) { session, server in
            for redirect in RedirectCase.all {
                let hasBody = ["POST", "PUT"].contains(redirect.method)
                let request = try BothVersions.request(
                    server, "/redirect?\(redirect.status)", redirect.method, body: hasBody ? Data("body".utf8) : nil)
                let expected =
                    redirect.expected == "HEAD"
                    ? "" : "\(redirect.expected) /new \(redirect.keepsBody ? "body" : "")"
                #expect(await session.outcome(request) == .ok(expected), "\(redirect)")
                let last = try #require(server.requests.last)
                #expect(last.method == redirect.expected && last.path == "/new", "\(redirect)")
                #expect(last.fields.contains(.contentType) == redirect.keepsBody, "\(redirect)")
            }
        }
    }

    @Test(arguments: BothVersions.all) func credentialsStayWithTheirOrigin(version: String) async throws {
        let other = try LoopbackServer { .text($0.fields[.authorization] ?? "none") }
        defer { other.stop() }
        let location = other.url("/", host: "127.0.0.1")
        let route: LoopbackServer.Route = { request in
            request.path == "/away"
                ? .redirect(to: location) : .text(request.fields[.authorization] ?? "none")
        }
        try await BothVersions.withServer(version, route) { session, server in
            for (path, seen) in [("/", "secret"), ("/away", "none")] {
                var request = try BothVersions.request(server, path)
                request.setValue("secret", forHTTPHeaderField: "Authorization")
                #expect(await session.outcome(request) == .ok(seen), "\(path)")
            }
        }
    }

    /// Records what a delegate is told.
    private class Events: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // constants
        let events = Recorder<String>()
        let received = Recorder<Int>()
        let metrics = Recorder<URLSessionTaskMetrics>()
        let disposition: URLSession.ResponseDisposition
        let followsRedirects: Bool

        init(_ disposition: URLSession.ResponseDisposition = .allow, followsRedirects: Bool = true) {
            self.disposition = disposition
            self.followsRedirects = followsRedirects
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            events.append("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            completionHandler(disposition)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isFirst = received.count == 0
            received.append(data.count)
            if isFirst { events.append("data") }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            events.append("redirect \(response.statusCode) \(request.url?.path ?? "")")
            completionHandler(followsRedirects ? request : nil)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self.metrics.append(metrics)
            events.append("metrics")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.append("complete \(((error as? URLError)?.code.rawValue).map { "\($0)" } ?? "ok")")
        }

        func all() async -> [String] { await upTo("complete") }

        /// The record once an event begins with these words.
        @discardableResult
        func upTo(_ beginning: String) async -> [String] {
            var index = 0
            while let event = await events.element(at: index), !event.hasPrefix(beginning) { index += 1 }
            return events.snapshot
        }
    }

    @Test(arguments: BothVersions.all) func delegatesAreToldInOrder(version: String) async throws {
        let cases: [(path: String, Events, [String])] = [
            ("/long", Events(), ["response 200", "data", "metrics", "complete ok"]),
            ("/long", Events(.cancel), ["response 200", "metrics", "complete -999"]),
            ("/redirect", Events(), ["redirect 302 /new", "response 200", "data", "metrics", "complete ok"]),
            (
                "/redirect", Events(followsRedirects: false),
                ["redirect 302 /new", "response 302", "metrics", "complete ok"]
            ),
            ("/breaksOff", Events(), ["response 200", "data", "metrics", "complete -1005"]),
            ("/reset", Events(), ["metrics", "complete -1005"]),
        ]
        try await BothVersions.withServer(version, Self.answer) { session, server in
            for (path, events, expected) in cases {
                let task = session.dataTask(with: try BothVersions.request(server, path))
                task.delegate = events
                task.resume()
                #expect(await events.all() == expected, "\(path)")
                if path == "/long", events.disposition == .allow {
                    #expect(events.received.snapshot.reduce(0, +) == 200_000)
                    #expect(task.countOfBytesReceived == 200_000)
                }
            }
        }
    }

    @Test(arguments: BothVersions.all) func metricsTellOfTheConnection(version: String) async throws {
        let events = Events()
        try await BothVersions.withServer(version, Self.answer, delegate: events) { session, server in
            for isReused in [false, true] {
                let request = try BothVersions.request(server, "/a", "POST", body: Data("12345".utf8))
                #expect(await session.outcome(request) == .ok("POST /a 12345"))
                let metrics = try #require(await events.metrics.element(at: isReused ? 1 : 0))
                let transaction = try #require(metrics.transactionMetrics.first)
                #expect(transaction.networkProtocolName == version)
                #expect(transaction.isReusedConnection == isReused)
                #expect((transaction.connectStartDate == nil) == isReused)
                #expect(transaction.countOfRequestBodyBytesSent == (version == "h2" ? 14 : 5))
                #expect(transaction.countOfRequestHeaderBytesSent > 0)
                #expect(transaction.countOfResponseBodyBytesReceived == (version == "h2" ? 31 : 13))
                #expect(transaction.negotiatedTLSProtocolVersion == .TLSv13)
                let times = [
                    transaction.fetchStartDate, transaction.requestStartDate, transaction.requestEndDate,
                    transaction.responseStartDate, transaction.responseEndDate,
                ]
                let known = times.compactMap { $0 }
                #expect(known.count == times.count && known == known.sorted())
            }
        }
    }

    /// Nothing is lost of what came before a connection broke, however late the delegate answers.
    @Test(arguments: BothVersions.all) func whatCameBeforeABreakIsDelivered(version: String) async throws {
        final class Late: Events, @unchecked Sendable {  // as its superclass
            let answers = Recorder<@Sendable () -> Void>()

            override func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
                completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
            ) { answers.append { completionHandler(.allow) } }
        }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await BothVersions.withServer(version, Self.answer, on: loop) { session, server in
            let delegate = Late()
            let task = session.dataTask(with: try BothVersions.request(server, "/breaksOff"))
            task.delegate = delegate
            task.resume()
            let answer = try #require(await delegate.answers.element(at: 0))
            await server.endings.count(reaches: 1)
            // Longer than an HTTP/2 connection is not read from for one who takes nothing; then it is read to its end.
            time.advance(by: .seconds(2))
            for _ in 0..<3 { _ = await session.allTasks }
            answer()
            #expect(await delegate.all() == ["data", "metrics", "complete -1005"])
        }
    }

    @Test(arguments: BothVersions.all) func bytesAreReadAsLines(version: String) async throws {
        try await BothVersions.withServer(version, Self.answer) { session, server in
            let (bytes, _) = try await session.bytes(for: try BothVersions.request(server, "/lines"))
            var lines: [String] = []
            for try await line in bytes.lines { lines.append(line) }
            #expect(lines == ["one", "two", "three"])
        }
    }

    /// A suspended task is told nothing, and goes on where it was.
    @Test(arguments: BothVersions.all) func suspendingHoldsBack(version: String) async throws {
        let isSuspended = Signal()
        let route: LoopbackServer.Route = { request in
            guard request.path == "/long" else { return .text("other") }
            return .stream { writer in
                try writer.write([UInt8](repeating: 1, count: 5000))
                try writer.wait(for: isSuspended)
                // Not more than a stream's window: the server answers one request after the other.
                for _ in 0..<19 { try writer.write([UInt8](repeating: 1, count: 5000)) }
            }
        }
        try await BothVersions.withServer(version, route) { session, server in
            let events = Events()
            let task = session.dataTask(with: try BothVersions.request(server, "/long"))
            task.delegate = events
            task.resume()
            await events.upTo("data")
            task.suspend()
            isSuspended.fire()
            // Another task's load, from its beginning to its end; then what was under way has been told.
            #expect(await session.outcome(try BothVersions.request(server, "/b")) == .ok("other"))
            let before = events.received.snapshot.reduce(0, +)
            #expect(await session.outcome(try BothVersions.request(server, "/b")) == .ok("other"))
            #expect(task.state == .suspended, "\(events.events.snapshot)")
            #expect(events.received.snapshot.reduce(0, +) == before)
            task.resume()
            #expect(await events.all().last == "complete ok")
            #expect(events.received.snapshot.reduce(0, +) == 100_000)
        }
    }

    /// Nor is it told of a response that comes meanwhile.
    @Test(arguments: BothVersions.all) func suspendingBeforeTheResponse(version: String) async throws {
        let (isAsked, isSuspended) = (Signal(), Signal())
        let route: LoopbackServer.Route = { request in
            guard request.path == "/late" else { return .text("other") }
            isAsked.fire()
            try request.exchange.wait(for: isSuspended)
            return .text("late")
        }
        try await BothVersions.withServer(version, route) { session, server in
            let events = Events()
            let task = session.dataTask(with: try BothVersions.request(server, "/late"))
            task.delegate = events
            task.resume()
            await isAsked.wait()
            task.suspend()
            // The note of it has arrived when this has.
            _ = await session.allTasks
            isSuspended.fire()
            #expect(await session.outcome(try BothVersions.request(server, "/b")) == .ok("other"))
            #expect(await session.outcome(try BothVersions.request(server, "/b")) == .ok("other"))
            #expect(events.events.snapshot.isEmpty)
            task.resume()
            #expect(await events.all() == ["response 200", "data", "metrics", "complete ok"])
        }
    }

    /// A body's stream that a redirect needs again is asked for.
    @Test(arguments: BothVersions.all) func aBodyStreamIsAskedForAgain(version: String) async throws {
        final class Giver: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) {
                completionHandler(InputStream(data: Data("again".utf8)))
            }
        }
        try await BothVersions.withServer(version, Self.answer) { session, server in
            let request = try BothVersions.request(
                server, "/redirect?307", "POST", body: Data("first".utf8), isStreamed: true)
            let (data, _) = try await session.data(for: request, delegate: Giver())
            #expect(String(decoding: data, as: UTF8.self) == "POST /new again")
            #expect(server.requests.snapshot.map(\.bodyText) == ["first", "again"])
        }
    }

    /// A server that wants a request over HTTP/1.1 gets it so.
    @Test func http11MayBeRequired() async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"])
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { request in
            guard request.tls?.applicationProtocol == "h2" else { return .text("over HTTP/1.1") }
            // Over HTTP/2 the loopback server can only refuse that.
            return ServerResponse(body: .takeOver { _ in })
        }
        defer { server.stop() }
        let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for _ in 0..<3 {
                let request = try BothVersions.request(server, "/", "POST", body: Data("x".utf8))
                #expect(await session.outcome(request) == .ok("over HTTP/1.1"))
            }
            #expect(server.requests.snapshot.filter { $0.tls?.applicationProtocol == "h2" }.count == 1)
        }
    }
}
