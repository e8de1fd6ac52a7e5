import LoadingKitHPACK

/// What a peer may do that costs this side something, before the connection ends with ENHANCE_YOUR_CALM.
public struct HTTP2Limits: Sendable {
    /// The fields of one message, once decompressed. Default 256 KiB and 1,000 fields.
    public var fields = HPACKLimits()

    /// Bytes of one header block, as sent: a block that is larger than the largest list can only be meant to be
    /// decompressed for nothing. Default 256 KiB.
    public var headerBlockBytes = 256 * 1024

    /// CONTINUATION frames of one block: the longest block takes 16 of the shortest full frames. Default 32.
    public var continuations = 32

    /// SETTINGS parameters in one frame; there are fewer than a dozen. Default 100.
    public var settingsParameters = 100

    /// Frames that bring nothing (PING, SETTINGS, PRIORITY, empty DATA, a WINDOW_UPDATE of a few bytes, frames of types
    /// or on streams that are not known): so many may come before and between useful ones. Default 1,000: a busy server
    /// sends some dozens a connection.
    public var uselessFrames = 1000

    /// So many bytes of bodies, or one message's head, make up for one useless frame.
    public var usefulBytesPerFrame = 1024

    /// Streams that a peer may reset, above those that it let end: a server role's bound on rapid reset
    /// (CVE-2023-44487). Default 200.
    public var resetStreams = 200

    /// Interim responses before a final one. Default 32.
    public var interimResponses = 32

    /// The defaults.
    public init() {}
}
