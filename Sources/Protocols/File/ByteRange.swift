/// What a request's `Range` field asks of a file (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int64>)
    /// It begins behind the file's end.
    case unsatisfiable

    /// A field that is malformed, or asks for several ranges, is ignored, as it may be (RFC 9110 §14.2).
    static func parse(_ field: String?, size: Int64) -> ByteRange {
        guard let field, field.prefix(6).lowercased() == "bytes=" else { return .whole }
        let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true): return .whole
        case (true, false): return number(ends[1]).map { suffix($0, size) } ?? .whole
        case (false, true): return number(ends[0]).map { from($0, through: .max, size) } ?? .whole
        case (false, false):
            guard let first = number(ends[0]), let last = number(ends[1]), first <= last else { return .whole }
            return from(first, through: last, size)
        }
    }

    private static func from(_ first: Int64, through last: Int64, _ size: Int64) -> ByteRange {
        first < size ? .part(first..<(last < size ? last + 1 : size)) : .unsatisfiable
    }

    private static func suffix(_ count: Int64, _ size: Int64) -> ByteRange {
        count > 0 ? .part((count < size ? size - count : 0)..<max(size, 0)) : .unsatisfiable
    }

    /// What is too large for a number is behind the end of every file, as is the largest number.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text) ?? .max
    }
}
