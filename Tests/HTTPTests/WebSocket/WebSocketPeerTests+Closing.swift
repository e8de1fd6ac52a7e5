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

    /// What a program does while its delegate queue is busy and calls wait there.
    enum WaitingCall: CaseIterable, Sendable {
        case suspend, suspendWhenClosed, cancel, close

        /// What the delegate is told at last, without metrics.
        var events: [String] {
            switch self {
            case .suspend, .cancel: ["end -999"]
            case .suspendWhenClosed: ["open -", "close 4001 -", "end -"]
            case .close: ["open -", "close 1000 -", "end -"]
            }
        }
    }

    @Test(arguments: WaitingCall.allCases)
    func callsThatWaitFollowTheTask(_ call: WaitingCall) async throws {
        let (answered, isFree) = (Signal(), Signal())
        let loop = EventLoop.still()
        defer { loop.stop() }
        let server = try LoopbackServer { request in
            .webSocket(request) { socket in
                guard request.path == "/closed" else { return try socket.echo() }
                try socket.close(WebSocketCloseCode(rawValue: 4001))
                if case .close? = try socket.receive() { answered.fire() }
            }
        }
        defer { server.stop() }
        let session = makeSession(on: loop)
        defer {
            isFree.fire()
            session.invalidateAndCancel()
        }
        try await withTimeout("\(call)") {
            let (recorder, otherRecorder) = (WebSocketRecorder(), WebSocketRecorder())
            let path = call == .suspendWhenClosed ? "/closed" : "/"
            let task = session.webSocketTask(with: try WebSocketServing.url(server, path))
            task.delegate = recorder
            session.delegateQueue.addOperation { isFree.waitBlocking() }
            task.resume()
            if call == .suspendWhenClosed { await answered.wait() }
            try await waitUntil { task.response != nil }
            // The loop has posted the call, or both, once it has done these.
            for _ in 0..<3 { await withCheckedContinuation { done in loop.execute { done.resume() } } }
            switch call {
            case .suspend, .suspendWhenClosed: task.suspend()
            case .cancel: task.cancel()
            case .close: task.cancel(with: .normalClosure, reason: nil)
            }
            isFree.fire()
            // Its call comes behind those of the first task.
            let other = session.webSocketTask(with: try WebSocketServing.url(server))
            other.delegate = otherRecorder
            other.resume()
            #expect(await otherRecorder.events.element(at: 0) == "open -")
            switch call {
            case .suspend:
                #expect(recorder.events.snapshot == [])
                task.resume()
                #expect(await recorder.events.element(at: 0) == "open -")
                recorder.events.removeAll()
                task.cancel()
            case .suspendWhenClosed:
                #expect(recorder.events.snapshot == [])
                task.resume()
            case .cancel, .close: break
            }
            let events = await recorder.whole()
            #expect(events.filter { !$0.hasPrefix("metrics") } == call.events)
            other.cancel()
        }
    }
}
