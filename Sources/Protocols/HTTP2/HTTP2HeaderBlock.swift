/// Where a complete header block is; ``HTTP2FrameDecoder/withBytes(of:input:_:)`` gives its bytes.
public enum HTTP2HeaderBlock: Sendable, Hashable {
    /// In the input, in one piece.
    case input(Range<Int>)
    /// In the decoder, which put it together, until the next call of ``HTTP2FrameDecoder/next(_:_:)``.
    case gathered
}
