import Foundation

/// Searches for a delimiter in bytes that arrive in pieces. Each byte is scanned once (algorithm of Knuth, Morris and
/// Pratt): a delimiter may be long, and a body may resemble it everywhere.
package struct DelimiterScanner {
    private let pattern: [UInt8]
    /// For each prefix of the pattern, by its length: the length of the longest shorter prefix that is also its suffix.
    private let fallbacks: [Int]
    /// The number of last scanned bytes that match a prefix of the pattern.
    private(set) var matched = 0

    package init(_ pattern: [UInt8]) {
        var fallbacks = [0, 0]
        for end in pattern.indices.dropFirst() {
            var length = fallbacks[end]
            while length > 0, pattern[length] != pattern[end] { length = fallbacks[length] }
            fallbacks.append(pattern[length] == pattern[end] ? length + 1 : 0)
        }
        self.pattern = pattern
        self.fallbacks = fallbacks
    }

    var count: Int { pattern.count }

    /// Scans up to the end of the first delimiter, or all bytes. Returns the number of scanned bytes, and whether the
    /// delimiter was found.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> (count: Int, isFound: Bool) {
        guard let base = bytes.baseAddress, let first = pattern.first else { return (0, false) }
        var position = 0
        while position < bytes.count {
            if matched == 0 {
                guard let next = memchr(base + position, Int32(first), bytes.count - position) else { break }
                position = UnsafeRawPointer(next) - base
            }
            let byte = bytes[position]
            position += 1
            while matched > 0, pattern[matched] != byte { matched = fallbacks[matched] }
            if pattern[matched] == byte { matched += 1 }
            guard matched == pattern.count else { continue }
            matched = 0
            return (position, true)
        }
        return (bytes.count, false)
    }

    /// The position of the first delimiter in an array, from `start` on.
    package mutating func first(in bytes: [UInt8], from start: Int) -> Int? {
        matched = 0
        let (count, isFound) = bytes[start...].withUnsafeBytes { scan($0) }
        return isFound ? start + count - pattern.count : nil
    }
}
