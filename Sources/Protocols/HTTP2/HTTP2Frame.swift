/// One frame that was received, or a piece of a DATA frame (RFC 9113 §6).
///
/// Ranges are of the input that was given to ``HTTP2FrameDecoder/next(_:_:)`` by the call that returned the frame.
public enum HTTP2Frame: Sendable, Equatable {
    /// A DATA frame, or as much of it as has come.
    case data(HTTP2DataFragment)
    /// A HEADERS frame together with the CONTINUATION frames after it.
    case headers(stream: HTTP2StreamID, endStream: Bool, priority: HTTP2Priority?, block: HTTP2HeaderBlock)
    /// A PRIORITY frame, which the RFC asks to be ignored.
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
