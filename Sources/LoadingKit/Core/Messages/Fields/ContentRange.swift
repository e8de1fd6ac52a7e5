/// The value of `Content-Range`: which part of the content a response has (RFC 9110 §14.4).
package struct ContentRange: Equatable {
    package let range: Range<Int64>
    /// The length of the whole content; nil where the server does not know it.
    package let total: Int64?

    package init(_ range: Range<Int64>, total: Int64?) {
        self.range = range
        self.total = total
    }

    package init?(_ field: String) {
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteRange.number(ends[0]), let last = ByteRange.number(ends[1]),
            last >= first, last < .max
        else { return nil }
        total = ByteRange.number(parts[1])
        guard total.map({ $0 > last && $0 < .max }) ?? (parts[1] == "*") else { return nil }
        range = first..<last + 1
    }

    package var string: String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { String($0) } ?? "*")"
    }
}
