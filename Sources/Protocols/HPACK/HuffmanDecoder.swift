/// Decodes strings of RFC 7541 §5.2.
///
/// A look at the next 11 bits gives one or two of the symbols that occur in practice; the rest are found by their code's length, which
/// in a canonical code follows from comparing the bits with the last code of each length.
enum HuffmanDecoder {
    /// How much room decoding needs for a coded string: the shortest code has 5 bits, and symbols are written in pairs,
    /// of which the second may not be one.
    @inline(__always)
    static func room(encoded count: Int) -> Int { count / 5 * 8 + count % 5 * 8 / 5 + 1 }

    /// Decodes `bytes` to `output`, which has room for ``room(encoded:)``, and returns how many bytes there
    /// are.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer
    ) -> Result<Int, HPACKError.Kind> {
        HuffmanTable.root.withUnsafeBufferPointer { root in
            HuffmanTable.pairs.withUnsafeBufferPointer { pairs in
                decode(bytes, to: output, root: root, pairs: pairs)
            }
        }
    }

    private static func decode(
        _ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer,
        root: UnsafeBufferPointer<UInt16>, pairs: UnsafeBufferPointer<UInt32>
    ) -> Result<Int, HPACKError.Kind> {
        var bits = BitReader(bytes)
        var count = 0
        while true {
            bits.refill()
            // Two looks are within the bits at hand, so that most symbols end here.
            while bits.available >= 32 {
                let isInTable =
                    append(&bits, to: output, at: &count, pairs: pairs)
                    && append(&bits, to: output, at: &count, pairs: pairs)
                bits.refill()
                guard isInTable else { break }
            }
            if bits.available == 0 { return .success(count) }
            let entry = root[Int(truncatingIfNeeded: bits.value >> UInt64(64 - HuffmanTable.rootBits))]
            var length = Int(entry & 0xF)
            var symbol = entry >> 4
            if length == 0 { (symbol, length) = longCode(UInt32(truncatingIfNeeded: bits.value >> 32)) }
            if length > bits.available {
                // The bits behind the end are zeros, so what is left is padding if it is ones (RFC 7541 §5.2).
                return bits.endsWithPadding ? .success(count) : .failure(.invalidPadding)
            }
            if symbol == HuffmanTable.endOfString { return .failure(.endOfStringSymbol) }
            output[count] = UInt8(truncatingIfNeeded: symbol)
            count &+= 1
            bits.skip(length)
        }
    }

    /// Decodes one or two symbols whose codes are in the table and returns true, or returns false.
    @inline(__always)
    private static func append(
        _ bits: inout BitReader, to output: UnsafeMutableRawBufferPointer, at count: inout Int,
        pairs: UnsafeBufferPointer<UInt32>
    ) -> Bool {
        let entry = pairs[Int(truncatingIfNeeded: bits.value >> UInt64(64 - HuffmanTable.pairBits))]
        guard entry != 0 else { return false }
        let symbols = UInt16(truncatingIfNeeded: entry)
        output.storeBytes(of: symbols.littleEndian, toByteOffset: count, as: UInt16.self)
        count &+= Int(entry >> 24)
        bits.skip(Int(entry >> 16 & 0xFF))
        return true
    }

    /// The symbol with which 32 bits begin, where its code is longer than ``HuffmanTable/rootBits``, and its length.
    private static func longCode(_ bits: UInt32) -> (symbol: UInt16, length: Int) {
        var row = 0
        while bits > HuffmanTable.longLastBits[row] { row += 1 }
        let length = HuffmanTable.longLengths[row]
        let place = (bits >> UInt32(32 - length)) - HuffmanTable.longFirstCodes[row]
        return (HuffmanTable.longSymbols[Int(HuffmanTable.longFirstSymbols[row]) + Int(place)], Int(length))
    }
}

/// The bits of a string, the first one in the highest bit of ``value``.
private struct BitReader {
    private(set) var value: UInt64 = 0
    /// How many bits of ``value`` are the string's; the others are 0.
    private(set) var available = 0
    private var offset = 0
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Makes 32 bits or more available, or all that are left.
    @inline(__always)
    mutating func refill() {
        if available >= 32 { return }
        if bytes.count &- offset >= 4 {
            let word = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            value |= UInt64(word) << UInt64(32 &- available)
            available &+= 32
            offset &+= 4
            return
        }
        while offset < bytes.count {
            value |= UInt64(bytes[offset]) << UInt64(56 &- available)
            available &+= 8
            offset &+= 1
        }
    }

    @inline(__always)
    mutating func skip(_ count: Int) {
        value <<= UInt64(truncatingIfNeeded: count)
        available &-= count
    }

    /// Whether the bits that are left are fewer than 8, and all ones.
    var endsWithPadding: Bool { available < 8 && value == ~(UInt64.max >> UInt64(available)) }
}
