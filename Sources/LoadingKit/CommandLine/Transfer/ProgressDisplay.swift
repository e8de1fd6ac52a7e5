import Dispatch
import Foundation

/// Displays a progress line while loads take longer than half a second: one line for all running loads.
final class ProgressDisplay: @unchecked Sendable {  // confined to `queue`
    private static let delay = 0.5
    private static let interval = 0.1

    private struct Load {
        var label: String
        var received: Int64 = 0
        var expected: Int64?
        var isOver = false
    }

    private let console: Console
    private let queue: DispatchQueue
    private let isShown: Bool
    /// The loads since the last time at which no load was running.
    private var loads: [Int: Load] = [:]
    private var start = DispatchTime.now()
    private var timer: (any DispatchSourceTimer)?

    init(_ console: Console, _ queue: DispatchQueue, isShown: Bool) {
        self.console = console
        self.queue = queue
        self.isShown = isShown
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
        console.showProgress(line.text(width: console.terminal.width - 1))
    }

    private var line: ProgressLine {
        let all = loads.values
        let running = all.count { !$0.isOver }
        let expected = all.compactMap(\.expected)
        return ProgressLine(
            label: all.count == 1 ? all.first?.label ?? "" : "\(running) of \(all.count) loads",
            received: all.reduce(0) { $0 + $1.received },
            expected: expected.count == all.count
                ? expected.reduce(0) { $0.addingReportingOverflow($1).partialValue } : nil,
            seconds: Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9)
    }
}
