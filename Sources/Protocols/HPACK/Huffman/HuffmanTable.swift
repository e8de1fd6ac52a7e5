/// The Huffman code of RFC 7541, appendix B.
///
/// The code is canonical: codes of one length are consecutive numbers in the order of their symbols, and longer codes
/// follow shorter ones. Therefore all tables are made from the codes' lengths.
struct HuffmanTable {
    /// The table, which does not change. Each encoder and decoder keeps the pointer, as checking whether it was made
    /// costs a call.
    nonisolated(unsafe) static let shared = permanent([HuffmanTable()])

    /// The symbol EOS.
    static let endOfString: UInt16 = 256
    /// The number of bits that form an index of ``pairs``: two of the codes of 5 and 6 bits, which most symbols have.
    static let pairBits = 12

    /// The codes of one length that is above ``pairBits``.
    struct LongCodes {
        let length: Int
        let firstCode: UInt32
        /// The index of the first code's symbol in ``symbols``.
        let firstSymbol: Int
        /// The last code, followed by ones to 32 bits.
        var lastBits: UInt32 = 0
    }

    /// For each symbol: its code << 8 | the code's length in bits.
    let codes: UnsafePointer<UInt64>
    /// For each value of the next bits: the second symbol in them << 24 | the first one << 16 | the number of symbols
    /// (1 or 2) << 8 | the number of their bits; 0 if the code is longer.
    let pairs: UnsafePointer<UInt32>
    /// The longer codes, in the order of their lengths.
    let longCodes: UnsafePointer<LongCodes>
    /// All symbols, in the order of their codes.
    let symbols: UnsafePointer<UInt16>

    private init() {
        let order = Self.lengths.indices.sorted { (Self.lengths[$0], $0) < (Self.lengths[$1], $1) }
        var codes = [UInt64](repeating: 0, count: order.count)
        var longCodes: [LongCodes] = []
        var (code, length) = (0 as UInt64, 0)
        for (place, symbol) in order.enumerated() {
            let isLonger = Self.lengths[symbol] > length
            code <<= UInt64(Self.lengths[symbol] - length)
            length = Self.lengths[symbol]
            codes[symbol] = code << 8 | UInt64(length)
            if isLonger { longCodes.append(LongCodes(length: length, firstCode: UInt32(code), firstSymbol: place)) }
            code += 1
            longCodes[longCodes.count - 1].lastBits = UInt32((code << UInt64(32 - length)) - 1)
        }
        longCodes.removeAll { $0.length <= Self.pairBits }
        self.codes = Self.permanent(codes)
        self.longCodes = Self.permanent(longCodes)
        symbols = Self.permanent(order.map { UInt16($0) })
        pairs = Self.permanent(Self.pairs(order.filter { Self.lengths[$0] <= Self.pairBits }, codes))
    }

    private static func pairs(_ short: [Int], _ codes: [UInt64]) -> [UInt32] {
        var pairs = [UInt32](repeating: 0, count: 1 << pairBits)
        func fill(_ code: Int, spare: Int, _ symbols: Int, count: Int) {
            let entry = UInt32(symbols << 16 | count << 8 | pairBits - spare)
            for rest in 0..<1 << spare { pairs[code << spare | rest] = entry }
        }
        for first in short {
            let (code, spare) = (Int(codes[first] >> 8), pairBits - lengths[first])
            fill(code, spare: spare, first, count: 1)
            for second in short where lengths[second] <= spare {
                let both = code << lengths[second] | Int(codes[second] >> 8)
                fill(both, spare: spare - lengths[second], second << 8 | first, count: 2)
            }
        }
        return pairs
    }

    /// A copy of the values that lives as long as the program.
    private static func permanent<Value>(_ values: [Value]) -> UnsafePointer<Value> {
        let memory = UnsafeMutableBufferPointer<Value>.allocate(capacity: values.count)
        _ = memory.initialize(from: values)
        return UnsafePointer(memory.baseAddress.unsafelyUnwrapped)
    }

    /// The lengths in bits of the codes for the bytes 0 to 255 and for EOS.
    private static let lengths = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28,
        28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15,
        6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22,
        20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23,
        23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22,
        22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26,
        27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27,
        26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
    ]
}
