import Foundation

/// Reads numbers out of what load generators print for people.
struct Words {
    private let text: String

    init(_ text: String) { self.text = text }

    /// What stands after a phrase, up to the next space.
    func next(to phrase: String) -> String? {
        guard let range = text.range(of: phrase) else { return nil }
        let word = text[range.upperBound...].drop { $0.isWhitespace }.prefix { !$0.isWhitespace && $0 != "," }
        return word.isEmpty ? nil : String(word)
    }

    func number(before phrase: String) -> Double? {
        guard let range = text.range(of: phrase) else { return nil }
        let before = text[..<range.lowerBound].split { $0.isWhitespace }
        return before.last.flatMap { Double($0) }
    }

    /// A time such as `1.20ms`.
    func microseconds(after phrase: String) -> Double? {
        guard let word = next(to: phrase) else { return nil }
        let scales = [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 60e6)]
        guard let (unit, scale) = scales.first(where: { word.hasSuffix($0.0) }) else { return nil }
        return Double(word.dropLast(unit.count)).map { $0 * scale }
    }
}
