/// What bytes received mean to the owner of a connection.
public enum HTTP2Event: Sendable, Equatable {
    /// The peer's first settings have come: it speaks HTTP/2.
    case ready(HTTP2Settings)
    /// The peer has changed its settings. Windows may have opened: try again with each stream that waits.
    case settingsChanged(HTTP2Settings)
    /// The peer has taken over the settings that this side sent last.
    case settingsAcknowledged
    /// Header fields; in a server role those of a request open the stream.
    case headers(stream: HTTP2StreamID, HTTP2Head, endStream: Bool)
    /// Bytes of a body, as a range of the input. `flowControlled` bytes have to be given back with
    /// ``HTTP2ConnectionStateMachine/didConsume(_:on:)`` when they have been used, whatever becomes of the stream.
    case data(stream: HTTP2StreamID, Range<Int>, flowControlled: Int, endStream: Bool)
    /// Both sides of the stream have ended; follows the event with the peer's `endStream`.
    case streamClosed(stream: HTTP2StreamID)
    /// The peer has reset the stream. With REFUSED_STREAM the request was not processed (§8.7); with NO_ERROR after a
    /// whole response the rest of the request is not wanted (§8.1).
    case streamReset(stream: HTTP2StreamID, HTTP2ErrorCode)
    /// The peer broke a rule on that stream, which was reset.
    case streamFailed(stream: HTTP2StreamID, HTTP2Error)
    /// The peer takes no further stream. Of this side's, `unprocessed` were not processed, have ended, and may be sent
    /// again elsewhere (§6.8); the others go on.
    case goAway(
        lastStream: HTTP2StreamID, HTTP2ErrorCode, debugData: [UInt8], unprocessed: [HTTP2StreamID])
    /// The peer has answered a PING.
    case pingAcknowledged(UInt64)
    /// There may be room to send on that stream, which had none at the last attempt; on stream 0: on any stream.
    case windowOpened(stream: HTTP2StreamID)
}

/// Which side of a connection a state machine plays.
public enum HTTP2Role: Sendable, Hashable {
    /// Sends requests.
    case client
    /// Answers them.
    case server
}
