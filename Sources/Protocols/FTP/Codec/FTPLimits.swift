/// What a server may send on a control connection.
public struct FTPLimits: Sendable, Hashable {
    /// Bytes of a line of a reply, without its end. Default 8,192: longer than any path that a server can name.
    public var lineLength = 8_192
    /// Lines of a reply. Default 1,000: enough for a welcome message of many pages.
    public var replyLines = 1_000
    /// Bytes of a reply, without its line ends. Default 65,536.
    public var replyLength = 65_536
    /// Preliminary replies to one command (RFC 959 §4.2.1), of which one is usual. Default 16.
    public var preliminaryReplies = 16

    /// The default limits.
    public init() {}
}
