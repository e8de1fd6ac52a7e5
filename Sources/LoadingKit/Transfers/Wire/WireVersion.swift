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
        self.lowest = lowest
        self.highest = highest
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
        let (one, two) = (numbers(version), numbers(other))
        for index in 0..<max(one.count, two.count) {
            let (a, b) = (index < one.count ? one[index] : 0, index < two.count ? two[index] : 0)
            if a != b { return a > b }
        }
        return false
    }

    private static func numbers(_ version: String) -> [Int] {
        version.prefix(100).split(separator: ".").map { Int($0) ?? 0 }
    }
}
