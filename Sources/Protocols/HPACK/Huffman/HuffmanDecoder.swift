/// Decodes strings of RFC 7541 §5.2.
///
/// A look at the next 12 bits gives one or two of the symbols that occur in practice; the rest are found by their
/// code's length, which in a canonical code follows from comparing the bits with the last code of each length.
struct HuffmanDecoder {
    private let bits: CodedBits
    private let output: UnsafeMutableRawBufferPointer
    /// How many bits are decoded.
    private var position = 0
    /// How many symbols these were.
    private var count = 0

    /// How much room decoding needs for a coded string: the shortest code has 5 bits, and symbols are written in pairs,
    /// of which the second may not be one.
    @inline(__always)
    static func room(encoded count: Int) -> Int { count / 5 * 8 + count % 5 * 8 / 5 + 1 }

    /// Decodes `bytes`, behind which `readable` more can be read, to `output`, which has room for ``room(encoded:)``,
    /// and returns how many bytes there are.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, followedBy readable: Int = 0, to output: UnsafeMutableRawBufferPointer
    ) -> Result<Int, HPACKError.Kind> {
        HuffmanTable.pairs.withUnsafeBufferPointer { pairs in
            var decoder = HuffmanDecoder(bits: CodedBits(bytes, followedBy: readable), output: output)
            return decoder.decode(pairs)
        }
    }

    private init(bits: CodedBits, output: UnsafeMutableRawBufferPointer) {
        self.bits = bits
        self.output = output
    }

    @inline(__always)
    private var remaining: Int { bits.count &- position }

    @inline(__always)
    private mutating func decode(_ pairs: UnsafeBufferPointer<UInt32>) -> Result<Int, HPACKError.Kind> {
        while true {
            decodeFours(pairs)
            if remaining < Self.bitsOfFour, !decodeLast(pairs) { return .failure(.invalidPadding) }
            let word = bits.word(at: position)
            // What is left is padding if it is less than a byte, of ones (RFC 7541 §5.2). No symbol has such a code.
            if remaining < 8, word == .max { return .success(count) }
            let (symbol, length) = Self.longCode(UInt32(truncatingIfNeeded: word >> 32))
            guard length <= remaining else { return .failure(.invalidPadding) }
            if symbol == HuffmanTable.endOfString { return .failure(.endOfStringSymbol) }
            output[count] = UInt8(truncatingIfNeeded: symbol)
            count &+= 1
            position &+= length
        }
    }

    /// What four looks take at most.
    private static let bitsOfFour = 4 * HuffmanTable.pairBits

    /// Decodes with four looks at a time, which are within the string, until there is too little left for that, or a
    /// code that is not in the table: then the looks take nothing, as their entry is 0.
    @inline(__always)
    private mutating func decodeFours(_ pairs: UnsafeBufferPointer<UInt32>) {
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

    /// Decodes what is left until there are only padding or a code that is not in the table, and returns whether all
    /// that was found was within the string.
    @inline(__always)
    private mutating func decodeLast(_ pairs: UnsafeBufferPointer<UInt32>) -> Bool {
        // It has all that is left, and ones behind it. These and padding before them begin no code in the table, so
        // that one which is too long means that the string ends within a code.
        var word = bits.word(at: position)
        while true {
            let entry = Self.entry(pairs, word)
            if entry == 0 { return true }
            guard Int(entry & 0x3F) <= remaining else { return false }
            take(entry, from: &word)
        }
    }

    @inline(__always)
    private static func entry(_ pairs: UnsafeBufferPointer<UInt32>, _ word: UInt64) -> UInt32 {
        pairs[Int(truncatingIfNeeded: word >> UInt64(64 - HuffmanTable.pairBits))]
    }

    /// Writes the symbols of an entry, whose bits are within the string, and goes on behind it.
    @inline(__always)
    private mutating func take(_ entry: UInt32, from word: inout UInt64) {
        let symbols = UInt16(truncatingIfNeeded: entry >> 16)
        output.storeBytes(of: symbols.littleEndian, toByteOffset: count, as: UInt16.self)
        count &+= Int(entry >> 8 & 0xFF)
        position &+= Int(entry & 0x3F)
        word = word &<< UInt64(entry & 0x3F)
    }

    /// The symbol with which 32 bits begin, where its code is longer than ``HuffmanTable/pairBits``, and its length.
    private static func longCode(_ bits: UInt32) -> (symbol: UInt16, length: Int) {
        var row = 0
        while bits > HuffmanTable.longLastBits[row] { row += 1 }
        let length = HuffmanTable.longLengths[row]
        let place = (bits >> UInt32(32 - length)) - HuffmanTable.longFirstCodes[row]
        return (HuffmanTable.longSymbols[Int(HuffmanTable.longFirstSymbols[row]) + Int(place)], Int(length))
    }
}

/// The bits of a Huffman-coded string, the first one in the highest bit of a word.
struct CodedBits {
    private let bytes: UnsafeRawBufferPointer
    /// The last place from which a word can be read, be it in part behind the string; negative where there is none.
    private let lastWord: Int

    /// `readable` bytes that follow `bytes` can be read too.
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, followedBy readable: Int) {
        self.bytes = bytes
        lastWord = bytes.count &+ readable &- 8
    }

    /// How many bits there are. A block's length is limited, so that they can be counted.
    @inline(__always)
    var count: Int { bytes.count &* 8 }

    /// The bits from `position` on, which is not behind the end: 57 or more, with ones for those behind the end.
    @inline(__always)
    func word(at position: Int) -> UInt64 {
        let offset = position &>> 3
        // By the caller's promise what `lastWord` allows can be read.
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

    /// The last bytes, which are fewer than eight, in the place of a word's first ones.
    private func assembled(at offset: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in offset..<bytes.count { word |= UInt64(bytes[index]) << UInt64(56 &- (index &- offset) &* 8) }
        return word
    }
}
