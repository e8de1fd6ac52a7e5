/// Why a stream or a connection ended (RFC 9113 §7). Codes that are not known here are kept as they came.
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The number on the wire.
    public var rawValue: UInt32

    /// The code of a number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Ended in order.
    public static let noError = HTTP2ErrorCode(rawValue: 0x0)
    /// A rule was broken that has no code of its own.
    public static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    /// Something went wrong that is not the peer's fault.
    public static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    /// More was sent than the window allowed, or a window grew too large.
    public static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    /// SETTINGS were not acknowledged in time.
    public static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    /// A frame for a stream that was ended.
    public static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    /// A frame whose length is not one that its type can have.
    public static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    /// The request was not looked at: it may be sent again.
    public static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    /// Nobody wants the stream any more.
    public static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    /// The header compression's state is lost.
    public static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    /// A tunnel's connection was reset.
    public static let connectError = HTTP2ErrorCode(rawValue: 0xA)
    /// The peer does too much that is of no use.
    public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
    /// TLS is not as HTTP/2 needs it.
    public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xC)
    /// The request is to be made over HTTP/1.1.
    public static let http11Required = HTTP2ErrorCode(rawValue: 0xD)
}

extension HTTP2ErrorCode: CustomStringConvertible {
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The RFC's name, or the number.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error \(rawValue)"
    }
}
