/// Reads the words of JSON (RFC 8259) one after the other, without making values of them.
struct JSONWords {
    let input: ArraySlice<UInt8>
    var position: Int

    init(_ input: ArraySlice<UInt8>) {
        self.input = input
        position = input.startIndex
    }

    var isAtEnd: Bool { position == input.endIndex }

    private var next: UInt8? { position < input.endIndex ? input[position] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position += 1 }
    }

    /// Moves behind the text; false where something else is there.
    mutating func skip(_ text: StaticString) -> Bool {
        let end = position + text.utf8CodeUnitCount
        guard end <= input.endIndex else { return false }
        let isThere = text.withUTF8Buffer { input[position..<end].elementsEqual($0) }
        if isThere { position = end }
        return isThere
    }

    /// Moves behind a string, of which the first quotation mark was skipped.
    ///
    /// - Returns: a description of what is missing; nil where the string is complete.
    mutating func scanString() -> String? {
        while let byte = next, byte >= 0x20 {
            position += 1
            if byte == UInt8(ascii: "\"") { return nil }
            if byte == UInt8(ascii: "\\"), !scanEscape() { return "an escape that JSON has" }
        }
        return next == nil ? "the end of a string" : "a string without control characters"
    }

    private mutating func scanEscape() -> Bool {
        guard let kind = next else { return false }
        position += 1
        guard kind == UInt8(ascii: "u") else { return #""\/bfnrt"#.utf8.contains(kind) }
        let digits = input[position...].prefix(4)
        position += digits.count
        return digits.count == 4 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// Moves behind a number of any size; false where there is none.
    mutating func scanNumber() -> Bool {
        _ = skip("-")
        guard skip("0") || scanDigits() else { return false }
        if skip("."), !scanDigits() { return false }
        guard skip("e") || skip("E") else { return true }
        _ = skip("+") || skip("-")
        return scanDigits()
    }

    private mutating func scanDigits() -> Bool {
        let start = position
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
        return position > start
    }
}
