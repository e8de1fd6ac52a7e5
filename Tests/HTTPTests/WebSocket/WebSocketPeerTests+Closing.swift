import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import LoadingKitWebSocket
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitHTTP

extension WebSocketPeerTests {
    /// When the program has closed the connection and does not receive, messages are kept up to a limit. Those behind
    /// them are dropped as they are, and the server's close frame counts.
    @Test func messagesThatNobodyGetsAreNotDecompressed() async throws {
        let loop = EventLoop.still()
        defer { loop.stop() }
        let session = makeSession(on: loop)
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1/")))
        var fields = HTTPFields()
        fields.append(.secWebSocketExtensions, "permessage-deflate")
        let agreement = try WebSocketHandshake().agreement(fields)
        let message: [UInt8] = [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 0, count: 65_536)
        let corrupt: [UInt8] = [0xc1, 0x02, 0x07, 0xff]
        let bytes: [UInt8] = (0..<6).flatMap { _ in message } + corrupt + [0x88, 0x02, 0x03, 0xe8]
        let (taken, ends) = (Recorder<Int>(), Recorder<String>())
        try await withTimeout {
            loop.execute {
                guard let link = task.link else { return ends.append("no link") }
                let connection = WebSocketConnection(agreement, link, loop)
                connection.onEnd = { end in
                    switch end {
                    case .closed(.some): ends.append("closed")
                    case .closed(.none): ends.append("closed without a code")
                    case .failed(let error, _): ends.append("\(error)")
                    }
                }
                link.open(connection, subprotocol: nil)
                _ = link.close(.normalClosure, reason: "")
                _ = bytes.withUnsafeBytes { connection.receive($0) }
                func take() {
                    link.receive(ReceiveRequest(), isHandler: false) { result in
                        guard case .success = result else { return }
                        taken.append(1)
                        take()
                    }
                }
                take()
            }
            #expect(await ends.element(at: 0) == "closed")
            #expect(taken.count == 4)
        }
    }
}
