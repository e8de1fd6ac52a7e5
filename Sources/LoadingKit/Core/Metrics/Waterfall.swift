import Foundation

/// Timelines drawn as bars on a common scale, with a line for each phase.
package struct Waterfall {
    /// The parts of the drawing, which a terminal shows in different colours.
    package enum Part {
        case title
        case connection
        case bar(Timeline.Phase)
    }

    private static let widest = 110
    private static let narrowest = 40
    private static let nameWidth = 9
    private static let timeWidth = 11

    private let timelines: [Timeline]
    private let paint: (String, Part) -> String
    private let width: Int
    private let scale: TimeScale

    /// - Parameters:
    ///   - width: the number of columns, which is brought between 40 and 110.
    ///   - paint: returns a part's text with what colours it.
    package init(_ timelines: [Timeline], width: Int, paint: @escaping (String, Part) -> String = { text, _ in text }) {
        self.timelines = timelines
        self.paint = paint
        self.width = min(max(width, Self.narrowest), Self.widest) - 1
        scale = TimeScale(
            cells: self.width - 2 - Self.nameWidth - Self.timeWidth,
            start: timelines.map(\.start).min() ?? 0, end: timelines.map(\.end).max() ?? 0)
    }

    /// A block for each transaction.
    package var text: String { timelines.map(block).joined() }

    private func block(_ timeline: Timeline) -> String {
        var lines = [headline(timeline)]
        if !timeline.connection.isEmpty { lines.append("  \(paint(timeline.connection, .connection))") }
        lines += timeline.spans.map(line)
        return lines.map { "\($0)\n" }.joined()
    }

    private func headline(_ timeline: Timeline) -> String {
        let time = TimeScale.duration(timeline.end - timeline.start)
        let outcome = timeline.outcome.isEmpty ? "" : " → \(timeline.outcome)"
        let room = width - time.count - 2 - outcome.count
        let title = Columns.shortened(Columns.printable(timeline.title), to: max(room, 8))
        let gap = Columns.spaces(max(width - title.count - outcome.count - time.count, 2))
        return paint(title, .title) + outcome + gap + paint(time, .title)
    }

    private func line(_ span: Timeline.Span) -> String {
        let name = Columns.left(span.phase.rawValue, Self.nameWidth)
        let bar = scale.bar(span.start, span.end)
        let time = Columns.right(" " + TimeScale.duration(span.end - span.start), Self.timeWidth)
        return "  \(name)\(paint(bar, .bar(span.phase)))\(Columns.spaces(scale.cells - bar.count))\(time)"
    }
}

/// Converts seconds to columns, and to text.
package struct TimeScale {
    let cells: Int
    private let start: Double
    private let length: Double

    package init(cells: Int, start: Double, end: Double) {
        self.cells = max(cells, 1)
        self.start = start
        length = max(end - start, 1e-6)
    }

    /// Spaces up to a span's start, and blocks for its duration: accurate to an eighth of a column where Unicode has
    /// such a block, and at least one block.
    package func bar(_ from: Double, _ to: Double) -> String {
        let first = min(eighths(from), cells * 8 - 1)
        let last = max(eighths(to), first + 1)
        return Columns.spaces(first / 8)
            + (first / 8...(last - 1) / 8).map { cell in
                Self.glyph(from: max(first - cell * 8, 0), to: min(last - cell * 8, 8))
            }.joined()
    }

    /// One column, filled from one of its eighths to another.
    private static func glyph(from left: Int, to right: Int) -> String {
        if left > 0 && right == 8 { return left < 6 ? "▐" : "▕" }
        // A bar in the middle of a column is moved to its left edge.
        let blocks = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]
        return blocks[min(max(right - left, 1), 8) - 1]
    }

    private func eighths(_ seconds: Double) -> Int {
        let position = (seconds - start) / length * Double(cells * 8)
        guard position.isFinite else { return 0 }
        return Int(min(max(position, 0), Double(cells * 8)).rounded())
    }

    /// A duration with about three digits, in a suitable unit.
    package static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.000_999_5: String(format: "%.0f µs", max(seconds, 0) * 1e6)
        case ..<0.009_995: String(format: "%.2f ms", seconds * 1e3)
        case ..<0.999_95: String(format: "%.1f ms", seconds * 1e3)
        case _: String(format: "%.2f s", seconds)
        }
    }
}

/// Text in columns of a fixed width. Each character counts as one column.
package enum Columns {
    /// The text with a replacement character for each control or formatting character, and each line break.
    static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: return "\u{fffd}"
            case _: return scalar
            }
        }
        return scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
    }

    /// The text with at most `width` characters; the middle is left out.
    package static func shortened(_ text: String, to width: Int) -> String {
        guard text.count > width else { return text }
        guard width > 1 else { return String(text.prefix(max(width, 0))) }
        let tail = (width - 1) / 3
        return text.prefix(width - 1 - tail) + "…" + text.suffix(tail)
    }

    /// The text with spaces after it, up to `width` characters; longer text is unchanged.
    package static func left(_ text: String, _ width: Int) -> String { text + spaces(width - text.count) }

    /// The text with spaces before it.
    package static func right(_ text: String, _ width: Int) -> String { spaces(width - text.count) + text }

    /// - Parameter count: the number of spaces; none where it is negative.
    package static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(count, 0)) }
}
