/// The versions of the language between programs and the daemon, and the library's own.
///
/// A version adds messages, commands, events and keys. What a reader does not know it passes over, or answers with an
/// error. So versions differ in number where one must know that the other understands something.
package struct WireVersion: Codable, Hashable, Sendable {
    /// The oldest version that is spoken.
    package var lowest: Int
    /// The newest version that is spoken.
    package var highest: Int

    package init(lowest: Int, highest: Int) {
        (self.lowest, self.highest) = (lowest, highest)
    }

    /// What this build speaks.
    package static let current = WireVersion(lowest: 1, highest: 1)
    /// The library's version, as `loadkit --version` has it.
    package static let library = "0.1.0"

    /// The newest version that both speak; nil where there is none.
    package func common(with other: WireVersion) -> Int? {
        let version = min(highest, other.highest)
        return version >= max(lowest, other.lowest) ? version : nil
    }

    /// Whether a version of the library comes after another. Parts that are no numbers count as 0.
    package static func isLibrary(_ version: String, newerThan other: String) -> Bool {
        numbers(other).lexicographicallyPrecedes(numbers(version))
    }

    /// Without zeros at the end: 1.0 is 1.
    private static func numbers(_ version: String) -> [Int] {
        let numbers = version.prefix(100).split(separator: ".").map { Int($0) ?? 0 }
        return Array(numbers.prefix((numbers.lastIndex { $0 != 0 } ?? -1) + 1))
    }
}
