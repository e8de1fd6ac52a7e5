/// What the other side of a WebSocket connection may do.
public struct WebSocketLimits: Sendable, Hashable {
    /// Bytes of a message, decompressed and put together.
    public var messageBytes: Int
    /// Frames of a message that add nothing to it.
    public var emptyFrames: Int

    /// The default limits: a message of 1 MiB, of which 1,024 frames may be empty.
    public init(messageBytes: Int = 1 << 20, emptyFrames: Int = 1024) {
        self.messageBytes = messageBytes
        self.emptyFrames = emptyFrames
    }
}
