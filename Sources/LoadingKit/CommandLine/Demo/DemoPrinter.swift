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

    func printIntroduction() throws {
        try StandardOutput.write(
            "\(terminal.paint("LoadingKit", .bold)) loads from servers in this process, on loopback addresses. "
                + "No network is used.\n")
    }

    func print(_ step: DemoStep, _ result: DemoResult, number: Int, _ problem: String?) throws {
        let waterfall = Waterfall(result.timelines, inner).text.split(separator: "\n").map(String.init)
        try print(step, number: number, facts(result), problem, [""] + waterfall.map { Self.indent + $0 })
    }

    func print(_ step: DemoStep, number: Int, events: [String], _ problem: String?) throws {
        try print(step, number: number, events.map { terminal.paint("│ ", .dim) + PlainText.line($0) }, problem, [])
    }

    private func print(
        _ step: DemoStep, number: Int, _ facts: [String], _ problem: String?, _ lines: [String]
    ) throws {
        let title = terminal.paint("\(String(format: "%2d", number))  \(step.name)", .bold)
        let problems = problem.map { [terminal.paint("✗ \(PlainText.line($0))", .red)] } ?? []
        let block = [step.point, terminal.paint(step.command, .cyan)] + facts + problems
        let all = ["", title] + block.map { Self.indent + $0 } + lines
        try StandardOutput.write(all.joined(separator: "\n") + "\n")
    }

    private func facts(_ result: DemoResult) -> [String] {
        switch result.outcome {
        case .success((let data, let response)):
            let status = (response as? HTTPURLResponse).map(\.statusText)
            let facts = [status, response.mimeType, Amount.bytes(Int64(data.count))].compactMap { $0 }
            let line = terminal.paint(facts.joined(separator: " · "), .green)
            return [line, terminal.paint("│ ", .dim) + beginning(of: data)]
        case .failure(let error):
            let failure = ToolFailure(error, hadResponse: false)
            return [terminal.paint(String(failure.line.dropLast()), .yellow)]
        }
    }

    /// The first line, truncated to the available width.
    func beginning(of data: Data) -> String {
        let first = data.prefix(200).prefix { $0 != UInt8(ascii: "\n") }
        let text = PlainText.line(String(decoding: first, as: UTF8.self))
        let room = max(0, min(inner.width, 100) - 4)
        return text.count > room || first.count < data.count - 1 ? "\(text.prefix(room)) …" : text
    }

    /// - Parameter count: The number of loads and of other steps.
    func printSummary(_ loads: [DemoLoad], _ count: Int, _ problems: [String], seconds: Double) throws {
        let schemes = Set(loads.map(\.url.scheme)).count
        let total = "\(count) loads over \(schemes) schemes in \(String(format: "%.2f", seconds)) s"
        guard !problems.isEmpty else {
            let verdict = terminal.paint("✓ \(total): all went as they should.", .green)
            try StandardOutput.write("\n\(verdict)\n  Now one of yours:  loadkit --timing https://swift.org/\n")
            return
        }
        let list = problems.map { "  \($0)\n" }.joined()
        try StandardOutput.write(
            "\n\(terminal.paint("✗ \(total): \(problems.count) did not go as they should.", .red))\n\(list)")
    }
}
