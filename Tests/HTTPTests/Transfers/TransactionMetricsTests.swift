import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The transactions of tasks of every kind, as the metrics have them.
@Suite(.timeLimit(.minutes(5))) struct TransactionMetricsTests {
    /// A transaction as a row: status, protocol, where it came from, whether its connection was reused, and which of the
    /// dates there are: fetch, lookup, connection, TLS, request, response.
    private static func row(_ transaction: URLSessionTaskTransactionMetrics) -> String {
        let status = (transaction.response as? HTTPURLResponse).map { "\($0.statusCode)" } ?? "-"
        let source = ["unknown", "network", "push", "cache"][transaction.resourceFetchType.rawValue]
        let dates: [(String, Date?, Date?)] = [
            ("fetch", transaction.fetchStartDate, transaction.fetchStartDate),
            ("lookup", transaction.domainLookupStartDate, transaction.domainLookupEndDate),
            ("connect", transaction.connectStartDate, transaction.connectEndDate),
            ("tls", transaction.secureConnectionStartDate, transaction.secureConnectionEndDate),
            ("request", transaction.requestStartDate, transaction.requestEndDate),
            ("response", transaction.responseStartDate, transaction.responseEndDate),
        ]
        let names = dates.compactMap { name, start, end -> String? in
            guard let start else { return end == nil ? nil : "\(name)?" }
            guard let end else { return "\(name)…" }
            return end < start ? "\(name)!" : name
        }
        return
            "\(status) \(transaction.networkProtocolName ?? "-") \(source)\(transaction.isReusedConnection ? " reused" : "")"
            + " " + names.joined(separator: " ")
    }

    private static let all = "fetch lookup connect tls request response"
    private static let reused = "fetch request response"

    private static func rows(_ recorder: TransferRecorder, _ number: Int = 0) async -> [String] {
        await recorder.metrics.element(at: number)?.transactionMetrics.map(row) ?? []
    }

    private static let route: LoopbackServer.Route = { request in
        switch request.path {
        case "/redirect": return .redirect(to: "/")
        case "/basic":
            if request.fields[.authorization] != nil { return .text("welcome") }
            return ServerResponse.text("who?", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        case "/fresh": return ServerResponse.text("fresh").adding("Cache-Control", "max-age=1000")
        case "/stale": return ServerResponse.text("stale").adding("ETag", "\"a\"").adding("Cache-Control", "no-cache")
        case "/half":
            return .stream(.length(10)) { writer in
                try writer.write("first")
                try writer.waitUntilClientCloses()
            }
        default: return .text("hello")
        }
    }

    // MARK: Which there are

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The rows, in which `@` is the version of HTTP.
        let expected: [String]
        var redirects = 0
        /// Tasks before the one that counts.
        var earlier = 0
        let run: @Sendable (URLSession, LoopbackServer) async throws -> URLSessionTask
    }

    static let cases = [
        Case(testDescription: "a plain load", expected: ["200 @ network \(all)"]) {
            $0.dataTask(with: try BothVersions.request($1, "/"))
        },
        Case(
            testDescription: "a redirect", expected: ["302 @ network \(all)", "200 @ network reused \(reused)"],
            redirects: 1
        ) { $0.dataTask(with: try BothVersions.request($1, "/redirect")) },
        Case(testDescription: "a challenge", expected: ["401 @ network \(all)", "200 @ network reused \(reused)"]) {
            var request = try BothVersions.request($1, "/basic")
            request.url = URL(
                string: request.url?.absoluteString.replacing("//", with: "//u:p@", maxReplacements: 1) ?? "")
            return $0.dataTask(with: request)
        },
        Case(testDescription: "from the cache", expected: ["200 - cache fetch response"], earlier: 1) {
            _ = try await $0.data(for: BothVersions.request($1, "/fresh"))
            return $0.dataTask(with: try BothVersions.request($1, "/fresh"))
        },
        Case(testDescription: "an upload", expected: ["200 @ network \(all)"]) {
            $0.uploadTask(with: try BothVersions.request($1, "/", "PUT"), from: Data("body".utf8))
        },
        Case(testDescription: "a download", expected: ["200 @ network \(all)"]) {
            $0.downloadTask(with: try BothVersions.request($1, "/"))
        },
        Case(testDescription: "cancelled before it is resumed", expected: []) {
            let task = $0.dataTask(with: try BothVersions.request($1, "/"))
            task.cancel()
            return task
        },
        Case(testDescription: "data", expected: ["- - unknown fetch response"]) { session, _ in
            session.dataTask(with: try #require(URL(string: "data:,hello")))
        },
        Case(testDescription: "a scheme that nobody loads", expected: []) { session, _ in
            session.dataTask(with: try #require(URL(string: "nobody:hello")))
        },
    ]

    @Test(arguments: cases, BothVersions.all) func transactions(_ test: Case, _ version: String) async throws {
        let recorder = TransferRecorder()
        try await BothVersions.withServer(
            version, Self.route, delegate: recorder,
            { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }
        ) { session, server in
            let before = Date()
            let task = try await test.run(session, server)
            task.resume()
            let events = await recorder.all()
            let metrics = try #require(recorder.metrics.snapshot.last)
            let rows = metrics.transactionMetrics.map(Self.row)
            #expect(rows == test.expected.map { $0.replacing("@", with: version) })
            #expect(metrics.redirectCount == test.redirects)
            #expect(metrics.taskInterval.start >= before && metrics.taskInterval.end <= Date())
            // Once, and just before the end.
            #expect(events.suffix(2).first == "metrics" && events.count { $0 == "metrics" } == test.earlier + 1)
        }
    }

    /// From the task's making on, not from when it is resumed.
    @Test func theIntervalBeginsWithTheTask() async throws {
        let server = try LoopbackServer(route: Self.route)
        defer { server.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder)
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            let made = Date()
            while Date() == made {}
            task.resume()
            let metrics = try #require(await recorder.metrics.element(at: 0))
            #expect(metrics.taskInterval.start <= made)
        }
    }

    /// A connection that turns out to be dead is a transaction of its own.
    @Test func aRequestThatIsSentAgain() async throws {
        let peer = try ScriptedPeer(
            scripts: [
                [.expectRequest, .respond("first"), .expectRequest, .reset], [.expectRequest, .respond("second")],
            ])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            for (number, expected) in [
                ["200 http/1.1 network fetch connect request response"],
                ["- http/1.1 network reused fetch request", "200 http/1.1 network fetch connect request response"],
            ].enumerated() {
                session.dataTask(with: peer.request()).resume()
                let rows = await Self.rows(recorder, number)
                #expect(rows == expected)
            }
        }
    }

    /// A connection that is lost before it has taken anything leaves no dates in the transaction, whose next connection
    /// fails.
    @Test func aConnectionThatTookNothing() async throws {
        let (firstMayEnd, isHeld) = (Signal(), Signal())
        let script: [ScriptedPeer.Step] = [
            .expectRequest, .waitFor(firstMayEnd), .respond("first"), .waitFor(isHeld), .close,
        ]
        let peer = try ScriptedPeer(scripts: [script], further: .refuse)
        defer { peer.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder) { $0.httpMaximumConnectionsPerHost = 1 }
            defer { session.invalidateAndCancel() }
            async let first = session.data(for: peer.request())
            await peer.requestCount(reaches: 1)
            let task = session.uploadTask(with: peer.request(method: "POST"), from: Data("body".utf8))
            task.resume()
            // The loop has done what was asked of it before once it answers this: the upload waits for the connection.
            _ = await session.allTasks
            task.suspend()
            _ = await session.allTasks
            firstMayEnd.fire()
            _ = try await first
            isHeld.fire()
            try await waitUntil { await session.statistics.connections.closed["lost"] == 1 }
            task.resume()
            let transactions = try #require(await recorder.metrics.element(at: 1)?.transactionMetrics)
            let transaction = try #require(transactions.first)
            #expect(transactions.count == 1 && transaction.connectStartDate != nil)
            #expect(transaction.requestStartDate == nil && !transaction.isReusedConnection)
        }
    }

    /// The metrics of a transaction that is interrupted.
    @Test(arguments: BothVersions.all) func aTaskThatIsCancelled(_ version: String) async throws {
        let recorder = TransferRecorder()
        try await BothVersions.withServer(version, Self.route, delegate: recorder) { session, server in
            let task = session.dataTask(with: try BothVersions.request(server, "/half"))
            task.resume()
            _ = await recorder.events.contents { $0.contains("data") }
            task.cancel()
            #expect(await Self.rows(recorder) == ["200 \(version) network fetch lookup connect tls request response…"])
        }
    }

    /// The server does not know `Expect`, and is asked again without.
    @Test func anExpectationThatIsRefused() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectHead, .send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"), .close],
            [.expectRequest, .respond("ok")],
        ])
        defer { peer.stop() }
        // The time to wait for the server's word is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder, on: loop)
            defer { session.invalidateAndCancel() }
            session.uploadTask(with: peer.request(method: "PUT"), from: Data(count: 2 << 20)).resume()
            let statuses = await recorder.metrics.element(at: 0)?.transactionMetrics.map {
                ($0.response as? HTTPURLResponse)?.statusCode
            }
            #expect(statuses == [417, 200])
        }
    }

    /// The metrics of a connection that is not made.
    @Test func aConnectionThatFails() async throws {
        let authority = try CertificateAuthority()
        let untrusted = try ScriptedPeer([.readUntilClose], tls: TLSServerOptions(try authority.issue()))
        let secure = untrusted.url(host: "localhost")
        let refused = "http://localhost:\(try RefusingPort.keepOne())/"
        defer { untrusted.stop() }
        try await withTimeout {
            for (url, expected) in [
                (refused, "- - network fetch lookup connect…"), (secure, "- - network fetch lookup connect… tls…"),
            ] {
                let recorder = TransferRecorder()
                let session = makeSession(delegate: recorder)
                defer { session.invalidateAndCancel() }
                session.dataTask(with: try #require(URL(string: url))).resume()
                let rows = await Self.rows(recorder)
                #expect(rows == [expected])
            }
        }
    }

    /// Of a name that no resolver is asked for.
    @Test(arguments: ["https", "ftps", "wss"]) func aNameThatIsNotFound(_ scheme: String) async throws {
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let host = String(repeating: "a.", count: 150) + "invalid"
            let url = try #require(URL(string: "\(scheme)://\(host)/"))
            let task: URLSessionTask =
                scheme == "wss" ? session.webSocketTask(with: url) : session.dataTask(with: url)
            task.resume()
            let transaction = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.first)
            let start = try #require(transaction.domainLookupStartDate)
            #expect(try #require(transaction.domainLookupEndDate) >= start)
            #expect(transaction.connectStartDate == nil && transaction.requestStartDate == nil)
        }
    }

    /// The connection that a program takes over ends with its own metrics.
    @Test func aStreamTaskThatIsCaptured() async throws {
        let peer = try ScriptedPeer([.hold])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = StreamingRecorder()
            let session = makeSession(delegate: recorder)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: peer.url()))
            let task = session.streamTask(withHostName: try #require(url.host), port: try #require(url.port))
            task.resume()
            task.captureStreams()
            let events = await recorder.events.contents { $0.contains("streams") }
            #expect(events == ["metrics", "streams"])
            #expect(recorder.metrics.snapshot.first?.transactionMetrics.isEmpty == true)
        }
    }

    /// An interim response with the beginning of a head, and the head's rest. Over HTTP/2: SETTINGS, and HEADERS of stream 1
    /// with `:status: 103` and with `:status: 200`.
    private static let splitHeads: [String: ([UInt8], [UInt8])] = [
        "http/1.1": (
            Array("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n".utf8),
            Array("Content-Length: 0\r\n\r\n".utf8)
        ),
        "h2": (
            [
                0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 1, 4, 0, 0, 0, 1, 8, 3, 49, 48, 51, 0, 0, 1, 1, 5, 0, 0, 0, 1,
            ], [0x88]
        ),
    ]

    /// The date of the response's first byte, and not that of the end of its head.
    @Test(arguments: BothVersions.all) func aHeadInTwoParts(_ version: String) async throws {
        let (first, rest) = try #require(Self.splitHeads[version])
        let mayGoOn = Signal()
        let peer = try ScriptedPeer([.expectAnything, .send(first), .waitFor(mayGoOn), .send(rest), .hold])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        try await withTimeout(version) {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder, on: loop) { $0.assumesCleartextHTTP2 = version == "h2" }
            session.dataTask(with: peer.request()).resume()
            _ = await recorder.events.contents { $0.contains { $0.hasPrefix("informational") } }
            // All that has come is read.
            _ = await session.allTasks
            time.advance(by: .seconds(1))
            _ = await session.allTasks
            mayGoOn.fire()
            let transaction = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.first)
            #expect(transaction.networkProtocolName == version)
            let start = try #require(transaction.responseStartDate)
            #expect(try #require(transaction.responseEndDate).timeIntervalSince(start) > 0.9)
        }
    }

    // MARK: What they say

    /// Bytes of heads, and of bodies with what frames them.
    @Test func bytesOnTheWire() async throws {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        let chunks = "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: yes\r\n\r\n"
        for isWhole in [true, false] {
            let text = interim + head + chunks
            let peer = try ScriptedPeer([.expectRequest, isWhole ? .send(text) : .sendByteByByte(Array(text.utf8))])
            defer { peer.stop() }
            try await withTimeout {
                let recorder = TransferRecorder(streams: [{ InputStream(data: Data("0123456789".utf8)) }])
                let session = makeSession(delegate: recorder)
                defer { session.invalidateAndCancel() }
                var request = peer.request(method: "PUT")
                request.setValue("", forHTTPHeaderField: "Expect")
                session.uploadTask(withStreamedRequest: request).resume()
                let transaction = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.first)
                let sent = try #require(await peer.receivedRequest(0))
                #expect(sent.bodyText == "0123456789")
                #expect(transaction.countOfRequestBodyBytesBeforeEncoding == 10)
                #expect(transaction.countOfRequestBodyBytesSent == Int64("a\r\n0123456789\r\n0\r\n\r\n".utf8.count))
                #expect(transaction.countOfResponseHeaderBytesReceived == Int64((interim + head).utf8.count))
                #expect(transaction.countOfResponseBodyBytesReceived == Int64(chunks.utf8.count))
                #expect(transaction.countOfResponseBodyBytesAfterDecoding == 11)
            }
        }
    }

    @Test func bytesOfFrames() async throws {
        let recorder = TransferRecorder()
        let route: LoopbackServer.Route = { _ in try .gzip([UInt8](repeating: 65, count: 10_000)) }
        let compressed = try Int64(Gzip.compress([UInt8](repeating: 65, count: 10_000)).count)
        try await BothVersions.withServer("h2", route, delegate: recorder) { session, server in
            let request = try BothVersions.request(server, "/", "PUT")
            session.uploadTask(with: request, from: Data(count: 100)).resume()
            let transaction = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.first)
            // A frame's head has 9 bytes (RFC 9113 §4.1).
            #expect(transaction.countOfRequestBodyBytesSent == 109)
            #expect(transaction.countOfRequestBodyBytesBeforeEncoding == 100)
            #expect(transaction.countOfRequestHeaderBytesSent > 9)
            #expect(transaction.countOfResponseHeaderBytesReceived > 9)
            #expect(transaction.countOfResponseBodyBytesReceived >= compressed + 9)
            #expect(transaction.countOfResponseBodyBytesReceived <= compressed + 18)
            #expect(transaction.countOfResponseBodyBytesAfterDecoding == 10_000)
        }
    }

    @Test(arguments: BothVersions.all) func theConnection(_ version: String) async throws {
        let recorder = TransferRecorder()
        try await BothVersions.withServer(version, Self.route, delegate: recorder) { session, server in
            session.dataTask(with: try BothVersions.request(server, "/")).resume()
            let transaction = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.first)
            #expect(transaction.localAddress == "127.0.0.1" && transaction.remoteAddress == "127.0.0.1")
            #expect(transaction.remotePort == server.address.port.map { "\($0)" })
            #expect(
                transaction.localPort.flatMap { UInt16($0) } != nil && transaction.localPort != transaction.remotePort)
            #expect(transaction.negotiatedTLSProtocolVersion == .TLSv13 && transaction.negotiatedTLSCipherSuite != nil)
            #expect(!transaction.isProxyConnection && !transaction.isCellular && !transaction.isExpensive)
            #expect(!transaction.isConstrained && !transaction.isMultipath)
            // The system's resolver does not say how it came by its answer.
            #expect(transaction.domainResolutionProtocol == .unknown)
            #expect(transaction.request.url?.path == "/")
        }
    }
}
