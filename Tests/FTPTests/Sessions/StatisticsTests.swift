import Foundation
import LoadingKit
import TestSupport
import Testing

/// The figures of a session that loads over FTP.
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
}
