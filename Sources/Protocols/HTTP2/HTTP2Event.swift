import LoadingKitPrimitives

/// What a peer's bytes mean for the user of a connection.
public enum HTTP2Event: Sendable {
    /// The peer's ``HTTP2ConnectionStateMachine/peerSettings`` are there, or have changed.
    case settingsChanged
    /// The peer has taken this side's settings.
    case settingsAcknowledged
    /// A head, interim or final.
    case head(stream: UInt32, HTTP2Head, endStream: Bool)
    /// Bytes of a body, in the input. They count as waiting until `didConsume` is told of them.
    case data(stream: UInt32, Range<Int>, endStream: Bool)
    /// Fields after the body; the stream ends with them.
    case trailers(stream: UInt32, HTTPFields)
    /// The peer has ended the stream.
    case reset(stream: UInt32, HTTP2ErrorCode)
    /// The peer has broken a rule of the stream, which was reset for it.
    case failed(stream: UInt32, HTTP2Error)
    /// The peer takes no more streams, and has not looked at those above the last.
    case goAway(lastStream: UInt32, HTTP2ErrorCode, debugText: String)
    /// The answer to a PING.
    case pingAcknowledged(UInt64)
    /// More may be sent on the stream; 0: on any.
    case windowOpened(stream: UInt32)
}
