import LoadingKitPrimitives

/// A request's range of bytes (RFC 9110 §14.1.2): one, as several in one answer are not cached.
enum ByteRange: Equatable {
    /// To the end when the last byte is not said.
    case from(Int64, through: Int64?)
    case suffix(Int64)

    /// Nil for other units, several ranges, and what is malformed.
    init?(_ field: String) {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes", !parts[1].contains(",") else { return nil }
        let ends = parts[1].filter { $0 != " " && $0 != "\t" }.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?) where last >= first: self = .from(first, through: last)
        case (let first?, nil) where ends[1].isEmpty: self = .from(first, through: nil)
        case (nil, let count?) where ends[0].isEmpty: self = .suffix(count)
        default: return nil
        }
    }

    /// The bytes that it means of so many; nil when there are none of them.
    func resolved(total: Int64) -> Range<Int64>? {
        let range: Range<Int64>
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            range = first..<min(last ?? total - 1, total - 1) + 1
        case .suffix(let count):
            range = max(0, total - count)..<max(0, total)
        }
        return range.isEmpty ? nil : range
    }

    fileprivate static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text)
    }
}

/// What `Content-Range` says of a part (RFC 9110 §14.4).
struct ContentRange: Equatable {
    let range: Range<Int64>
    /// Nil where the sender does not know.
    let total: Int64?

    init(_ range: Range<Int64>, total: Int64?) {
        self.range = range
        self.total = total
    }

    init?(_ field: String) {
        let words = field.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteRange.number(ends[0]), let last = ByteRange.number(ends[1]),
            last >= first, last < .max
        else { return nil }
        total = ByteRange.number(parts[1])
        guard total != nil || parts[1] == "*", total ?? .max > last else { return nil }
        range = first..<last + 1
    }

    var string: String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total.map { String($0) } ?? "*")"
    }
}
