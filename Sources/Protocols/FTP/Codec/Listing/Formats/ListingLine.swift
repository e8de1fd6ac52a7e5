import LoadingKitPrimitives

/// A line of a listing without its line end, divided into words.
struct ListingLine: Equatable {
    let bytes: [UInt8]
    /// The ranges of the words. Spaces and tabs separate words.
    let words: [Range<Int>]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var words: [Range<Int>] = []
        var start: Int?
        for (index, byte) in bytes.enumerated() {
            if ASCII.isSpace(byte) {
                if let first = start { words.append(first..<index) }
                start = nil
            } else if start == nil {
                start = index
            }
        }
        if let start { words.append(start..<bytes.count) }
        self.words = words
    }

    /// The bytes of a word; empty if there is no such word.
    func word(_ index: Int) -> ArraySlice<UInt8> {
        words.indices.contains(index) ? bytes[words[index]] : []
    }

    /// A word as text.
    func text(_ index: Int) -> String { String(decoding: word(index), as: UTF8.self) }

    /// The rest of the line after the word and one space. A name may itself begin with spaces.
    func rest(afterWord index: Int) -> ArraySlice<UInt8> {
        words.indices.contains(index) ? bytes[words[index].upperBound...].dropFirst() : []
    }
}

extension Collection<UInt8> {
    /// The number, if all bytes are decimal digits; nil otherwise, and if the number exceeds 64 bits.
    var decimal: UInt64? { ASCII.decimal(self) }

    /// The number, if all bytes are decimal digits and there are at most four, as in a part of a date.
    var datePart: Int? { count <= 4 ? decimal.map { Int($0) } : nil }
}
