import LoadingKitPrimitives
import LoadingKitWebSocket

/// A server's side of a WebSocket connection, which can violate the protocol byte by byte. Used on the connection's
/// thread.
public final class ServerWebSocket {
    /// The underlying bytes: bytes written there are sent unchanged, valid or not.
    public let tunnel: ServerTunnel
    /// The request that opened the connection.
    public let request: ServerRequest
    private var codec: WebSocketStateMachine
    private var input: [UInt8] = []
    private var position = 0

    init(_ tunnel: ServerTunnel, _ request: ServerRequest, _ deflate: PermessageDeflate?, _ limits: WebSocketLimits) {
        self.tunnel = tunnel
        self.request = request
        codec = WebSocketStateMachine(role: .server, deflate: deflate, limits: limits)
    }

    /// The next event; nil when the client has ended the connection. Pings and closes are answered.
    public func receive() throws -> WebSocketEvent? {
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
        if codec.hasControlBytes { try write { codec.drainControlBytes(into: &$0) } }
    }

    private func write(_ fill: (inout [UInt8]) throws -> Void) throws {
        var output: [UInt8] = []
        try fill(&output)
        try tunnel.write(output)
    }

    /// Sends a text message.
    public func send(_ text: String) throws { try send(.text, Array(text.utf8)) }

    /// Sends a binary message.
    public func send(_ bytes: [UInt8]) throws { try send(.binary, bytes) }

    /// Sends a message; a text's bytes are UTF-8.
    public func send(_ kind: WebSocketMessageKind, _ bytes: [UInt8]) throws {
        try write { output in try bytes.withUnsafeBytes { try codec.send(kind, $0, to: &output) } }
    }

    /// Sends a ping; at most 125 bytes.
    public func ping(_ payload: [UInt8] = []) throws { try write { try codec.sendPing(payload, to: &$0) } }

    /// Sends a close frame.
    public func close(_ code: WebSocketCloseCode, _ reason: String = "") throws {
        try write { try codec.sendClose(code, reason: reason, to: &$0) }
    }

    /// Sends every message back, until the client closes the connection.
    public func echo() throws {
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

extension ServerResponse {
    /// Accepts a request for a WebSocket connection, over either version of HTTP. Any other request gets 400.
    public static func webSocket(
        _ request: ServerRequest, subprotocol: String? = nil, compresses: Bool = false,
        limits: WebSocketLimits = WebSocketLimits(messageBytes: 1 << 26),
        _ body: @escaping @Sendable (ServerWebSocket) throws -> Void
    ) -> ServerResponse {
        let isStream = request.connectProtocol == "websocket"
        guard isStream || request.upgradesToWebSocket else {
            return .text("not a WebSocket handshake\n", status: 400)
        }
        let deflate = compresses ? PermessageDeflate(offers: request.fields.values(of: .secWebSocketExtensions)) : nil
        var response = ServerResponse(isStream ? 200 : 101)
        if !isStream {
            response.fields.append(.upgrade, "websocket")
            response.fields.append(.connection, "Upgrade")
            response.fields.append(
                .secWebSocketAccept, WebSocketHandshake.accept(request.fields[.secWebSocketKey] ?? ""))
        }
        if let subprotocol { response.fields.append(.secWebSocketProtocol, subprotocol) }
        if let deflate { response.fields.append(.secWebSocketExtensions, deflate.fieldValue) }
        response.body = .tunnel { tunnel in try body(ServerWebSocket(tunnel, request, deflate, limits)) }
        return response
    }
}

extension ServerRequest {
    /// Whether `Upgrade` names WebSocket, in any ASCII case (RFC 6455 §4.2.1).
    fileprivate var upgradesToWebSocket: Bool {
        (fields[.upgrade] ?? "").utf8.elementsEqual("websocket".utf8) { $0 | 0x20 == $1 }
    }
}
