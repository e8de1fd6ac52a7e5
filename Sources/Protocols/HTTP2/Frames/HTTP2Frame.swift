/// One received frame, or a piece of a DATA frame (RFC 9113 §6).
///
/// Ranges refer to the input of the ``HTTP2FrameDecoder/next(_:_:)`` call that returned the frame.
public enum HTTP2Frame: Sendable, Equatable {
    /// A DATA frame, or the part of it that has arrived.
    case data(HTTP2DataFragment)
    /// A HEADERS frame together with the CONTINUATION frames after it.
    case headers(stream: HTTP2StreamID, endStream: Bool, priority: HTTP2Priority?, block: HTTP2HeaderBlock)
    /// A PRIORITY frame. The RFC requires it to be ignored.
    case priority(stream: HTTP2StreamID, HTTP2Priority)
    /// A RST_STREAM frame.
    case resetStream(stream: HTTP2StreamID, HTTP2ErrorCode)
    /// A SETTINGS frame.
    case settings([HTTP2Setting])
    /// A SETTINGS frame with ACK.
    case settingsAcknowledgement
    /// A PUSH_PROMISE frame together with the CONTINUATION frames after it.
    case pushPromise(stream: HTTP2StreamID, promised: HTTP2StreamID, block: HTTP2HeaderBlock)
    /// A PING frame, and whether it acknowledges one.
    case ping(UInt64, isAcknowledgement: Bool)
    /// A GOAWAY frame, with the first bytes of its debug data.
    case goAway(lastStream: HTTP2StreamID, HTTP2ErrorCode, debugData: [UInt8])
    /// A WINDOW_UPDATE frame; its increment is never 0.
    case windowUpdate(stream: HTTP2StreamID, increment: UInt32)
    /// A frame of another type, which was skipped (§5.5).
    case unknown(type: UInt8, stream: HTTP2StreamID)
}

/// A piece of a DATA frame: the whole frame, or the part in one input.
public struct HTTP2DataFragment: Sendable, Hashable {
    /// The stream of the bytes.
    public var stream: HTTP2StreamID
    /// The range of the bytes in the input, without padding.
    public var payload: Range<Int>
    /// The number of bytes that flow control counts for this piece: the payload, and the padding that arrived with it.
    public var flowControlled: Int
    /// The length of the whole frame as flow control counts it, at the frame's first piece; otherwise nil.
    public var frameLength: Int?
    /// Whether this piece contains the stream's last byte: the frame has END_STREAM and is complete.
    public var endStream: Bool
}

/// The place of a complete header block. ``HTTP2FrameDecoder/withBytes(of:input:_:)`` provides its bytes.
public enum HTTP2HeaderBlock: Sendable, Hashable {
    /// The block is in the input, in one piece.
    case input(Range<Int>)
    /// The block is in the decoder, which has assembled it, until the next call of ``HTTP2FrameDecoder/next(_:_:)``.
    case gathered
}

/// A deprecated priority (RFC 9113 §5.3.2). It is read and written, and otherwise ignored.
public struct HTTP2Priority: Sendable, Hashable {
    /// The stream on which this one depends.
    public var dependency: HTTP2StreamID
    /// Whether this stream becomes the only one that depends on it.
    public var isExclusive: Bool
    /// The weight, 1 to 256.
    public var weight: Int

    /// A priority. A weight outside 1 to 256 is replaced by the nearest valid one.
    public init(dependency: HTTP2StreamID, isExclusive: Bool = false, weight: Int = 16) {
        self.dependency = dependency
        self.isExclusive = isExclusive
        self.weight = min(max(weight, 1), 256)
    }
}

/// The nine bytes before a frame's payload (RFC 9113 §4.1).
struct FrameHeader {
    static let size = 9

    var length: Int
    var type: UInt8
    var flags: UInt8
    var stream: HTTP2StreamID

    /// Reads a header at `position`, where at least nine bytes follow.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, at position: Int) {
        // The first four bytes are the length and the type.
        let word = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        length = Int(word >> 8)
        type = UInt8(truncatingIfNeeded: word)
        flags = bytes[position + 4]
        stream = HTTP2StreamID(
            rawValue: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position + 5, as: UInt32.self)))
    }

    @inline(__always)
    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }
}

/// The types of frames (RFC 9113 §6).
enum FrameType: UInt8 {
    case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
}

/// The flags of frames. Some have the same value.
enum FrameFlags {
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
}

/// The common parts of several frame types' payloads (RFC 9113 §6.1, §6.2, §6.3).
enum PayloadReader {
    /// The number in the four bytes at `offset`.
    @inline(__always)
    static func word(_ payload: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(bigEndian: payload.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The part of a HEADERS or PUSH_PROMISE payload that is not padding.
    static func withoutPadding(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer
    ) throws(HTTP2Error) -> Range<Int> {
        guard header.has(FrameFlags.padded) else { return 0..<payload.count }
        guard let first = payload.first else { throw HTTP2Error(.frameSize) }
        guard Int(first) < payload.count else { throw HTTP2Error(.paddingTooLong) }
        return 1..<payload.count - Int(first)
    }

    /// The five bytes of a priority.
    static func priority(_ payload: UnsafeRawBufferPointer, at offset: Int) -> HTTP2Priority {
        let word = word(payload, at: offset)
        return HTTP2Priority(
            dependency: HTTP2StreamID(rawValue: word), isExclusive: word >> 31 == 1,
            weight: Int(payload[offset + 4]) + 1)
    }
}
