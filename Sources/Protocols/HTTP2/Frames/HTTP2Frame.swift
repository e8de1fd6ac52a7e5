/// One frame that was received, or a piece of a DATA frame (RFC 9113 §6).
///
/// Ranges are of the input that was given to ``HTTP2FrameDecoder/next(_:_:)`` by the call that returned the frame.
public enum HTTP2Frame: Sendable, Equatable {
    /// A DATA frame, or as much of it as has come.
    case data(HTTP2DataFragment)
    /// A HEADERS frame together with the CONTINUATION frames after it.
    case headers(stream: HTTP2StreamID, endStream: Bool, priority: HTTP2Priority?, block: HTTP2HeaderBlock)
    /// A PRIORITY frame, which is to be ignored by the RFC.
    case priority(stream: HTTP2StreamID, HTTP2Priority)
    /// A RST_STREAM frame.
    case resetStream(stream: HTTP2StreamID, HTTP2ErrorCode)
    /// A SETTINGS frame.
    case settings([HTTP2Setting])
    /// A SETTINGS frame with ACK.
    case settingsAcknowledgement
    /// A PUSH_PROMISE frame together with the CONTINUATION frames after it.
    case pushPromise(stream: HTTP2StreamID, promised: HTTP2StreamID, block: HTTP2HeaderBlock)
    /// A PING frame, and whether it answers one.
    case ping(UInt64, isAcknowledgement: Bool)
    /// A GOAWAY frame, with the first bytes of its debug data.
    case goAway(lastStream: HTTP2StreamID, HTTP2ErrorCode, debugData: [UInt8])
    /// A WINDOW_UPDATE frame; its increment is never 0.
    case windowUpdate(stream: HTTP2StreamID, increment: UInt32)
    /// A frame of another type, which was skipped (§5.5).
    case unknown(type: UInt8, stream: HTTP2StreamID)
}

/// A piece of a DATA frame: all of it, or what one input holds of it.
public struct HTTP2DataFragment: Sendable, Hashable {
    /// The stream that the bytes belong to.
    public var stream: HTTP2StreamID
    /// Where the bytes are in the input; without padding.
    public var payload: Range<Int>
    /// Bytes that flow control counts for this piece: the payload, and the padding that came with it.
    public var flowControlled: Int
    /// The length of the whole frame as flow control counts it; with the first piece of a frame, else nil.
    public var frameLength: Int?
    /// Whether the stream's last byte is in this piece: the frame has END_STREAM, and is complete.
    public var endStream: Bool
}

/// Where a complete header block is; ``HTTP2FrameDecoder/withBytes(of:input:_:)`` gives its bytes.
public enum HTTP2HeaderBlock: Sendable, Hashable {
    /// In the input, in one piece.
    case input(Range<Int>)
    /// In the decoder, which put it together, until the next call of ``HTTP2FrameDecoder/next(_:_:)``.
    case gathered
}

/// A deprecated priority (RFC 9113 §5.3.2); read, written and otherwise ignored.
public struct HTTP2Priority: Sendable, Hashable {
    /// The stream that this one depends on.
    public var dependency: HTTP2StreamID
    /// Whether it becomes the only one that does.
    public var isExclusive: Bool
    /// The weight, 1 to 256.
    public var weight: Int

    /// A priority. A weight beyond 1 to 256 is brought into that range.
    public init(dependency: HTTP2StreamID, isExclusive: Bool = false, weight: Int = 16) {
        self.dependency = dependency
        self.isExclusive = isExclusive
        self.weight = min(max(weight, 1), 256)
    }
}
