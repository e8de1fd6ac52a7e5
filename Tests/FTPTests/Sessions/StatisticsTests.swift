import Foundation
import LoadingKit
import TestSupport
import Testing

/// The figures of a session that loads over FTP, and of its tasks.
@Suite(.usesPeers) struct StatisticsTests {
    @Test func twoLoadsOnAConnection() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let session = makeFTPSession()
        defer { session.invalidateAndCancel() }
        for _ in 1...2 { #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file)) }
        let statistics = await session.statistics
        let size = Int64(2 * FaultyFTPServer.file.count)
        #expect(statistics.tasks.begun == 2 && statistics.tasks.succeeded == 2 && statistics.requests.loads == 2)
        let bytes = statistics.bytes
        #expect(bytes.bodiesReceived == size && bytes.decoded == size && bytes.delivered == size)
        #expect(bytes.headsSent > 0 && bytes.headsReceived > 0 && bytes.bodiesSent == 0)
        #expect(statistics.connections.open["ftp"]?.idle == 1 && statistics.connections.open["ftp"]?.active == 0)
        #expect(statistics.connections.opened == ["ftp": 1] && statistics.connections.closed == [:])
        #expect(statistics.requests.onNewConnections == 1 && statistics.requests.onUsedConnections == 1)
        // The control connection, and one for each file.
        #expect(statistics.connects.count == 3 && statistics.firstBytes.count == 2)
        #expect(statistics.requests.waiting == 0)
        await session.reset()
        #expect(await session.statistics.connections.closed == ["idle": 1])
    }

    private final class MetricsDelegate: NSObject, URLSessionDataDelegate, Sendable {
        let hasData = Signal()
        let metrics = Recorder<URLSessionTaskMetrics>()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { hasData.fire() }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self.metrics.append(metrics)
        }
    }

    /// A task has its transaction, also where it is cancelled amid a file: the server has not said that it was all.
    @Test(arguments: [false, true]) func theTransactionOfATask(isCancelled: Bool) async throws {
        let server = try FaultyFTPServer(isCancelled ? [.init(step: "end", act: .silence)] : [])
        defer { server.stop() }
        try await withTimeout {
            let delegate = MetricsDelegate()
            let session = makeFTPSession(delegate: delegate)
            defer { session.invalidateAndCancel() }
            let task = session.dataTask(with: try #require(URL(string: server.url())))
            task.resume()
            await delegate.hasData.wait()
            if isCancelled { task.cancel() }
            let metrics = try #require(await delegate.metrics.element(at: 0))
            let transaction = try #require(metrics.transactionMetrics.first)
            #expect(metrics.transactionMetrics.count == 1 && transaction.resourceFetchType == .networkLoad)
            #expect(transaction.remoteAddress == "127.0.0.1" && transaction.requestStartDate != nil)
            #expect(transaction.responseStartDate != nil)
            #expect((transaction.responseEndDate == nil) == isCancelled)
            #expect(transaction.countOfResponseBodyBytesReceived > 0)
        }
    }

    /// A login that fails has the addresses of its connection.
    @Test(arguments: ["USER", "PASS"]) func theTransactionOfALogin(thatFailsAt step: String) async throws {
        let server = try FaultyFTPServer([.init(step: step, act: .reply("530 no\r\n"))])
        defer { server.stop() }
        try await withTimeout {
            let delegate = MetricsDelegate()
            let session = makeFTPSession(delegate: delegate)
            defer { session.invalidateAndCancel() }
            session.dataTask(with: try #require(URL(string: server.url()))).resume()
            let metrics = try #require(await delegate.metrics.element(at: 0))
            let transaction = try #require(metrics.transactionMetrics.first)
            #expect(server.hasFailed && metrics.transactionMetrics.count == 1)
            #expect(transaction.remoteAddress == "127.0.0.1" && transaction.localAddress == "127.0.0.1")
            #expect(transaction.networkProtocolName == "ftp" && transaction.connectEndDate != nil)
            #expect(transaction.requestStartDate == nil && !transaction.isReusedConnection)
        }
    }

    /// A connection that the server had closed leaves no dates in the transaction, whose next connection fails before
    /// the login.
    @Test func theTransactionAfterALostConnection() async throws {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        try await withTimeout {
            let session = makeFTPSession()
            defer { session.invalidateAndCancel() }
            #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
            server.add(["EPSV", "greeting"].map { FaultyFTPServer.Fault(step: $0, act: .close("421 bye\r\n")) })
            let delegate = MetricsDelegate()
            let task = session.dataTask(with: try #require(URL(string: server.url())))
            task.delegate = delegate
            task.resume()
            let transaction = try #require(await delegate.metrics.element(at: 0)?.transactionMetrics.first)
            #expect(server.hasFailed)
            #expect(transaction.requestStartDate == nil && transaction.remoteAddress == "127.0.0.1")
            #expect(!transaction.isReusedConnection)
        }
    }
}
