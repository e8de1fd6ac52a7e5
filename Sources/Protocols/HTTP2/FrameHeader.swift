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
