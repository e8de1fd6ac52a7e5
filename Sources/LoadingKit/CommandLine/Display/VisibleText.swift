/// Bytes from other sources, made safe for a terminal. Characters that a terminal takes for commands, or that reorder the
/// displayed text, become escapes in the form of JSON's (`\u001b`); bytes that are not UTF-8 become `\x9b`.
struct VisibleText {
    /// The end of the previous piece, which the next piece completes: a part of a character, or CR.
    private var rest: [UInt8] = []

    /// The display of the next piece. Tabs and line breaks stay.
    mutating func receive(_ piece: some Collection<UInt8>) -> [UInt8] {
        let bytes = rest + piece
        let end = bytes.count - Self.unfinishedCount(bytes)
        rest = Array(bytes[end...])
        return Self.escaped(bytes[..<end])
    }

    /// The display of an unfinished end.
    mutating func finish() -> [UInt8] {
        defer { rest = [] }
        return Self.escaped(rest[...])
    }

    /// - Parameter keepsLines: whether tabs and line breaks stay; otherwise they become spaces.
    static func escaped(_ bytes: ArraySlice<UInt8>, keepsLines: Bool = true) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var parser = Unicode.UTF8.ForwardParser()
        var (input, position) = (bytes.makeIterator(), bytes.startIndex)
        while true {
            switch parser.parseScalar(from: &input) {
            case .emptyInput: return output
            case .error(let length):
                for byte in bytes[position..<position + length] { output += "\\x\(hexadecimal(UInt16(byte), 2))".utf8 }
                position += length
            case .valid(let character):
                position += character.count
                let isLineEnd = character.first == 0x0d && position < bytes.endIndex && bytes[position] == 0x0a
                switch Unicode.UTF8.decode(character) {
                case "\n", "\t": if keepsLines { output += character } else { output.append(UInt8(ascii: " ")) }
                case "\r" where isLineEnd: if keepsLines { output += character }
                case let scalar where isHidden(scalar):
                    for unit in String(scalar).utf16 { output += "\\u\(hexadecimal(unit, 4))".utf8 }
                case _: output += character
                }
            }
        }
    }

    /// Controls (C0, DEL, C1), separators of lines, and the controls of bidirectional text with which a text can show
    /// another order than it has.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: true
        case _: false
        }
    }

    /// The number of bytes at the end that a next piece may complete.
    static func unfinishedCount(_ bytes: [UInt8]) -> Int {
        if bytes.last == 0x0d { return 1 }
        for count in 1...3 where count <= bytes.count {
            switch bytes[bytes.count - count] {
            case 0x80...0xbf: continue
            case 0xc2...0xdf: return count < 2 ? count : 0
            case 0xe0...0xef: return count < 3 ? count : 0
            case 0xf0...0xf4: return count
            case _: return 0
            }
        }
        return 0
    }

    private static func hexadecimal(_ number: UInt16, _ width: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}
