import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// WebSocket tasks with a real server.
@Suite(.usesPeers, .timeLimit(.minutes(5))) struct WebSocketServerTests {
    private func withTask(
        compresses: Bool,
        _ body: @escaping @Sendable (URLSessionWebSocketTask, WebSocketRecorder) async throws -> Void
    ) async throws {
        let server = try await onThread { try WebSocketsServer(compresses: compresses) }
        defer { server.stop() }
        // The time to wait for the server's close frame is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        let recorder = WebSocketRecorder()
        let session = makeSession(delegate: recorder, on: loop)
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(with: try #require(URL(string: server.url)), protocols: ["other", "echo"])
        task.maximumMessageSize = 1 << 25
        task.resume()
        try await withTimeout { try await body(task, recorder) }
    }

    @Test(arguments: [false, true]) func manyMessages(_ compresses: Bool) async throws {
        try await withTask(compresses: compresses) { task, recorder in
            let count = 2000
            let texts = (0..<count).map { String(repeating: "message \($0) ", count: $0 % 40) }
            async let sending: Void = {
                for text in texts { try await task.send(.string(text)) }
            }()
            for text in texts { try await expect(task, text) }
            try await sending
            try await task.sendPing()
            task.cancel(with: .normalClosure, reason: nil)
            let events = await recorder.whole()
            #expect(events == ["open echo", "close 1000 -", "metrics http/1.1", "end -"])
        }
    }

    @Test(arguments: [false, true]) func longMessages(_ compresses: Bool) async throws {
        try await withTask(compresses: compresses) { task, recorder in
            // One message that compresses well, and one that does not.
            let even = Data(repeating: 7, count: 8 << 20)
            // Longer than deflate's window.
            let noise = Data((0..<1 << 16).map { _ in UInt8.random(in: 0...255) })
            let uneven = (0..<32).reduce(into: Data()) { data, _ in data.append(noise) }
            for data in [even, uneven] {
                try await task.send(.data(data))
                guard case .data(let received) = try await task.receive() else { throw CancellationError() }
                let isSame = received == data
                #expect(isSame)
            }
            try await task.send(.string("close"))
            await expectNotConnected { _ = try await task.receive() }
            #expect(await recorder.whole().last == "end -")
            #expect(task.closeCode.rawValue == 4001 && task.closeReason == Data("as asked".utf8))
        }
    }
}
