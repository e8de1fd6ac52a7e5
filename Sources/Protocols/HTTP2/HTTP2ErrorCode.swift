/// Why a stream or connection ends: the number in RST_STREAM and GOAWAY (RFC 9113 §7).
///
/// A peer may send numbers that the RFC does not name; they are kept.
public struct HTTP2ErrorCode: RawRepresentable, Sendable, Hashable {
    /// The number as it is sent.
    public var rawValue: UInt32

    /// A code of any number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// NO_ERROR: not an error; the end of a connection that is no longer needed.
    public static let noError = Self(rawValue: 0x0)
    /// PROTOCOL_ERROR: the peer broke a rule that has no code of its own.
    public static let protocolError = Self(rawValue: 0x1)
    /// INTERNAL_ERROR: the endpoint itself failed.
    public static let internalError = Self(rawValue: 0x2)
    /// FLOW_CONTROL_ERROR: more was sent than the window allows, or a window became too large.
    public static let flowControlError = Self(rawValue: 0x3)
    /// SETTINGS_TIMEOUT: settings were not acknowledged in time.
    public static let settingsTimeout = Self(rawValue: 0x4)
    /// STREAM_CLOSED: a frame came on a stream that had ended.
    public static let streamClosed = Self(rawValue: 0x5)
    /// FRAME_SIZE_ERROR: a frame's length is not valid.
    public static let frameSizeError = Self(rawValue: 0x6)
    /// REFUSED_STREAM: the request was not processed, and may be sent again (RFC 9113 §8.7).
    public static let refusedStream = Self(rawValue: 0x7)
    /// CANCEL: the stream is no longer needed.
    public static let cancel = Self(rawValue: 0x8)
    /// COMPRESSION_ERROR: the header compression state is lost.
    public static let compressionError = Self(rawValue: 0x9)
    /// CONNECT_ERROR: a tunnel's own connection failed.
    public static let connectError = Self(rawValue: 0xa)
    /// ENHANCE_YOUR_CALM: the peer causes too much load.
    public static let enhanceYourCalm = Self(rawValue: 0xb)
    /// INADEQUATE_SECURITY: the TLS below is not good enough.
    public static let inadequateSecurity = Self(rawValue: 0xc)
    /// HTTP_1_1_REQUIRED: the request has to be sent over HTTP/1.1.
    public static let http11Required = Self(rawValue: 0xd)
}

extension HTTP2ErrorCode: CustomStringConvertible {
    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The RFC's name, or the number where it has none.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "error code \(rawValue)"
    }
}
