extension HTTPURLResponse {
    /// The value of `Content-Range`: the part of the content that a response has (RFC 9110 §14.4).
    public struct ContentRange: Hashable, Sendable {
        /// From the first byte's position to the position after the last byte. Not empty where it was parsed.
        public let range: Range<Int64>
        /// The length of the complete content; nil where the server does not know it.
        public let total: Int64?

        /// Makes the value for a range that is not empty, of a content of `total` bytes.
        public init(_ range: Range<Int64>, total: Int64?) {
            self.range = range
            self.total = total
        }

        /// Parses a field's value. Nil for other units than bytes, for malformed values, and for the value of a
        /// response to a range that cannot be satisfied (`bytes */100`).
        public init?(_ field: String) {
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

        /// The field's value, such as `bytes 0-99/1000`.
        public var string: String {
            "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { String($0) } ?? "*")"
        }
    }
}

/// The type's name within LoadingKit.
package typealias ContentRange = HTTPURLResponse.ContentRange
