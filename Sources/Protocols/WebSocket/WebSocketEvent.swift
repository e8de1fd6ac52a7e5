/// The messages and control frames that a WebSocket connection has received.
public enum WebSocketEvent: Sendable {
    /// A complete text message.
    case text(String)
    /// A complete binary message.
    case binary(WebSocketPayload)
    /// A ping: the other side checks the connection. The state machine answers it.
    case ping([UInt8])
    /// A pong, which answers a ping of this side.
    case pong([UInt8])
    /// The other side ends the connection. The state machine answers the close frame. No event follows.
    ///
    /// The code is ``WebSocketCloseCode/noStatusReceived`` if the frame contains none.
    case close(WebSocketCloseCode, reason: String)
}

/// The kind of a message's contents.
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
