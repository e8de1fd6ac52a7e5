import Dispatch
import Foundation

/// Displays progress while loads take longer than half a second: a line for each running load, and one for all.
final class ProgressDisplay: @unchecked Sendable {  // confined to `queue`
    private static let delay = 0.5
    private static let interval = 0.1
    /// More loads are only in the line for all.
    private static let mostLines = 10

    private struct Load {
        var label: String
        var received: Int64 = 0
        var expected: Int64?
        let start = DispatchTime.now()
        var isOver = false
    }

    private let console: Console
    private let queue: DispatchQueue
    private let isShown: Bool
    private let isBar: Bool
    /// The loads since the last time at which no load was running.
    private var loads: [Int: Load] = [:]
    private var start = DispatchTime.now()
    private var timer: (any DispatchSourceTimer)?

    /// - Parameter isBar: whether a bar is the only display.
    init(_ console: Console, _ queue: DispatchQueue, isShown: Bool, isBar: Bool) {
        (self.console, self.queue, self.isShown, self.isBar) = (console, queue, isShown, isBar)
    }

    func begin(_ load: Int, _ label: String) {
        guard isShown else { return }
        if timer == nil { startTimer() }
        loads[load] = Load(label: label)
    }

    func expect(_ load: Int, _ count: Int64) { loads[load]?.expected = count >= 0 ? count : nil }

    func receive(_ load: Int, _ count: Int) { loads[load]?.received += Int64(count) }

    func finish(_ load: Int) {
        loads[load]?.isOver = true
        guard timer != nil, loads.values.allSatisfy(\.isOver) else { return }
        timer?.cancel()
        timer = nil
        loads = [:]
        console.clearProgress()
    }

    private func startTimer() {
        start = .now()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.show() }
        timer.schedule(deadline: start + Self.delay, repeating: Self.interval)
        timer.activate()
        self.timer = timer
    }

    private func show() {
        guard timer != nil else { return }
        // The last column stays free: some terminals would start a new line.
        console.showProgress(lines.map { $0.text(width: console.terminal.width - 1) })
    }

    private var lines: [ProgressLine] {
        let running = loads.filter { !$0.value.isOver }.sorted { $0.key < $1.key }.map(\.value)
        guard loads.count > 1 else { return running.map { line($0.label, [$0], since: $0.start) } }
        let most = min(Self.mostLines, max((console.terminal.height ?? .max) - 2, 0))
        let single = running.prefix(most).map { line($0.label, [$0], since: $0.start) }
        return single + [line("\(running.count) of \(loads.count) loads", Array(loads.values), since: start)]
    }

    private func line(_ label: String, _ loads: [Load], since start: DispatchTime) -> ProgressLine {
        let expected = loads.compactMap(\.expected)
        return ProgressLine(
            label: label, received: loads.reduce(0) { $0 + $1.received },
            expected: expected.count == loads.count
                ? expected.reduce(0) { $0.addingReportingOverflow($1).partialValue } : nil,
            seconds: Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9, isBar: isBar)
    }
}
