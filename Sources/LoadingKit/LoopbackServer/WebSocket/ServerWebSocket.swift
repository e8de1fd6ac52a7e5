import LoadingKitHTTP1
import LoadingKitPrimitives
import LoadingKitWebSocket

/// A server's side of a WebSocket connection, which can misbehave byte by byte. Used on the connection's thread.
package final class ServerWebSocket {
    package let tunnel: ServerTunnel
    package let request: ServerRequest
    private var codec: WebSocketStateMachine
    private var input: [UInt8] = []
    private var position = 0

    init(_ tunnel: ServerTunnel, _ request: ServerRequest, _ deflate: PermessageDeflate?, _ limits: WebSocketLimits) {
        self.tunnel = tunnel
        self.request = request
        codec = WebSocketStateMachine(role: .server, deflate: deflate, limits: limits)
    }

    /// The next event; nil when the client has ended the connection. What asks for an answer gets one.
    package func receive() throws -> WebSocketEvent? {
        while true {
            let event = input.withUnsafeBytes { bytes in
                Result { () throws(WebSocketError) in try codec.receive(bytes, &position) }
            }
            try flush()
            if let event = try event.get() { return event }
            input = try tunnel.read()
            position = 0
            if input.isEmpty { return nil }
        }
    }

    private func flush() throws {
        guard codec.hasControlBytes else { return }
        var output: [UInt8] = []
        codec.drainControlBytes(into: &output)
        try tunnel.write(output)
    }

    package func send(_ text: String) throws { try send(.text, Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws { try send(.binary, bytes) }

    package func send(_ kind: WebSocketMessageKind, _ bytes: [UInt8]) throws {
        var output: [UInt8] = []
        try bytes.withUnsafeBytes { try codec.send(kind, $0, to: &output) }
        try tunnel.write(output)
    }

    package func ping(_ payload: [UInt8] = []) throws {
        var output: [UInt8] = []
        try codec.sendPing(payload, to: &output)
        try tunnel.write(output)
    }

    package func close(_ code: WebSocketCloseCode, _ reason: String = "") throws {
        var output: [UInt8] = []
        try codec.sendClose(code, reason: reason, to: &output)
        try tunnel.write(output)
    }

    /// Sends every message back, until the client closes the connection.
    package func echo() throws {
        while let event = try receive() {
            switch event {
            case .text(let text): try send(text)
            case .binary(let payload): try send(payload.withUnsafeBytes { Array($0) })
            case .ping, .pong: break
            case .close: return
            }
        }
    }
}
