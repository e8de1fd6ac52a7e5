import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// What a handler can report and ask: metrics, challenges, stored responses, parts of a resource.
@Suite struct HandlerReportTests {
    /// `report:` reports two transactions and answers.
    private final class Reporter: URLProtocolHandler, @unchecked Sendable {
        static let begin = Date(timeIntervalSinceNow: -10)

        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "report" }
        override func load(_ load: LoadContext) async throws {
            load.report(LoadMetrics(.localCache))
            var metrics = LoadMetrics()
            metrics.networkProtocolName = "gopher"
            metrics.local = LoadMetrics.Endpoint(address: "192.0.2.1", port: 7)
            metrics.remote = LoadMetrics.Endpoint(address: "/run/example.sock")
            metrics.isProxyConnection = true
            metrics.fetchStart = Self.begin
            metrics.domainLookup = DateInterval(start: Self.begin, duration: 1)
            metrics.connect = DateInterval(start: Self.begin + 1, duration: 1)
            metrics.secureConnection = DateInterval(start: Self.begin + 2, duration: 1)
            metrics.request = DateInterval(start: Self.begin + 3, duration: 1)
            metrics.response = DateInterval(start: Self.begin + 4, duration: 1)
            metrics.countOfRequestHeaderBytesSent = 1
            metrics.countOfRequestBodyBytesSent = 2
            metrics.countOfRequestBodyBytesBeforeEncoding = 3
            metrics.countOfResponseHeaderBytesReceived = 4
            metrics.countOfResponseBodyBytesReceived = 5
            metrics.countOfResponseBodyBytesAfterDecoding = 6
            let response = URLResponse(
                url: load.url, mimeType: "text/plain", expectedContentLength: 5, textEncodingName: "utf-8")
            load.report(metrics, request: URLRequest(url: URL(fileURLWithPath: "/sent")), response: response)
            try await load.receive(response)
            try await load.receive(Data("hello".utf8))
        }
    }

    private final class MetricsDelegate: NSObject, URLSessionDataDelegate {
        let metrics = Recorder<URLSessionTaskMetrics>()
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self.metrics.append(metrics)
        }
    }

    private static func session(_ handlers: [AnyClass], delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = handlers
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    @Test func reportedMetricsAreTheTasks() async throws {
        let delegate = MetricsDelegate()
        let session = Self.session([Reporter.self], delegate: delegate)
        defer { session.invalidateAndCancel() }
        session.dataTask(with: try #require(URL(string: "report:a"))).resume()
        let collected = try #require(await delegate.metrics.element(at: 0))
        #expect(collected.transactionMetrics.map(\.resourceFetchType) == [.localCache, .networkLoad])
        let metrics = try #require(collected.transactionMetrics.last)
        #expect(metrics.networkProtocolName == "gopher")
        #expect(metrics.localAddress == "192.0.2.1" && metrics.localPort == "7")
        #expect(metrics.remoteAddress == "/run/example.sock" && metrics.remotePort == nil)
        #expect(metrics.isProxyConnection && !metrics.isReusedConnection)
        #expect(metrics.request.url?.path == "/sent" && metrics.response?.mimeType == "text/plain")
        let dates = [
            metrics.fetchStartDate, metrics.domainLookupStartDate, metrics.domainLookupEndDate,
            metrics.connectStartDate, metrics.secureConnectionStartDate, metrics.secureConnectionEndDate,
            metrics.connectEndDate, metrics.requestStartDate, metrics.requestEndDate, metrics.responseStartDate,
            metrics.responseEndDate,
        ]
        // Metrics are kept on the monotonic clock: between the two readings of the two clocks, at the beginning and at the end,
        // other programs may run, which shifts all dates alike.
        let start = try #require(metrics.fetchStartDate)
        let offsets = dates.map { $0.map { ($0.timeIntervalSince(start) * 10).rounded() / 10 } }
        #expect(offsets == [0, 0, 1, 1, 2, 3, 3, 3, 4, 4, 5])
        let counts = [
            metrics.countOfRequestHeaderBytesSent, metrics.countOfRequestBodyBytesSent,
            metrics.countOfRequestBodyBytesBeforeEncoding, metrics.countOfResponseHeaderBytesReceived,
            metrics.countOfResponseBodyBytesReceived, metrics.countOfResponseBodyBytesAfterDecoding,
        ]
        #expect(counts == [1, 2, 3, 4, 5, 6])
    }

    /// Forwards, and notes what the forwarded load has reported.
    private final class Observer: URLProtocolHandler, @unchecked Sendable {
        static let seen = Recorder<[String]>()
        override class func canInit(with request: URLRequest) -> Bool { request.url?.path == "/observed" }
        override func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            try await load.receive(loaded.response)
            for try await data in loaded.body { try await load.receive(data) }
            Self.seen.append(
                loaded.transactionMetrics.map { "\($0.networkProtocolName ?? "") \($0.remotePort ?? "")" })
        }
    }

    @Test func anInterceptorSeesTheForwardedLoadsMetrics() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let session = Self.session([Observer.self])
        defer { session.invalidateAndCancel() }
        _ = try await session.data(from: try #require(URL(string: server.url("/observed"))))
        #expect(await Observer.seen.element(at: 0) == ["http/1.1 \(try #require(server.address.port))"])
    }

    /// `ask:` answers with the disposition and the user that the delegate gave.
    private final class Asker: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "ask" }
        override func load(_ load: LoadContext) async throws {
            let space = URLProtectionSpace(
                host: "vault.test", port: 7, protocol: "ask", realm: "r", authenticationMethod: nil)
            let answer = await load.challenge(for: space)
            try await load.receive(
                URLResponse(url: load.url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil))
            try await load.receive(Data("\(answer.disposition.rawValue) \(answer.credential?.user ?? "-")".utf8))
        }
    }

    private final class Answerer: NSObject, URLSessionTaskDelegate {
        let answer: (URLSession.AuthChallengeDisposition, URLCredential?)
        let challenges = Recorder<String>()
        init(_ answer: (URLSession.AuthChallengeDisposition, URLCredential?)) { self.answer = answer }
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            challenges.append("\(challenge.protectionSpace.host) \(challenge.proposedCredential?.user ?? "-")")
            return answer
        }
    }

    @Test func aChallengeNeedsNoSender() async throws {
        let given = URLCredential(user: "given", password: "p", persistence: .none)
        let cases: [(URLSession.AuthChallengeDisposition, URLCredential?, String)] = [
            (.useCredential, given, "0 given"), (.performDefaultHandling, nil, "1 stored"),
            (.rejectProtectionSpace, nil, "3 -"),
        ]
        for (disposition, credential, expected) in cases {
            let delegate = Answerer((disposition, credential))
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [Asker.self]
            let space = URLProtectionSpace(
                host: "vault.test", port: 7, protocol: "ask", realm: "r", authenticationMethod: nil)
            configuration.urlCredentialStorage?.setDefaultCredential(
                URLCredential(user: "stored", password: "s", persistence: .forSession), for: space)
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            let (data, _) = try await session.data(from: try #require(URL(string: "ask:a")))
            #expect(String(decoding: data, as: UTF8.self) == expected)
            #expect(delegate.challenges.snapshot == ["vault.test stored"])
            session.invalidateAndCancel()
        }
    }

    /// `stored:` keeps its response, and answers from there with a head of its own where the URL says so.
    private final class Stored: URLProtocolHandler, @unchecked Sendable {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "stored" }
        private static func response(_ url: URL, _ tag: String) throws -> URLResponse {
            try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["ETag": tag]))
        }
        override func load(_ load: LoadContext) async throws {
            if load.cachedResponse != nil {
                let update = load.request.value(forHTTPHeaderField: "X-Update")
                try await load.useCachedResponse(updatedBy: try update.map { try Self.response(load.url, $0) })
            }
            try await load.receive(try Self.response(load.url, "\"1\""), cacheStoragePolicy: .allowed)
            try await load.receive(Data("body".utf8))
        }
    }

    @Test func aStoredResponseIsUsedAgainWithItsNewHead() async throws {
        let session = Self.session([Stored.self])
        defer { session.invalidateAndCancel() }
        var tags: [String] = []
        for update in [nil, nil, "\"2\"", nil] {
            var request = URLRequest(url: try #require(URL(string: "stored://a/b")))
            if let update { request.setValue(update, forHTTPHeaderField: "X-Update") }
            let (data, response) = try await session.data(for: request)
            #expect(data == Data("body".utf8))
            tags.append((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag") ?? "-")
        }
        #expect(tags == ["\"1\"", "\"1\"", "\"2\"", "\"2\""])
    }

    @Test func withoutAStoredResponseThereIsNoneToUse() async throws {
        final class Empty: URLProtocolHandler, @unchecked Sendable {
            override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "empty" }
            override func load(_ load: LoadContext) async throws { try await load.useCachedResponse() }
        }
        let session = Self.session([Empty.self])
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "empty:a"))
        let error = await #expect(throws: URLError.self) { _ = try await session.data(from: url) }
        #expect(error?.code == .resourceUnavailable)
    }

    /// What a handler's calls throw can be caught by its code. The program gets the same error, with the request's URL.
    @Test(
        arguments: [
            ("long", .dataLengthExceedsMaximum, "more than 3 bytes"),
            ("twice", .requestBodyStreamExhausted, "read before"), ("cached", .resourceUnavailable, "the cache has no"),
        ] as [(String, URLError.Code, String)])
    func whatCallsThrowIsAURLError(host: String, code: URLError.Code, text: String) async throws {
        let caught = Recorder<URLError.Code>()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.register(
            scheme: "throws",
            loading: { load in
                do {
                    switch load.url.host {
                    case "long": _ = try await load.body.collect(upTo: 3)
                    case "twice": for _ in 0..<2 { _ = try await load.body.collect() }
                    default: try await load.useCachedResponse()
                    }
                } catch let error as URLError {
                    caught.append(error.code)
                    throw error
                }
            })
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: "throws://\(host)/")))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        let asked = request
        let error = await #expect(throws: URLError.self) { _ = try await session.data(for: asked) }
        #expect(caught.snapshot == [code])
        #expect(error?.code == code && error?.failingURL == asked.url)
        #expect(error?.localizedDescription.contains(text) == true)
    }

    /// `part:` has ranges; its path says whether it says so. It stops in the middle until it is resumed.
    private final class Part: URLProtocolHandler, @unchecked Sendable {
        static let whole = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        static let ranges = Recorder<String>()
        override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "part" }
        override func load(_ load: LoadContext) async throws {
            var fields = ["ETag": "\"v1\""]
            if load.url.host == "says" { fields["Accept-Ranges"] = "bytes" }
            let range = load.request.value(forHTTPHeaderField: "Range")
            Self.ranges.append("\(range ?? "-") \(load.request.value(forHTTPHeaderField: "If-Range") ?? "-")")
            let start = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            if start > 0 { fields["Content-Range"] = "bytes \(start)-\(Self.whole.count - 1)/\(Self.whole.count)" }
            fields["Content-Length"] = "\(Self.whole.count - start)"
            guard
                let response = HTTPURLResponse(
                    url: load.url, statusCode: start > 0 ? 206 : 200, httpVersion: nil, headerFields: fields)
            else { return }
            try await load.receive(response)
            if start > 0 { return try await load.receive(Self.whole.dropFirst(start)) }
            try await load.receive(Self.whole.prefix(40_000))
            throw URLError(.networkConnectionLost)
        }
    }

    @Test func aDownloadOfASchemeWithRangesIsResumed() async throws {
        let session = Self.session([Part.self])
        defer { session.invalidateAndCancel() }
        var kept: [Bool] = []
        for host in ["says", "silent"] {
            do {
                _ = try await session.download(from: try #require(URL(string: "part://\(host)/a")))
                Issue.record("the download did not fail")
            } catch let error as URLError {
                #expect(error.code == .networkConnectionLost)
                let data = error.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
                kept.append(data != nil)
                guard let data else { continue }
                let (file, response) = try await session.download(resumeFrom: data)
                #expect(try Data(contentsOf: file) == Part.whole)
                #expect((response as? HTTPURLResponse)?.statusCode == 206)
                try FileManager.default.removeItem(at: file)
            }
        }
        #expect(kept == [true, false])
        #expect(Part.ranges.snapshot == ["- -", "bytes=40000- \"v1\"", "- -"])
    }
}
