/// What a WebSocket connection has received.
public enum WebSocketEvent: Sendable {
    /// A whole message of text.
    case text(String)
    /// A whole message of bytes.
    case binary(WebSocketPayload)
    /// A ping: the other side checks whether this one is there. It is answered by itself.
    case ping([UInt8])
    /// The other side is there.
    case pong([UInt8])
    /// The other side ends the connection. It is answered by itself; nothing follows.
    ///
    /// The code is ``WebSocketCloseCode/noStatusReceived`` where it gave none.
    case close(WebSocketCloseCode, reason: String)
}

/// What a message consists of.
public enum WebSocketMessageKind: Sendable, Hashable {
    /// UTF-8.
    case text
    /// Any bytes.
    case binary

    var opcode: WebSocketOpcode {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }
}
