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
