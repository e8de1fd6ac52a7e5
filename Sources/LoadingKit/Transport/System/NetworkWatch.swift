import LoadingKitPrimitives

/// Reports changes of the networks to a session, a burst of changes once. Confined to its loop.
package final class NetworkWatch {
    /// The delay after a change, in seconds: an address appears before its route.
    private static let settlingTime = 0.1
    /// The shortest time between two reports, in seconds. On some machines, as those with many containers, the networks
    /// change all the time, and servers close connections with too many PINGs.
    private static let shortestPause = 5.0

    private let loop: EventLoop
    private let report: () -> Void
    private var observer: NetworkMonitor.Observer?
    private var timer: LoopTimer?
    private var lastReport: MonotonicTime?

    package init(_ networks: NetworkMonitor, _ loop: EventLoop, _ report: @escaping () -> Void) {
        self.loop = loop
        self.report = report
        observer = networks.observe { [weak self] in self?.networksDidChange() }
    }

    private func networksDidChange() {
        guard timer == nil else { return }
        let soon = loop.now.advanced(bySeconds: Self.settlingTime)
        let time = lastReport.map { max(soon, $0.advanced(bySeconds: Self.shortestPause)) } ?? soon
        timer = loop.schedule(at: time) { [weak self] in self?.changesDidSettle() }
    }

    private func changesDidSettle() {
        timer = nil
        lastReport = loop.now
        report()
    }
}
