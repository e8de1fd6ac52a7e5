/// Reads the integers and strings of a header block (RFC 7541 §5).
struct BlockReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    @inline(__always)
    var isAtEnd: Bool { offset == bytes.count }

    /// The number of unread bytes.
    @inline(__always)
    var remaining: Int { bytes.count &- offset }

    /// The unread bytes.
    @inline(__always)
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    /// A range of the bytes.
    func bytes(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Skips bytes, which the caller knows to be available.
    @inline(__always)
    mutating func skip(_ count: Int) { offset &+= count }

    /// The next byte, without reading it. There must be one: see ``isAtEnd``.
    @inline(__always)
    var peeked: UInt8 { bytes[offset] }

    /// Reads an integer whose first bits are the lowest `prefix` bits of the next byte (RFC 7541 §5.1).
    @inline(__always)
    mutating func readInteger(prefix: UInt8) throws(HPACKError.Kind) -> Int {
        guard offset < bytes.count else { throw .truncated }
        let mask = UInt8(truncatingIfNeeded: (1 as UInt16) << UInt16(prefix)) &- 1
        let first = bytes[offset] & mask
        offset &+= 1
        return first < mask ? Int(first) : try readContinuedInteger(from: Int(mask))
    }

    /// Reads the rest of an integer: 7 bits in each byte, the lowest first. Five bytes hold any allowed number.
    private mutating func readContinuedInteger(from start: Int) throws(HPACKError.Kind) -> Int {
        var value = UInt64(start)
        for shift: UInt64 in stride(from: 0, through: 28, by: 7) {
            guard offset < bytes.count else { throw .truncated }
            let byte = bytes[offset]
            offset &+= 1
            value &+= UInt64(byte & 0x7F) << shift
            if byte & 0x80 != 0 { continue }
            guard value <= UInt64(UInt32.max) else { throw .integerOverflow }
            return Int(value)
        }
        throw .integerOverflow
    }

    /// Reads a string in its coded form, and whether it is Huffman-coded (RFC 7541 §5.2).
    @inline(__always)
    mutating func readString() throws(HPACKError.Kind) -> (bytes: UnsafeRawBufferPointer, isHuffman: Bool) {
        guard offset < bytes.count else { throw .truncated }
        let isHuffman = bytes[offset] & 0x80 != 0
        let count = try readInteger(prefix: 7)
        guard count <= bytes.count &- offset else { throw .truncated }
        let string = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset &+ count])
        offset &+= count
        return (string, isHuffman)
    }
}

/// Writes the integers and strings of a header block (RFC 7541 §5).
enum BlockWriter {
    /// Appends a nonnegative integer, with `flags` in the bits before its first `prefix` bits (RFC 7541 §5.1).
    @inline(__always)
    static func append(_ value: Int, prefix: UInt8, flags: UInt8, to block: inout ByteBuilder) {
        let mask: UInt8 = 0xFF >> (8 - prefix)
        guard value >= Int(mask) else { return block.append(flags | UInt8(truncatingIfNeeded: value)) }
        block.append(flags | mask)
        appendRest(value &- Int(mask), to: &block)
    }

    private static func appendRest(_ value: Int, to block: inout ByteBuilder) {
        var rest = value
        while rest >= 0x80 {
            block.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        block.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a string, Huffman-coded with ``HuffmanTable/codes`` if this is shorter (RFC 7541 §5.2).
    static func append(_ string: UnsafeRawBufferPointer, _ codes: UnsafePointer<UInt64>, to block: inout ByteBuilder) {
        let count = HuffmanEncoder.count(string, codes)
        if count < string.count {
            append(count, prefix: 7, flags: 0x80, to: &block)
            HuffmanEncoder.append(string, codes, count: count, to: &block)
        } else {
            append(string.count, prefix: 7, flags: 0, to: &block)
            block.append(string)
        }
    }
}
