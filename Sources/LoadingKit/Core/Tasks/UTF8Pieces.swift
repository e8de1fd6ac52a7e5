/// Decodes UTF-8 that comes in pieces, which may end within a scalar. What is not UTF-8 becomes U+FFFD, in the same way whatever
/// the pieces are (Unicode §3.9, as `String(decoding:as:)` has it).
struct UTF8Pieces {
    /// The beginning of a scalar whose rest is still to come: three bytes at most.
    private var beginning: [UInt8] = []

    /// What is known now.
    mutating func receive(_ piece: [UInt8]) -> String {
        let bytes = beginning + piece
        let end = Self.endOfWholeScalars(bytes)
        beginning = Array(bytes[end...])
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// What is left at the end.
    mutating func finish() -> String {
        defer { beginning = [] }
        return String(decoding: beginning, as: UTF8.self)
    }

    /// Where a scalar begins that the bytes do not have all of; their end where there is none.
    private static func endOfWholeScalars(_ bytes: [UInt8]) -> Int {
        for place in stride(from: bytes.count - 1, through: max(0, bytes.count - 3), by: -1) {
            let length = length(ledBy: bytes[place])
            if length == 0 { continue }
            return bytes.count - place < length ? place : bytes.count
        }
        return bytes.count
    }

    /// How many bytes a scalar has; 0 for a byte that continues one, and 1 for one that no scalar has.
    private static func length(ledBy byte: UInt8) -> Int {
        switch byte {
        case 0x80...0xBF: 0
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        case _: 1
        }
    }
}
