import Foundation
import LoadingKit

/// Sends messages over a WebSocket, and prints what comes back.
///
///     swift run WebSocketEchoExample wss://example.org/echo hello again
@main
enum WebSocketEcho {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count > 2, let url = URL(string: arguments[1]) else {
            print("usage: WebSocketEchoExample URL MESSAGE ...")
            exit(2)
        }
        let socket = URLSession.shared.webSocketTask(with: url)
        socket.resume()
        do {
            for message in arguments.dropFirst(2) {
                try await socket.send(.string(message))
                switch try await socket.receive() {
                case .string(let text): print(text)
                case .data(let data): print("\(data.count) bytes")
                @unknown default: break
                }
            }
            try await close(socket)
        } catch {
            print("failed: \(error.localizedDescription)")
            exit(1)
        }
    }

    /// `receive()` fails with `ENOTCONN` when the connection is closed in order, here by the server's answer to this close.
    static func close(_ socket: URLSessionWebSocketTask) async throws {
        socket.cancel(with: .normalClosure, reason: Data("done".utf8))
        do {
            while true { _ = try await socket.receive() }
        } catch let error as POSIXError where error.code == .ENOTCONN {
            print("closed with code \(socket.closeCode.rawValue)")
        }
    }
}
