import Foundation
import LoadingKitPrimitives
import Testing

@testable import LoadingKitCore
@testable import LoadingKitTransport

@Suite("Metrics")
struct MetricsTests {
    private let anchor = WallClockAnchor(
        date: Date(timeIntervalSince1970: 1000), monotonicTime: MonotonicTime(nanoseconds: 5_000_000_000))

    private func metrics(_ timings: TransactionTimings) -> URLSessionTaskTransactionMetrics {
        URLSessionTaskTransactionMetrics(
            request: URLRequest(url: URL(fileURLWithPath: "/")), response: nil, timings: timings, anchor: anchor)
    }

    @Test("turn points of the monotonic clock into dates, before and after the anchor")
    func anchors() {
        let cases: [(UInt64, TimeInterval)] = [
            (5_000_000_000, 1000), (6_500_000_000, 1001.5), (4_000_000_000, 999), (0, 995),
        ]
        for (nanoseconds, seconds) in cases {
            #expect(anchor.date(of: MonotonicTime(nanoseconds: nanoseconds)).timeIntervalSince1970 == seconds)
        }
        #expect(anchor.date(of: .distantFuture) > anchor.date)
    }

    @Test("take the current time of a loop, and not that of its last wake-up")
    func anchorOfALoop() async {
        let loop = EventLoop.next()
        let (before, anchor) = await withCheckedContinuation { continuation in
            loop.execute {
                // Until the wake-up is in the past.
                while loop.currentTime <= loop.now {}
                continuation.resume(returning: (loop.currentTime, WallClockAnchor(loop)))
            }
        }
        #expect(before <= anchor.monotonicTime)
    }

    @Test("of several attempts are added, also where a damaged journal has impossible numbers")
    func impossibleRedirectCounts() {
        let metrics = URLSessionTaskMetrics(
            transactionMetrics: [], taskInterval: DateInterval(start: anchor.date, duration: 1), redirectCount: .max)
        var sum = TransferMetrics(metrics)
        sum.append(TransferMetrics(metrics))
        #expect(sum.redirectCount == -2)
    }

    private struct Points {
        var transaction = TransactionTimings()
        var connection = ConnectTimings()
    }

    private func connection(
        timings: ConnectTimings = ConnectTimings(), tls: TLSInfo? = nil, remote: SocketAddress = .ip(.v4(0), port: 1)
    ) -> ConnectionMetrics {
        ConnectionMetrics(
            ConnectionInfo(
                endpoint: .tcp(host: "localhost", port: 1), local: .ip(.v4(0x7f00_0001), port: 50000), remote: remote,
                tls: tls, timings: timings, isMultipath: false),
            protocolName: "h2", isProxied: true)
    }

    private func tls(version: UInt16, suite: UInt16) -> TLSInfo {
        TLSInfo(
            protocolVersion: version, cipherSuite: suite, cipherSuiteName: "", wasResumed: false, peerCertificates: [])
    }

    @Test("give each point as its own date")
    func dates() {
        let points: [(WritableKeyPath<Points, MonotonicTime?>, KeyPath<URLSessionTaskTransactionMetrics, Date?>)] =
            [
                (\.transaction.fetchStart, \.fetchStartDate),
                (\.connection.resolveStart, \.domainLookupStartDate),
                (\.connection.resolveEnd, \.domainLookupEndDate), (\.connection.connectStart, \.connectStartDate),
                (\.connection.tlsStart, \.secureConnectionStartDate),
                (\.connection.tlsEnd, \.secureConnectionEndDate),
                (\.connection.connectEnd, \.connectEndDate), (\.transaction.requestStart, \.requestStartDate),
                (\.transaction.requestEnd, \.requestEndDate),
                (\.transaction.responseStart, \.responseStartDate),
                (\.transaction.responseEnd, \.responseEndDate),
            ]
        for (point, date) in points {
            var noted = Points()
            noted[keyPath: point] = MonotonicTime(nanoseconds: 7_000_000_000)
            noted.transaction.connection = ConnectionMetrics(failed: noted.connection)
            let metrics = metrics(noted.transaction)
            #expect(metrics[keyPath: date] == Date(timeIntervalSince1970: 1002))
            #expect(points.filter { metrics[keyPath: $0.1] != nil }.count == 1)
        }
    }

