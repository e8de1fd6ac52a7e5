/// What a request's `Range` field asks for (RFC 9110 §14.1.2): one range of bytes.
package enum ByteRange: Hashable, Sendable {
    /// To the end when the last byte is not said.
    case from(Int64, through: Int64?)
    /// The last so many.
    case suffix(Int64)

    /// Nil for other units, several ranges, and what is malformed, which all may be ignored (§14.2).
    package init?(_ field: String) {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let ends = parts[1].filter { $0 != " " && $0 != "\t" }.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        switch (Self.number(ends[0]), Self.number(ends[1])) {
        case (let first?, let last?) where last >= first: self = .from(first, through: last)
        case (let first?, nil) where ends[1].isEmpty: self = .from(first, through: nil)
        case (nil, let count?) where ends[0].isEmpty: self = .suffix(count)
        default: return nil
        }
    }

    /// The bytes that it means of so many; nil when it cannot be satisfied. The last ones of nothing are none.
    package func resolved(total: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            return first..<min(last ?? .max, total - 1) + 1
        case .suffix(let count):
            guard count > 0 else { return nil }
            return max(0, total - count)..<max(0, total)
        }
    }

    /// Digits alone. What is too large for a number is as good as the largest: behind the end of everything.
    package static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(text) ?? .max
    }
}
