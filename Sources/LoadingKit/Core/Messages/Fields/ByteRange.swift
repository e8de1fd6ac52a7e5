extension URLRequest {
    /// The range of bytes of a request's `Range` field (RFC 9110 §14.1.2).
    ///
    /// For handlers that answer ranges: `URLRequest.ByteRange(field)?.resolved(total: size)` is the range to send, and
    /// ``HTTPURLResponse/ContentRange`` describes it in the response.
    public enum ByteRange: Hashable, Sendable {
        /// From one byte through another; to the end when `through` is nil.
        case from(Int64, through: Int64?)
        /// A number of bytes at the end.
        case suffix(Int64)

        /// Nil for other units, for several ranges, and for malformed values. A server may ignore all of these (§14.2).
        public init?(_ field: String) {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
            let ends = parts[1].filter { $0 != " " && $0 != "\t" }.split(
                separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2 else { return nil }
            switch (Self.number(ends[0]), Self.number(ends[1])) {
            case (let first?, let last?) where last >= first: self = .from(first, through: last)
            case (let first?, nil) where ends[1].isEmpty: self = .from(first, through: nil)
            case (nil, let count?) where ends[0].isEmpty: self = .suffix(count)
            default: return nil
            }
        }

        /// The range within a content of `total` bytes; nil when it cannot be satisfied. A suffix of an empty content
        /// results in an empty range: the whole content answers it.
        public func resolved(total: Int64) -> Range<Int64>? {
            switch self {
            case .from(let first, let last):
                guard first >= 0, first < total, last.map({ $0 >= first }) ?? true else { return nil }
                return first..<min(last ?? .max, total - 1) + 1
            case .suffix(let count):
                guard count > 0, total >= 0 else { return nil }
                return max(0, total - count)..<total
            }
        }

        /// The number in a text of digits; nil for other text. A number that is too large becomes the largest `Int64`,
        /// which is beyond the end of every content.
        package static func number(_ text: some StringProtocol) -> Int64? {
            guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
            return Int64(text) ?? .max
        }
    }
}

/// The type's name within LoadingKit.
package typealias ByteRange = URLRequest.ByteRange
