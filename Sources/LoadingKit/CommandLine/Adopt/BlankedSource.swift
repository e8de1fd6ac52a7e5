/// Swift source text with spaces instead of comments and strings, whose offsets in UTF-8 stay. An expression in a string counts as
/// its text; an error in this ends with the line.
struct BlankedSource {
    /// Without comments and the contents of strings.
    private(set) var code: [UInt8]
    /// Without comments.
    private(set) var literals: [UInt8]

    private enum Place: Equatable {
        case code, line
        case block(depth: Int)
        case string(isLong: Bool)
    }

    init(_ text: String) {
        let bytes = Array(text.utf8)
        (code, literals) = (bytes, bytes)
        var place = Place.code
        var index = 0
        while index < bytes.count {
            func has(_ word: String) -> Bool { bytes[index...].starts(with: word.utf8) }
            var count = 1
            var next = place
            switch place {
            case .code:
                if has("//") { next = .line }
                if has("/*") { (next, count) = (.block(depth: 1), 2) }
                if has("\"") { next = .string(isLong: false) }
                if has("\"\"\"") { (next, count) = (.string(isLong: true), 3) }
            case .line: if has("\n") { next = .code }
            case .block(let depth):
                if has("/*") { (next, count) = (.block(depth: depth + 1), 2) }
                if has("*/") { (next, count) = (depth == 1 ? .code : .block(depth: depth - 1), 2) }
            case .string(let isLong):
                if has("\\") { count = 2 }
                if has("\"\"\""), isLong { (next, count) = (.code, 3) }
                if has("\"") || has("\n"), !isLong { (next, count) = (.code, 1) }
            }
            blank(index..<min(index + count, bytes.count), place, next)
            (place, index) = (next, index + count)
        }
    }

    private mutating func blank(_ range: Range<Int>, _ place: Place, _ next: Place) {
        for index in range where code[index] != UInt8(ascii: "\n") {
            switch (place, next) {
            case (.block, _), (.line, _), (_, .line), (_, .block):
                (code[index], literals[index]) = (UInt8(ascii: " "), UInt8(ascii: " "))
            case (.string, .string): code[index] = UInt8(ascii: " ")
            case (.string, .code), (.code, .string), (.code, .code): break
            }
        }
    }

    static func lines(_ bytes: [UInt8]) -> [String] {
        bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
