import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// A WebSocket over HTTP/2 waits for the server's SETTINGS, which state whether a stream may switch to it (RFC 8441 §3).
/// These servers end the connection before that, allow no stream, or send nothing.
@Suite struct WebSocketSettingsTests {
    private static func settings(streams: UInt32) -> [UInt8] {
        var output: [UInt8] = []
        HTTP2FrameEncoder.settings(
            [HTTP2Setting(.enableConnectProtocol, 1), HTTP2Setting(.maxConcurrentStreams, streams)], to: &output)
        return output
    }

    /// The response to the first stream, and a message. Status 200 is number 8 of HPACK's static table.
    private static let opened: [UInt8] = {
        let head: [UInt8] = [0x88]
        let message = [0x81, 0x02] + Array("hi".utf8)
        var output: [UInt8] = []
        head.withUnsafeBytes { HTTP2FrameEncoder.headers($0, stream: 1, endStream: false, to: &output) }
        message.withUnsafeBytes { HTTP2FrameEncoder.data($0, stream: 1, endStream: false, to: &output) }
        return output
    }()

    /// A task that is resumed.
    private static func open(_ peer: ScriptedPeer, in session: URLSession) throws -> URLSessionWebSocketTask {
        let url = peer.url().replacingOccurrences(of: "http:", with: "ws:")
        let task = session.webSocketTask(with: try #require(URL(string: url)))
        task.resume()
        return task
    }

    @Test(arguments: [
        ("HTTP/1.1 400 Bad Request\r\n\r\n", URLError.Code.cannotParseResponse),
        ("", URLError.Code.networkConnectionLost),
    ])
    func theConnectionEndsBeforeSETTINGS(answer: String, error: URLError.Code) async throws {
        let peer = try ScriptedPeer([.expectAnything, .send(answer), .close])
        defer { peer.stop() }
        let session = makeSession { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let task = try Self.open(peer, in: session)
            await expectFailure(error) { _ = try await task.receive() }
            #expect(peer.connections.count == 1)
        }
    }

    /// The next connections are opened after pauses.
    @Test func theServerAllowsNoStreams() async throws {
        let peer = try ScriptedPeer([.expectAnything, .send(Self.settings(streams: 0)), .readUntilClose])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let session = makeSession(on: loop) { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let task = try Self.open(peer, in: session)
            for count in 1...5 {
                await peer.endedCount(reaches: count)
                // The loop has begun the pause when it answers this.
                _ = await session.allTasks
                #expect(peer.connections.count == count)
                time.advance(by: .seconds(4))
            }
            await expectFailure(.networkConnectionLost) { _ = try await task.receive() }
            #expect(peer.connections.count == 5)
        }
    }

    /// The next WebSocket does not wait for the same connection until its timeout.
    @Test func theServerIsSilent() async throws {
        let arrived = Signal()
        let peer = try ScriptedPeer(scripts: [
            [.expectAnything, .fire(arrived), .hold],
            [.expectAnything, .send(Self.settings(streams: 100)), .expectAnything, .send(Self.opened), .hold],
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        loop.acknowledgeAtOnce()
        let session = makeSession(on: loop) { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let first = try Self.open(peer, in: session)
            await arrived.wait()
            let second = try Self.open(peer, in: session)
            for _ in 0..<10 {
                _ = await session.allTasks
                time.advance(by: .seconds(3))
            }
            await expectFailure(.networkConnectionLost) { _ = try await first.receive() }
            try await expect(second, "hi")
            #expect(peer.connections.count == 2)
            second.cancel()
        }
    }
}
