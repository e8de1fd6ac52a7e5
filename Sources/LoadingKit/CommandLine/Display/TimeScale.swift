import Foundation

/// Seconds as columns, and as text.
struct TimeScale {
    let cells: Int
    private let start: Double
    private let length: Double

    init(cells: Int, start: Double, end: Double) {
        self.cells = max(cells, 1)
        self.start = start
        length = max(end - start, 1e-6)
    }

    /// Blank up to where a span starts, and blocks as long as it lasts: exact to an eighth of a column where blocks of
    /// that shape exist, and never none.
    func bar(_ from: Double, _ to: Double) -> String {
        let first = min(eighths(from), cells * 8 - 1)
        let last = max(eighths(to), first + 1)
        let lead = String(repeating: " ", count: first / 8)
        return lead
            + (first / 8...(last - 1) / 8).map { cell in
                Self.glyph(from: max(first - cell * 8, 0), to: min(last - cell * 8, 8))
            }.joined()
    }

    /// One column that is filled between two of its eighths.
    private static func glyph(from left: Int, to right: Int) -> String {
        if left > 0 && right == 8 { return left < 6 ? "▐" : "▕" }
        // What lies in the middle of a column is moved to its left.
        let blocks = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]
        return blocks[min(max(right - left, 1), 8) - 1]
    }

    private func eighths(_ seconds: Double) -> Int {
        let position = (seconds - start) / length * Double(cells * 8)
        guard position.isFinite else { return 0 }
        return Int(min(max(position, 0), Double(cells * 8)).rounded())
    }

    /// Three digits, more or less, in a unit that has them.
    static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.000_999_5: String(format: "%.0f µs", max(seconds, 0) * 1e6)
        case ..<0.009_995: String(format: "%.2f ms", seconds * 1e3)
        case ..<0.999_95: String(format: "%.1f ms", seconds * 1e3)
        case _: String(format: "%.2f s", seconds)
        }
    }
}
