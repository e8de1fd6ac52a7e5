/// Writes the integers and strings of a header block (RFC 7541 §5).
enum BlockWriter {
    /// Appends an integer, which is not negative, with `flags` in the bits before its first `prefix` bits
    /// (RFC 7541 §5.1).
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

    /// Appends a string, Huffman-coded where that is shorter (RFC 7541 §5.2).
    static func append(_ string: UnsafeRawBufferPointer, to block: inout ByteBuilder) {
        let count = HuffmanEncoder.count(string)
        if count < string.count {
            append(count, prefix: 7, flags: 0x80, to: &block)
            HuffmanEncoder.append(string, count: count, to: &block)
        } else {
            append(string.count, prefix: 7, flags: 0, to: &block)
            block.append(string)
        }
    }
}
