import LoadingKitPrimitives
import LoadingKitWebSocket

extension ServerResponse {
    /// Grants a request for a WebSocket connection, over either version of HTTP. What is no such request gets 400.
    package static func webSocket(
        _ request: ServerRequest, subprotocol: String? = nil, compresses: Bool = false,
        limits: WebSocketLimits = WebSocketLimits(messageBytes: 1 << 26),
        _ body: @escaping @Sendable (ServerWebSocket) throws -> Void
    ) -> ServerResponse {
        let isStream = request.connectProtocol == "websocket"
        guard isStream || request.fields[.upgrade] == "websocket" else {
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