    /// A turn's time stands still, and the steps of a connection are noted at their own.
    @Test("have a request after its connection's steps, and these after the fetch's start")
    func order() {
        func time(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
        var steps = ConnectTimings()
        (steps.resolveStart, steps.resolveEnd, steps.connectStart) = (time(1), time(2), time(2))
        (steps.connectEnd, steps.tlsStart, steps.tlsEnd) = (time(4), time(4), time(7))
        let cases: [(Bool, [UInt64])] = [(false, [3, 3, 3, 4, 7, 7, 7, 7, 7, 7]), (true, [6, 6, 6, 6])]
        for (isReused, dates) in cases {
            var timings = TransactionTimings(fetchStart: time(3))
            timings.beginRequest(on: connection(timings: steps), isReused: isReused, at: time(6))
            timings.endRequest(at: time(6))
            timings.beginResponse(at: time(6))
            timings.endResponse(at: time(6))
            let metrics = metrics(timings)
            let noted = [
                metrics.domainLookupStartDate, metrics.domainLookupEndDate, metrics.connectStartDate,
                metrics.secureConnectionStartDate, metrics.secureConnectionEndDate, metrics.connectEndDate,
                metrics.requestStartDate, metrics.requestEndDate, metrics.responseStartDate, metrics.responseEndDate,
            ]
            #expect(noted.compactMap { $0 } == dates.map { anchor.date(of: time($0)) })
        }
    }

    @Test("give counts, addresses and TLS as they were noted")
    func values() {
        var timings = TransactionTimings()
        (timings.requestHeaderBytesSent, timings.requestBodyBytesSent) = (1, 2)
        (timings.requestBodyBytesBeforeEncoding, timings.responseHeaderBytesReceived) = (3, 4)
        (timings.responseBodyBytesReceived, timings.responseBodyBytesAfterDecoding) = (5, 6)
        timings.connection = connection(
            tls: tls(version: 0x0304, suite: 0x1301), remote: .ip(.v6(high: 0, low: 1, zone: 0), port: 65535))
        timings.isReusedConnection = true
        (timings.resourceFetchType, timings.domainResolutionProtocol) = (.networkLoad, .udp)
        let metrics = metrics(timings)
        #expect(metrics.countOfRequestHeaderBytesSent == 1 && metrics.countOfRequestBodyBytesSent == 2)
        #expect(metrics.countOfRequestBodyBytesBeforeEncoding == 3 && metrics.countOfResponseHeaderBytesReceived == 4)
        #expect(metrics.countOfResponseBodyBytesReceived == 5 && metrics.countOfResponseBodyBytesAfterDecoding == 6)
        #expect(metrics.localAddress == "127.0.0.1" && metrics.localPort == "50000")
        #expect(metrics.remoteAddress == "::1" && metrics.remotePort == "65535" && metrics.networkProtocolName == "h2")
        #expect(
            metrics.negotiatedTLSProtocolVersion == .TLSv13 && metrics.negotiatedTLSCipherSuite == .AES_128_GCM_SHA256)
        #expect(metrics.isReusedConnection && metrics.isProxyConnection && !metrics.isCellular && !metrics.isMultipath)
        #expect(metrics.resourceFetchType == .networkLoad && metrics.domainResolutionProtocol == .udp)
    }

    @Test("say nil for TLS that is absent or not known")
    func tls() {
        for tls in [nil, tls(version: 0x0300, suite: 0x0000), tls(version: 0xFFFF, suite: 0xFFFF)] {
            let metrics = metrics(TransactionTimings(connection: connection(tls: tls)))
            #expect(metrics.negotiatedTLSProtocolVersion == nil && metrics.negotiatedTLSCipherSuite == nil)
        }
    }

    @Test("of a task hold its transactions")
    func task() {
        let transactions = [metrics(TransactionTimings()), metrics(TransactionTimings())]
        let interval = DateInterval(start: anchor.date, duration: 2)
        let task = URLSessionTaskMetrics(transactionMetrics: transactions, taskInterval: interval, redirectCount: 1)
        #expect(task.transactionMetrics == transactions && task.taskInterval == interval && task.redirectCount == 1)
    }

    @Test("describe a task as its transactions' phases on one scale, without passwords and control characters")
    func description() throws {
        func time(_ milliseconds: UInt64) -> MonotonicTime {
            MonotonicTime(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000)
        }
        var timings = TransactionTimings(fetchStart: time(0), connection: connection())
        (timings.requestStart, timings.requestEnd) = (time(0), time(10))
        (timings.responseStart, timings.responseEnd) = (time(30), time(40))
        var request = URLRequest(url: try #require(URL(string: "https://joe:secret@example.org/a")))
        request.httpMethod = "G\u{1b}ET"
        let transaction = URLSessionTaskTransactionMetrics(
            request: request, response: nil, timings: timings, anchor: anchor)
        let interval = DateInterval(start: anchor.date, duration: 2)
        let task = URLSessionTaskMetrics(transactionMetrics: [transaction], taskInterval: interval, redirectCount: 1)
        let text = task.description.filter { !"▏▎▍▌▋▊▉█▐▕".contains($0) }
        let lines = text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(task.description.contains("█"))
        #expect(
            lines == [
                "<URLSessionTaskMetrics> (Task Interval) 2.0 s, (Redirect Count) 1, (Transactions) 1",
                "G\u{fffd}ET https://joe@example.org/a 40.0 ms", "h2 to 0.0.0.0:1, new connection",
                "request 10.0 ms", "wait 20.0 ms", "receive 10.0 ms",
            ])
        let start = "<URLSessionTaskTransactionMetrics> https://joe@example.org/a, h2, fetch: "
        #expect(transaction.description.hasPrefix(start))
    }
}
