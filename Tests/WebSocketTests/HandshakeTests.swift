import Testing

@testable import LoadingKitWebSocket

@Suite struct HandshakeTests {
    /// RFC 6455 §1.3.
    @Test func theExampleOfTheRFC() {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func theRequest() {
        var fields = HTTPFields()
        let handshake = WebSocketHandshake(subprotocols: ["chat", "superchat"])
        handshake.addFields(to: &fields)
        #expect(fields[.secWebSocketVersion] == "13" && fields[.secWebSocketProtocol] == "chat, superchat")
        #expect(fields[.secWebSocketExtensions] == "permessage-deflate; client_max_window_bits")
        #expect(!fields.contains(.upgrade))
        handshake.addUpgradeFields(to: &fields)
        #expect(fields[.upgrade] == "websocket" && fields[.connection] == "Upgrade")
        // 16 bytes.
        #expect(fields[.secWebSocketKey]?.utf8.count == 24)
        var others = HTTPFields()
        WebSocketHandshake().addUpgradeFields(to: &others)
        #expect(others[.secWebSocketKey] != fields[.secWebSocketKey])
    }

    @Test func responses() {
        let handshake = WebSocketHandshake(subprotocols: ["chat"])
        var request = HTTPFields()
        handshake.addUpgradeFields(to: &request)
        let accept = WebSocketHandshake.accept(request[.secWebSocketKey] ?? "")
        func read(_ fields: [(KnownField, String)]) -> Result<WebSocketHandshake.Agreement, WebSocketError> {
            var all = HTTPFields()
            for (name, value) in fields { all.append(name, value) }
            return Result { () throws(WebSocketError) in try handshake.agreement(upgrade: all) }
        }
        let right: [(KnownField, String)] = [
            (.upgrade, "WebSocket"), (.connection, "keep-alive, upgrade"), (.secWebSocketAccept, accept),
        ]
        #expect(read(right) == .success(.init(subprotocol: nil, deflate: nil)))
        #expect(
            read(right + [(.secWebSocketProtocol, "chat"), (.secWebSocketExtensions, "permessage-deflate")])
                == .success(.init(subprotocol: "chat", deflate: PermessageDeflate())))
        let wrong: [([(KnownField, String)], WebSocketError.Kind)] = [
            ([], .missingUpgrade),
            (Array(right.dropFirst()), .missingUpgrade),
            ([right[0], right[2]], .missingUpgrade),
            ([right[0], (.connection, "close"), right[2]], .missingUpgrade),
            (Array(right.dropLast()), .wrongAccept),
            ([right[0], right[1], (.secWebSocketAccept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")], .wrongAccept),
            (right + [right[2]], .wrongAccept),
            (right + [(.secWebSocketProtocol, "Chat")], .unofferedProtocol("Chat")),
            (
                right + [(.secWebSocketProtocol, "chat"), (.secWebSocketProtocol, "chat")],
                .unofferedProtocol("chat, chat")
            ),
            (right + [(.secWebSocketExtensions, "other")], .unofferedExtension("other")),
        ]
        for (fields, kind) in wrong { #expect(read(fields) == .failure(WebSocketError(kind)), "\(kind)") }
    }
}
