import Foundation

/// Timelines drawn as bars over one scale, a line for each phase.
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
        let gap = String(repeating: " ", count: max(width - title.count - outcome.count - time.count, 2))
        return terminal.paint(title, .bold) + outcome + gap + terminal.paint(time, .bold)
    }

    private func line(_ span: Timeline.Span) -> String {
        let name = span.phase.rawValue.padding(toLength: Self.nameWidth, withPad: " ", startingAt: 0)
        let bar = scale.bar(span.start, span.end)
        let gap = String(repeating: " ", count: max(scale.cells - bar.count, 0))
        let time = TimeScale.duration(span.end - span.start)
        let indent = String(repeating: " ", count: max(Self.timeWidth - time.count, 1))
        return "  \(name)\(terminal.paint(bar, span.phase.style))\(gap)\(indent)\(time)"
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
