/// Encodes Huffman-coded strings (RFC 7541 §5.2).
enum HuffmanEncoder {
    /// The number of bytes in the coded string.
    static func count(_ bytes: UnsafeRawBufferPointer, _ codes: UnsafePointer<UInt64>) -> Int {
        let bits = bytes.reduce(into: 0) { $0 &+= Int(truncatingIfNeeded: codes[Int($1)] & 0xFF) }
        return (bits + 7) / 8
    }

    /// Appends the coded string, which has ``count(_:_:)`` bytes.
    static func append(
        _ bytes: UnsafeRawBufferPointer, _ codes: UnsafePointer<UInt64>, count: Int, to block: inout ByteBuilder
    ) {
        encode(bytes, to: block.room(count), codes: codes)
        block.advance(by: count)
    }

    private static func encode(
        _ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer, codes: UnsafePointer<UInt64>
    ) {
        // The lowest `pending` bits of `bits` have not been written. Between two bytes of the string there are fewer
        // than 32, so that the longest code, of 30 bits, fits beside them.
        var bits: UInt64 = 0
        var pending: UInt64 = 0
        var offset = 0
        for byte in bytes {
            let code = codes[Int(byte)]
            let length = code & 0xFF
            bits = bits << length | code >> 8
            pending &+= length
            guard pending >= 32 else { continue }
            pending &-= 32
            let word = UInt32(truncatingIfNeeded: bits >> pending)
            output.storeBytes(of: word.bigEndian, toByteOffset: offset, as: UInt32.self)
            offset &+= 4
        }
        while pending >= 8 {
            pending &-= 8
            output[offset] = UInt8(truncatingIfNeeded: bits >> pending)
            offset &+= 1
        }
        guard pending > 0 else { return }
        // The padding is the beginning of EOS, which consists of ones.
        output[offset] = UInt8(truncatingIfNeeded: bits << (8 &- pending) | 0xFF >> pending)
    }
}
