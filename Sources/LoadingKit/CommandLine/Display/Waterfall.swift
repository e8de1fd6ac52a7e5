import Foundation

/// Timelines drawn as bars on a common scale, with a line for each phase.
struct Waterfall {
    private static let widest = 110
    private static let narrowest = 40
    private static let nameWidth = 9
    private static let timeWidth = 11

    private let timelines: [Timeline]
    private let terminal: Terminal
    private let width: Int
    private let scale: TimeScale

    init(_ timelines: [Timeline], _ terminal: Terminal) {
        self.timelines = timelines
        self.terminal = terminal
        width = min(max(terminal.width, Self.narrowest), Self.widest) - 1
        scale = TimeScale(
            cells: width - 2 - Self.nameWidth - Self.timeWidth,
            start: timelines.map(\.start).min() ?? 0, end: timelines.map(\.end).max() ?? 0)
    }

    /// A block for each transaction.
    var text: String { timelines.map(block).joined() }

    private func block(_ timeline: Timeline) -> String {
        var lines = [headline(timeline)]
        if !timeline.connection.isEmpty { lines.append("  \(terminal.paint(timeline.connection, .dim))") }
        lines += timeline.spans.map(line)
        return lines.map { "\($0)\n" }.joined()
    }

    private func headline(_ timeline: Timeline) -> String {
        let time = TimeScale.duration(timeline.end - timeline.start)
        let outcome = timeline.outcome.isEmpty ? "" : " → \(timeline.outcome)"
        let room = width - time.count - 2 - outcome.count
        let title = PlainText.shortened(PlainText.line(timeline.title), to: max(room, 8))
        let gap = PlainText.spaces(max(width - title.count - outcome.count - time.count, 2))
        return terminal.paint(title, .bold) + outcome + gap + terminal.paint(time, .bold)
    }

    private func line(_ span: Timeline.Span) -> String {
        let name = PlainText.left(span.phase.rawValue, Self.nameWidth)
        let bar = scale.bar(span.start, span.end)
        let time = PlainText.right(" " + TimeScale.duration(span.end - span.start), Self.timeWidth)
        return "  \(name)\(terminal.paint(bar, span.phase.style))\(PlainText.spaces(scale.cells - bar.count))\(time)"
    }
}

extension Timeline.Phase {
    fileprivate var style: Terminal.Style {
        switch self {
        case .resolve: .cyan
        case .connect: .yellow
        case .tls: .magenta
        case .request: .green
        case .wait: .blue
        case .receive, .load: .green
        }
    }
}

/// Converts seconds to columns, and to text.
struct TimeScale {
    let cells: Int
    private let start: Double
    private let length: Double

    init(cells: Int, start: Double, end: Double) {
        self.cells = max(cells, 1)
        self.start = start
        length = max(end - start, 1e-6)
    }

    /// Spaces up to a span's start, and blocks for its duration: accurate to an eighth of a column where Unicode has
    /// such a block, and at least one block.
    func bar(_ from: Double, _ to: Double) -> String {
        let first = min(eighths(from), cells * 8 - 1)
        let last = max(eighths(to), first + 1)
        return PlainText.spaces(first / 8)
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
    static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.000_999_5: String(format: "%.0f µs", max(seconds, 0) * 1e6)
        case ..<0.009_995: String(format: "%.2f ms", seconds * 1e3)
        case ..<0.999_95: String(format: "%.1f ms", seconds * 1e3)
        case _: String(format: "%.2f s", seconds)
        }
    }
}
