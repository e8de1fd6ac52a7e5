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
