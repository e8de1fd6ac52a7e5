/// The nine bytes before each frame's payload (RFC 9113 §4.1).
struct HTTP2FrameHeader {
    static let size = 9

    var length: Int
    /// A number, as types may come that are not known.
    var type: UInt8
    var flags: HTTP2FrameFlags
    var stream: UInt32

    init(length: Int, type: HTTP2FrameType, flags: HTTP2FrameFlags = [], stream: UInt32) {
        self.length = length
        self.type = type.rawValue
        self.flags = flags
        self.stream = stream
    }

    /// - Parameter bytes: at least nine.
    init(_ bytes: UnsafeRawBufferPointer) {
        length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        type = bytes[3]
        flags = HTTP2FrameFlags(rawValue: bytes[4])
        // The first bit is reserved, and ignored.
        stream = bytes.bigEndianUInt32(at: 5) & 0x7FFF_FFFF
    }

    func write(into output: inout [UInt8]) {
        output.appendUInt24(length)
        output.append(type)
        output.append(flags.rawValue)
        output.appendUInt32(stream)
    }
}

extension UnsafeRawBufferPointer {
    func bigEndianUInt32(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    func bigEndianUInt16(at offset: Int) -> UInt16 {
        UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }
}

extension [UInt8] {
    mutating func appendUInt16(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func appendUInt24(_ value: Int) {
        append(UInt8(truncatingIfNeeded: value >> 16))
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func appendUInt32(_ value: UInt32) {
        appendUInt16(UInt16(truncatingIfNeeded: value >> 16))
        appendUInt16(UInt16(truncatingIfNeeded: value))
    }

    /// Writes a frame's length again, once its payload is there.
    mutating func setUInt24(_ value: Int, at index: Int) {
        self[index] = UInt8(truncatingIfNeeded: value >> 16)
        self[index + 1] = UInt8(truncatingIfNeeded: value >> 8)
        self[index + 2] = UInt8(truncatingIfNeeded: value)
    }
}
