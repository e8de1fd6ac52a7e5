/// The `Range` field of a request for a file (RFC 9110 §14.1.2).
enum ByteRange {
    /// What to read of a file. A field that is none, or asks for several ranges, is ignored, as it may be; nil: the range
    /// begins behind the file's end.
    static func parse(_ field: String?, size: Int64) -> Range<Int64>? {
        let whole = 0..<max(size, 0)
        guard let field, field.lowercased().hasPrefix("bytes=") else { return whole }
        let parts = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return whole }
        let (first, last) = (number(parts[0]), number(parts[1]))
        switch (first, last) {
        case (.some(let first), .some(let last)) where first <= last:
            return first < size ? first..<(last < size ? last + 1 : size) : nil
        case (.some(let first), nil) where parts[1].isEmpty:
            return first < size ? first..<size : nil
        case (nil, .some(let count)) where parts[0].isEmpty:
            return count > 0 && size > 0 ? (count < size ? size - count : 0)..<size : nil
        case _:
            return whole
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int64(text) : nil
    }
}
