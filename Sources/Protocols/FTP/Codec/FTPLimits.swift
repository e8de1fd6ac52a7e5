/// Limits on the replies and listings that a server may send.
public struct FTPLimits: Sendable, Hashable {
    /// The maximum number of bytes in a reply's line, without the line end. Default 8,192: longer than any path that a
    /// server can name.
    public var lineLength = 8_192
    /// The maximum number of lines in a reply, and of empty lines before it. Default 1,000: enough for a welcome
    /// message of many pages.
    public var replyLines = 1_000
    /// The maximum number of bytes in a reply, without the line ends. Default 65,536.
    public var replyLength = 65_536
    /// The maximum number of preliminary replies to one command (RFC 959 §4.2.1). Servers usually send one. Default 16.
    public var preliminaryReplies = 16
    /// The maximum number of bytes in a line of a listing, without its line end. Default 16 KiB: enough for a name and
    /// a link's target of 4,096 bytes each (Linux's longest path). The number of lines has no limit, as a file's length
    /// has none.
    public var listingLineLength = 16_384

    /// The default limits.
    public init() {}
}
