import Foundation
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKitCore

/// The connection of a stream task.
@Suite struct StreamConnectionTests {
    /// The bytes that are in memory after each step.
    private static func storedCounts(_ connection: StreamConnection) -> [Int] {
        var counts = [connection.storedCount]
        func read(atMost count: Int) {
            var buffer = [UInt8](repeating: 0, count: count)
            buffer.withUnsafeMutableBytes { _ = connection.read(into: $0) }
            counts.append(connection.storedCount)
        }
        read(atMost: 3)
        read(atMost: 100)
        connection.unread(Data("again".utf8))
        counts.append(connection.storedCount)
        read(atMost: 5)
        return counts
    }

    /// Bytes that came with a response, or that a read returned when it timed out.
    @Test func bytesThatWereReadAreNotKept() async throws {
        let peer = try ScriptedPeer([.hold])
        defer { peer.stop() }
        let port = try #require(peer.address.port)
        let loop = EventLoop.next()
        let counts = try await withTimeout {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[Int], any Error>) in
                loop.execute {
                    let connector = Connector(loop: loop, resolver: .shared)
                    _ = connector.connect(to: .tcp(host: "127.0.0.1", port: port)) { result in
                        switch result {
                        case .success(let stream):
                            let connection = StreamConnection(stream, early: Array("response".utf8))
                            let counts = Self.storedCounts(connection)
                            connection.close()
                            continuation.resume(returning: counts)
                        case .failure(let error): continuation.resume(throwing: error)
                        }
                    }
                }
            }
        }
        #expect(counts == [8, 8, 0, 5, 0])
    }
}
