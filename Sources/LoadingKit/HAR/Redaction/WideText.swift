/// Text in UTF-16 or UTF-32, the encodings in which old servers send JSON (RFC 4627 §3; RFC 8259 §8.1 forbids them).
struct WideText {
    private let unit: Int
    private let isBigEndian: Bool
    /// The text without a byte order mark.
    let text: String
    private let hasMark: Bool
    /// A part of a code unit, where the text was truncated.
    private let rest: ArraySlice<UInt8>

    /// Nil for text in another encoding: JSON begins with an ASCII character, whose other bytes are zero.
    init?(_ bytes: [UInt8]) {
        switch (bytes.first, bytes.dropFirst().first, bytes.dropFirst(2).first, bytes.dropFirst(3).first) {
        case (0, 0, 0xFE, 0xFF): self.init(bytes, unit: 4, isBigEndian: true, hasMark: true)
        case (0xFF, 0xFE, 0, 0): self.init(bytes, unit: 4, isBigEndian: false, hasMark: true)
        case (0xFE, 0xFF, _, _): self.init(bytes, unit: 2, isBigEndian: true, hasMark: true)
        case (0xFF, 0xFE, _, _): self.init(bytes, unit: 2, isBigEndian: false, hasMark: true)
        case (0, 0, 0, .some(1...)): self.init(bytes, unit: 4, isBigEndian: true, hasMark: false)
        case (.some(1...), 0, 0, 0): self.init(bytes, unit: 4, isBigEndian: false, hasMark: false)
        case (0, .some(1...), _, _): self.init(bytes, unit: 2, isBigEndian: true, hasMark: false)
        case (.some(1...), 0, _, _): self.init(bytes, unit: 2, isBigEndian: false, hasMark: false)
        default: return nil
        }
    }

    private init(_ bytes: [UInt8], unit: Int, isBigEndian: Bool, hasMark: Bool) {
        (self.unit, self.isBigEndian, self.hasMark) = (unit, isBigEndian, hasMark)
        let content = bytes.dropFirst(hasMark ? unit : 0)
        rest = content.suffix(content.count % unit)
        let units = stride(from: content.startIndex, to: content.endIndex - rest.count, by: unit).map { start in
            let bytes = content[start..<start + unit]
            return isBigEndian ? Self.number(bytes) : Self.number(bytes.reversed())
        }
        text =
            unit == 2
            ? String(decoding: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
            : String(decoding: units, as: UTF32.self)
    }

    private static func number(_ bytes: some Sequence<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Another text in the same encoding, with the same mark and end.
    func encode(_ text: String) -> [UInt8] {
        let content = unit == 2 ? text.utf16.map { UInt32($0) } : text.unicodeScalars.map(\.value)
        let units = (hasMark ? [0xFEFF] : []) + content
        return units.flatMap { value in
            let bytes = (0..<unit).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
            return isBigEndian ? bytes.reversed() : bytes
        } + rest
    }
}
