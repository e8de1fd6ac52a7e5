import Foundation
import LoadingKit

/// Displays the demo's progress.
struct DemoPrinter {
    private static let indent = "    "

    private let terminal: Terminal
    /// The terminal for indented lines.
    private let inner: Terminal

    init(_ terminal: Terminal) {
        self.terminal = terminal
        inner = Terminal(
            isTerminal: terminal.isTerminal, width: terminal.width - Self.indent.count, usesColour: terminal.usesColour)
    }

    func printIntroduction() {
        StandardOutput.write(
            "\(terminal.paint("LoadingKit", .bold)) loads from servers in this process, on loopback addresses. "
                + "No network is used.\n")
    }

    func print(_ load: DemoLoad, _ result: DemoResult, number: Int, _ problem: String?) {
        let title = "\(String(format: "%2d", number))  \(load.name)"
        var lines = ["", terminal.paint(title, .bold)]
        lines.append(Self.indent + load.point)
        lines.append(Self.indent + terminal.paint(load.command, .cyan))
        lines += facts(result).map { Self.indent + $0 }
        if let problem { lines.append(Self.indent + terminal.paint("✗ \(problem)", .red)) }
        lines.append("")
        let waterfall = Waterfall(result.timelines, inner).text.split(separator: "\n")
        lines += waterfall.map { Self.indent + $0 }
        StandardOutput.write(lines.joined(separator: "\n") + "\n")
    }

    #if Persistence
        func print(_ outcome: BackgroundDemo.Outcome, number: Int) {
            var lines = ["", terminal.paint("\(String(format: "%2d", number))  \(BackgroundDemo.name)", .bold)]
            lines.append(Self.indent + BackgroundDemo.point)
            lines.append(Self.indent + terminal.paint(BackgroundDemo.code, .cyan))
            lines += outcome.events.map { Self.indent + terminal.paint("│ ", .dim) + PlainText.line($0) }
            if let problem = outcome.problem {
                lines.append(Self.indent + terminal.paint("✗ \(PlainText.line(problem))", .red))
            }
            StandardOutput.write(lines.joined(separator: "\n") + "\n")
        }
    #endif

    private func facts(_ result: DemoResult) -> [String] {
        switch result.outcome {
        case .success((let data, let response)):
            let status = (response as? HTTPURLResponse).map { ResponseHead.status(of: $0) }
            let facts = [status, response.mimeType, Amount.bytes(Int64(data.count))].compactMap { $0 }
            let line = terminal.paint(facts.joined(separator: " · "), .green)
            return [line, terminal.paint("│ ", .dim) + beginning(of: data)]
        case .failure(let error):
            let failure = ToolFailure(error, hadResponse: false)
            return [terminal.paint(String(failure.line.dropLast()), .yellow)]
        }
    }

    /// The first line, truncated to the available width.
    private func beginning(of data: Data) -> String {
        let first = data.prefix(200).prefix { $0 != UInt8(ascii: "\n") }
        let text = PlainText.line(String(decoding: first, as: UTF8.self))
        let room = min(inner.width, 100) - 4
        return text.count > room || first.count < data.count - 1 ? "\(text.prefix(room)) …" : text
    }

    /// - Parameter count: The number of loads and of other steps.
    func printSummary(_ loads: [DemoLoad], _ count: Int, _ problems: [String], seconds: Double) {
        let schemes = Set(loads.map(\.scheme)).count
        let total = "\(count) loads over \(schemes) schemes in \(String(format: "%.2f", seconds)) s"
        guard !problems.isEmpty else {
            let verdict = terminal.paint("✓ \(total): all went as they should.", .green)
            return StandardOutput.write("\n\(verdict)\n  Now one of yours:  loadkit --timing https://swift.org/\n")
        }
        let list = problems.map { "  \($0)\n" }.joined()
        StandardOutput.write(
            "\n\(terminal.paint("✗ \(total): \(problems.count) did not go as they should.", .red))\n\(list)")
    }
}
