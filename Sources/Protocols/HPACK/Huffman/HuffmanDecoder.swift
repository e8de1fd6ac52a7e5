/// Decodes Huffman-coded strings (RFC 7541 §5.2).
///
/// A table look-up with the next 12 bits yields one or two of the symbols that are frequent in practice. The other
/// symbols are found by the length of their code. In a canonical code, comparing the bits with the last code of each
/// length yields this length.
struct HuffmanDecoder {
    private let table: UnsafePointer<HuffmanTable>
    private let bits: CodedBits
    private let output: UnsafeMutableRawBufferPointer
    /// The number of decoded bits.
    private var position = 0
    /// The number of decoded symbols.
    private var count = 0

    /// The room that decoding a coded string needs, in bytes: the shortest code has 5 bits, and symbols are written in
    /// pairs, in which the second symbol may be unused.
    @inline(__always)
    static func room(encoded count: Int) -> Int { count / 5 * 8 + count % 5 * 8 / 5 + 1 }

    /// Decodes `bytes` to `output`, which has room for ``room(encoded:)``, and returns the number of decoded bytes.
    /// `readable` more bytes may be read behind `bytes`.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, _ table: UnsafePointer<HuffmanTable>, followedBy readable: Int = 0,
        to output: UnsafeMutableRawBufferPointer
    ) -> Result<Int, HPACKError.Kind> {
        var decoder = HuffmanDecoder(table: table, bits: CodedBits(bytes, followedBy: readable), output: output)
        return decoder.decode(table.pointee.pairs)
    }

    private init(table: UnsafePointer<HuffmanTable>, bits: CodedBits, output: UnsafeMutableRawBufferPointer) {
        (self.table, self.bits, self.output) = (table, bits, output)
    }

    @inline(__always)
    private var remaining: Int { bits.count &- position }

    @inline(__always)
    private mutating func decode(_ pairs: UnsafePointer<UInt32>) -> Result<Int, HPACKError.Kind> {
        while true {
            decodeFours(pairs)
            if remaining < Self.bitsOfFour, !decodeLast(pairs) { return .failure(.invalidPadding) }
            let word = bits.word(at: position)
            // If less than a byte is left and all its bits are ones, the rest is padding (RFC 7541 §5.2). No symbol has
            // such a code.
            if remaining < 8, word == .max { return .success(count) }
            let (symbol, length) = longCode(UInt32(truncatingIfNeeded: word >> 32))
            guard length <= remaining else { return .failure(.invalidPadding) }
            if symbol == HuffmanTable.endOfString { return .failure(.endOfStringSymbol) }
            output[count] = UInt8(truncatingIfNeeded: symbol)
            count &+= 1
            position &+= length
        }
    }

    /// The largest number of bits for four look-ups.
    private static let bitsOfFour = 4 * HuffmanTable.pairBits

    /// Decodes with four look-ups at a time within the string, until too few bits are left or a code is not in the
    /// table. The entry of such a code is 0, so the look-ups take no bits.
    @inline(__always)
    private mutating func decodeFours(_ pairs: UnsafePointer<UInt32>) {
        while remaining >= Self.bitsOfFour {
            var word = bits.word(at: position)
            take(Self.entry(pairs, word), from: &word)
            take(Self.entry(pairs, word), from: &word)
            take(Self.entry(pairs, word), from: &word)
            let last = Self.entry(pairs, word)
            take(last, from: &word)
            if last == 0 { return }
        }
    }

    /// Decodes the rest until only padding, or a code that is not in the table, is left. Returns whether all codes
    /// found were within the string.
    @inline(__always)
    private mutating func decodeLast(_ pairs: UnsafePointer<UInt32>) -> Bool {
        // The word contains the rest of the string, followed by ones. Ones, with or without padding before them, begin
        // no code in the table. A code that is too long therefore means that the string ends within a code.
        var word = bits.word(at: position)
        while true {
            let entry = Self.entry(pairs, word)
            if entry == 0 { return true }
            guard Int(entry & 0x3F) <= remaining else { return false }
            take(entry, from: &word)
        }
    }

    @inline(__always)
    private static func entry(_ pairs: UnsafePointer<UInt32>, _ word: UInt64) -> UInt32 {
        pairs[Int(truncatingIfNeeded: word >> UInt64(64 - HuffmanTable.pairBits))]
    }

    /// Writes the symbols of an entry, whose bits are within the string, and advances behind them.
    @inline(__always)
    private mutating func take(_ entry: UInt32, from word: inout UInt64) {
        let symbols = UInt16(truncatingIfNeeded: entry >> 16)
        output.storeBytes(of: symbols.littleEndian, toByteOffset: count, as: UInt16.self)
        count &+= Int(entry >> 8 & 0xFF)
        position &+= Int(entry & 0x3F)
        word = word &<< UInt64(entry & 0x3F)
    }

    /// The first symbol in 32 bits, if its code is longer than ``HuffmanTable/pairBits``, and the length of the code.
    private func longCode(_ bits: UInt32) -> (symbol: UInt16, length: Int) {
        var row = table.pointee.longCodes
        while bits > row.pointee.lastBits { row += 1 }
        let place = (bits >> UInt32(32 - row.pointee.length)) - row.pointee.firstCode
        return (table.pointee.symbols[row.pointee.firstSymbol + Int(place)], row.pointee.length)
    }
}

/// The bits of a Huffman-coded string. The first one is the highest bit of a word.
struct CodedBits {
    private let bytes: UnsafeRawBufferPointer
    /// The last offset from which a word can be read, even if a part of it is behind the string; negative if there is
    /// none.
    private let lastWord: Int

    /// The `readable` bytes that follow `bytes` can be read, too.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, followedBy readable: Int) {
        self.bytes = bytes
        lastWord = bytes.count &+ readable &- 8
    }

    /// The number of bits. A block's length is limited, so the number does not overflow.
    @inline(__always)
    var count: Int { bytes.count &* 8 }

    /// The bits from `position` on, which must not be behind the end: 57 or more, with ones behind the end.
    @inline(__always)
    func word(at position: Int) -> UInt64 {
        let offset = position &>> 3
        // The caller guarantees that the bytes up to `lastWord` can be read.
        let word = offset <= lastWord ? loaded(at: offset) : assembled(at: offset)
        let rest = count &- position
        let ones = rest < 64 ? UInt64.max &>> UInt64(truncatingIfNeeded: rest) : 0
        return word &<< UInt64(truncatingIfNeeded: position & 7) | ones
    }

    @inline(__always)
    private func loaded(at offset: Int) -> UInt64 {
        guard let start = bytes.baseAddress else { return 0 }
        return UInt64(bigEndian: start.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The last bytes, fewer than eight, at the beginning of a word.
    private func assembled(at offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in offset..<bytes.count { word |= UInt64(bytes[index]) << UInt64(56 &- (index &- offset) &* 8) }
        return word
    }
}
