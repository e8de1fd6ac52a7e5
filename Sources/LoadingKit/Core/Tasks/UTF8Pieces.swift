/// Decodes UTF-8 that arrives in pieces, which may end within a scalar. Bytes that are not UTF-8 become U+FFFD, in the
/// same way for any division into pieces (Unicode §3.9, as in `String(decoding:as:)`).
struct UTF8Pieces {
    /// The start of an incomplete scalar: three bytes at most.
    private var beginning: [UInt8] = []

    /// The text that is complete with this piece.
    mutating func receive(_ piece: [UInt8]) -> String {
        let bytes = beginning + piece
        let end = Self.endOfWholeScalars(bytes)
        beginning = Array(bytes[end...])
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    /// The text of the remaining bytes at the end.
    mutating func finish() -> String {
        defer { beginning = [] }
        return String(decoding: beginning, as: UTF8.self)
    }

    /// The start of an incomplete scalar; the end of the bytes where there is none.
    private static func endOfWholeScalars(_ bytes: [UInt8]) -> Int {
        for place in stride(from: bytes.count - 1, through: max(0, bytes.count - 3), by: -1) {
            let length = length(ledBy: bytes[place])
            if length == 0 { continue }
            return bytes.count - place < length ? place : bytes.count
        }
        return bytes.count
    }

    /// The number of bytes of the scalar; 0 for a byte that continues one, and 1 for a byte that no scalar has.
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
