/// Reads the integers and strings of a header block (RFC 7541 §5).
struct BlockReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    @inline(__always)
    var isAtEnd: Bool { offset == bytes.count }

    /// How many bytes are left.
    @inline(__always)
    var remaining: Int { bytes.count &- offset }

    /// What is left.
    @inline(__always)
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[offset...]) }

    /// Bytes that have been read.
    func bytes(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[start..<end])
    }

    /// Goes on behind bytes that are known to be there.
    @inline(__always)
    mutating func skip(_ count: Int) { offset &+= count }

    /// The next byte, which is there: see ``isAtEnd``. It stays the next one.
    @inline(__always)
    var peeked: UInt8 { bytes[offset] }

    /// An integer whose first bits are the lowest `prefix` bits of the next byte (RFC 7541 §5.1).
    @inline(__always)
    mutating func integer(prefix: UInt8) throws(HPACKError.Kind) -> Int {
        guard offset < bytes.count else { throw .truncated }
        let mask = UInt8(truncatingIfNeeded: (1 as UInt16) << UInt16(prefix)) &- 1
        let first = bytes[offset] & mask
        offset &+= 1
        return first < mask ? Int(first) : try continuedInteger(from: Int(mask))
    }

    /// The rest of an integer: 7 bits a byte, the lowest first. Five bytes hold any number that is allowed.
    private mutating func continuedInteger(from start: Int) throws(HPACKError.Kind) -> Int {
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

    /// A string as it is in the block, and whether it is Huffman-coded (RFC 7541 §5.2).
    @inline(__always)
    mutating func string() throws(HPACKError.Kind) -> (bytes: UnsafeRawBufferPointer, isHuffman: Bool) {
        guard offset < bytes.count else { throw .truncated }
        let isHuffman = bytes[offset] & 0x80 != 0
        let count = try integer(prefix: 7)
        guard count <= bytes.count &- offset else { throw .truncated }
        let string = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset &+ count])
        offset &+= count
        return (string, isHuffman)
    }
}
