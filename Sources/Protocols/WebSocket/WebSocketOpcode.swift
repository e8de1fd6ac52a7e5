/// What a frame carries (RFC 6455 §5.2).
public enum WebSocketOpcode: UInt8, Sendable, Hashable {
    /// More of a message.
    case continuation = 0x0
    /// Text, or the first part of it.
    case text = 0x1
    /// Bytes, or the first part of them.
    case binary = 0x2
    /// The end of the connection, with a code and a reason.
    case close = 0x8
    /// A question whether the other side is there.
    case ping = 0x9
    /// The answer to it.
    case pong = 0xA

    /// Whether the frame may come in the middle of a message (§5.5).
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
