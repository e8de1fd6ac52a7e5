/// The range of supported versions of the protocol between programs and the daemon, and the library's own version.
///
/// A version adds messages, commands, events and keys. A reader ignores an unknown element, or answers it with an
/// error. The version number is therefore raised only where a peer must know that the other peer understands an
/// element.
package struct WireVersion: Codable, Hashable, Sendable {
    package var lowest: Int
    package var highest: Int

    package init(lowest: Int, highest: Int) { (self.lowest, self.highest) = (lowest, highest) }

    package static let current = WireVersion(lowest: 1, highest: 1)
    /// The library's version, as `loadkit --version` prints it.
    package static let library = "0.1.0"

    /// The newest version that both peers support; nil where there is none.
    package func common(with other: WireVersion) -> Int? {
        let version = min(highest, other.highest)
        return version >= max(lowest, other.lowest) ? version : nil
    }

    /// Whether one version of the library is newer than another. Components that are not numbers count as 0.
    package static func isLibrary(_ version: String, newerThan other: String) -> Bool {
        numbers(other).lexicographicallyPrecedes(numbers(version))
    }

    /// The version's components without zeros at the end: 1.0 equals 1.
    private static func numbers(_ version: String) -> [Int] {
        let numbers = version.prefix(100).split(separator: ".").map { Int($0) ?? 0 }
        return Array(numbers.prefix((numbers.lastIndex { $0 != 0 } ?? -1) + 1))
    }
}
