import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Much at once, and much from little.
@Suite struct ManyConnectionsTests {
    /// A thousand requests wait for their answers at the same time, each on a connection of its own.
    @Test func aThousandConnectionsAtOnce() async throws {
        let count = 1000
        // Both ends of each connection are in this process.
        let limit = DescriptorCount.raiseLimit()
        try #require(limit > 3 * count, "this test needs \(3 * count) descriptors: ulimit -n")
        let server = try CrowdServer(answeringOnce: count, with: "a")
        defer { server.stop() }
        let session = makeSession { $0.httpMaximumConnectionsPerHost = count }
        try await withTimeout {
            let request = URLRequest(url: try #require(URL(string: server.url)))
            let all = await withTaskGroup(of: Outcome.self, returning: [Outcome].self) { group in
                for _ in 0..<count { group.addTask { await session.outcome(request) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(all.count == count && all.allSatisfy { $0 == .ok("a") })
        }
        session.invalidateAndCancel()
    }

    /// Counts bytes, and notes the largest piece.
    private final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // one queue calls it
        let done = Recorder<String>()
        private(set) var count = 0
        private(set) var largest = 0

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            count += data.count
            largest = max(largest, data.count)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            done.append(error.map { "\($0)" } ?? "fine")
        }
    }

    /// Two gibibytes from two mebibytes.
    @Test func aBombIsStreamedToADelegateInPieces() async throws {
        let (members, size) = (32, 64 << 20)
        let member = try Gzip.compress([UInt8](repeating: 0, count: size))
        let bomb = Array(repeating: member, count: members).flatMap { $0 }
        #expect(bomb.count < 2_200_000)
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"),
            .send(bomb),
        ])
        defer { peer.stop() }
        let counter = Counter()
        let session = makeSession(delegate: counter) { $0.maximumDecompressionRatio = .max }
        defer { session.invalidateAndCancel() }
        let before = try ResidentMemory.current()
        try await withTimeout {
            session.dataTask(with: peer.request()).resume()
            #expect(await counter.done.element(at: 0) == "fine")
        }
        #expect(counter.count == members * size)
        #expect(counter.largest <= 1 << 20)
        // Other tests run beside this one; half of the whole is more than they and the pieces take.
        #expect(try ResidentMemory.current() < before + members * size / 2)
    }
}
