/// The nine bytes before a frame's payload (RFC 9113 §4.1).
struct FrameHeader {
    static let size = 9

    var length: Int
    var type: UInt8
    var flags: UInt8
    var stream: HTTP2StreamID

    /// Reads a header at the start of at least nine bytes.
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

/// The flags of frames; some share a bit.
enum FrameFlags {
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20
}

/// What the payloads of several frame types have in common (RFC 9113 §6.1, §6.2, §6.3).
enum PayloadReader {
    /// The number in four bytes.
    @inline(__always)
    static func word(_ payload: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
        UInt32(bigEndian: payload.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    /// The part of a HEADERS or PUSH_PROMISE payload that is no padding.
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
