import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Uploads over one HTTP/2 connection whose window is smaller than their bodies share it.
@Suite struct HTTP2UploadTurnsTests {
    private static let count = 8
    private static let size = 400_000

    /// Takes the bodies once all requests have come. Records how much of each body has come when the first is complete.
    private static func serve(_ socket: StreamSocket, _ amounts: Recorder<[Int]>) throws {
        var arrived: [HTTP2StreamID: Int] = [:]
        var unread: [(stream: HTTP2StreamID, size: Int)] = []
        try socket.serveHTTP2(connectionWindow: 65_535) { event, machine, output in
            switch event {
            case .headers(let stream, _, _):
                arrived[stream] = 0
            case .data(let stream, _, let size, let isEnd):
                arrived[stream, default: 0] += size
                unread.append((stream, size))
                guard isEnd else { break }
                amounts.append(Array(arrived.values))
                try machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &output)
            default: break
            }
            guard arrived.count == count else { return }
            for (stream, size) in unread { machine.didConsume(size, on: stream) }
            unread = []
        }
    }

    @Test func noUploadWaitsForTheEndOfAnother() async throws {
        let amounts = Recorder<[Int]>()
        let peer = try ConnectionAcceptor(.ipv4()) { socket, _ in try? Self.serve(socket, amounts) }
        defer { peer.stop() }
        let session = makeSession { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        let url = try peer.url
        try await withTimeout {
            await withTaskGroup(of: Outcome.self) { group in
                for _ in 0..<Self.count {
                    var request = URLRequest(url: url)
                    request.httpMethod = "PUT"
                    request.httpBody = Data(count: Self.size)
                    group.addTask { [request] in await session.outcome(request) }
                }
                for await outcome in group { #expect(outcome == .loaded(status: 204, body: "")) }
            }
        }
        let first = try #require(amounts.snapshot.first)
        #expect(first.count == Self.count && first.allSatisfy { $0 >= Self.size / 2 }, "\(first)")
    }
}
