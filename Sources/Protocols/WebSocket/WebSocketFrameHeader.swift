/// What begins a frame (RFC 6455 §5.2).
///
///     FIN RSV1 RSV2 RSV3 opcode(4) | MASK length(7) | length(16 or 64) | masking key(32)
public struct WebSocketFrameHeader: Sendable, Hashable {
    /// The most bytes that a header has.
    static let maximumSize = 14

    /// Whether the frame is its message's last.
    public var isFinal: Bool
    /// RSV1: whether the message that the frame begins is compressed (RFC 7692 §6).
    public var isCompressed: Bool
    /// What it carries.
    public var opcode: WebSocketOpcode
    /// How the payload is masked; nil where it is not.
    public var mask: WebSocketMask?
    /// Bytes of payload that follow.
    public var length: Int

    /// A header.
    public init(
        _ opcode: WebSocketOpcode, length: Int, isFinal: Bool = true, isCompressed: Bool = false,
        mask: WebSocketMask? = nil
    ) {
        self.opcode = opcode
        self.length = length
        self.isFinal = isFinal
        self.isCompressed = isCompressed
        self.mask = mask
    }

    /// Appends the header. A negative length is taken as 0.
    public func append(to output: inout [UInt8]) {
        output.append(opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0))
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        switch length {
        case ...125:
            output.append(UInt8(max(0, length)) | maskBit)
        case ...0xffff:
            output.append(126 | maskBit)
            Self.append(UInt64(length), byteCount: 2, to: &output)
        case _:
            output.append(127 | maskBit)
            Self.append(UInt64(length), byteCount: 8, to: &output)
        }
        if let (a, b, c, d) = mask?.bytes {
            output.append(a)
            output.append(b)
            output.append(c)
            output.append(d)
        }
    }

    private static func append(_ number: UInt64, byteCount: Int, to output: inout [UInt8]) {
        for shift in stride(from: 8 * (byteCount - 1), through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    /// Reads a header from the beginning of bytes; gives it and its size, or nil when they are too few.
    static func read(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> (WebSocketFrameHeader, size: Int)? {
        guard bytes.count >= 2 else { return nil }
        let (first, second) = (bytes[0], bytes[1])
        guard first & 0x30 == 0 else { throw WebSocketError(.reservedBits) }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0f) else {
            throw WebSocketError(.unknownOpcode(first & 0x0f))
        }
        var header = WebSocketFrameHeader(
            opcode, length: Int(second & 0x7f), isFinal: first & 0x80 != 0, isCompressed: first & 0x40 != 0)
        if opcode.isControl {
            guard header.isFinal else { throw WebSocketError(.controlFrameInFragments) }
            guard header.length <= 125 else { throw WebSocketError(.controlFrameTooLong) }
        }
        let lengthSize = header.length == 126 ? 2 : header.length == 127 ? 8 : 0
        let isMasked = second & 0x80 != 0
        let size = 2 + lengthSize + (isMasked ? 4 : 0)
        guard bytes.count >= 2 + lengthSize else { return nil }
        if lengthSize > 0 { header.length = try longLength(bytes, lengthSize) }
        guard bytes.count >= size else { return nil }
        if isMasked { header.mask = WebSocketMask(bytes[size - 4], bytes[size - 3], bytes[size - 2], bytes[size - 1]) }
        return (header, size)
    }

    private static func longLength(
        _ bytes: UnsafeRawBufferPointer, _ size: Int
    ) throws(WebSocketError) -> Int {
        var number: UInt64 = 0
        for index in 2..<2 + size { number = number << 8 | UInt64(bytes[index]) }
        guard let length = Int(exactly: number) else { throw WebSocketError(.impossibleLength) }
        guard length > (size == 2 ? 125 : 0xffff) else { throw WebSocketError(.wastefulLength) }
        return length
    }
}

/// What a frame carries (RFC 6455 §5.2).
public enum WebSocketOpcode: UInt8, Sendable, Hashable {
    /// More of a message.
    case continuation = 0x0
    /// Text, or the first part of it.
    case text = 0x1
    /// Bytes, or the first part of them.
    case binary = 0x2
    /// The end of the connection, with a code and a reason.
    case close = 0x8
    /// Checks whether the other side is there.
    case ping = 0x9
    /// The answer to it.
    case pong = 0xA

    /// Whether the frame may come in the middle of a message (§5.5).
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
