/// The header of a frame (RFC 6455 §5.2).
///
///     FIN RSV1 RSV2 RSV3 opcode(4) | MASK length(7) | length(16 or 64) | masking key(32)
public struct WebSocketFrameHeader: Sendable, Hashable {
    /// The largest size of a header in bytes.
    static let maximumSize = 14

    /// Whether the frame is the last of its message.
    public var isFinal: Bool
    /// RSV1: whether the message that the frame begins is compressed (RFC 7692 §6).
    public var isCompressed: Bool
    /// The opcode, which states the kind of the payload.
    public var opcode: WebSocketOpcode
    /// The mask of the payload; nil if it is not masked.
    public var mask: WebSocketMask?
    /// The number of payload bytes that follow.
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

    /// Appends the header. A negative length counts as 0.
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

    /// Reads a header from the beginning of `bytes`. Returns the header and its size; nil if there are too few bytes.
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

/// The kind of a frame's payload (RFC 6455 §5.2).
public enum WebSocketOpcode: UInt8, Sendable, Hashable {
    /// The next part of a message.
    case continuation = 0x0
    /// Text, or its first part.
    case text = 0x1
    /// Binary data, or its first part.
    case binary = 0x2
    /// The end of the connection, with a code and a reason.
    case close = 0x8
    /// A check of the connection.
    case ping = 0x9
    /// The answer to a ping.
    case pong = 0xA

    /// Whether the frame may occur in the middle of a message (§5.5).
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
