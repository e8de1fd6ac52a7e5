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
        // The caller's promise says that what `lastWord` allows can be read.
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
