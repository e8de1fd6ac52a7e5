/// A `Content-Range` of bytes (RFC 9110 §14.4).
struct ContentRange: Equatable {
    let first: Int64
    let last: Int64
    /// The whole's size; nil when it is not known.
    let total: Int64?

    /// Nil for what is no range of bytes, or a contradiction.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last else {
            return nil
        }
        if parts[1] == "*" {
            total = nil
        } else {
            guard let total = Self.number(parts[1]), last < total else { return nil }
            self.total = total
        }
        self.first = first
        self.last = last
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
