import LoadingKitPrimitives

/// Reports changes of the networks to a session, a burst of changes once. Confined to its loop.
package final class NetworkWatch {
    private let loop: EventLoop
    private let report: () -> Void
    private var observer: NetworkMonitor.Observer?
    private var timer: LoopTimer?
    private var reports = NetworkReports()

    package init(_ networks: NetworkMonitor, _ loop: EventLoop, _ report: @escaping () -> Void) {
        self.loop = loop
        self.report = report
        observer = networks.observe { [weak self] in self?.networksDidChange() }
    }

    private func networksDidChange() {
        guard timer == nil else { return }
        timer = loop.schedule(at: reports.next(after: loop.now)) { [weak self] in self?.changesDidSettle() }
    }

    private func changesDidSettle() {
        timer = nil
        reports.note(loop.now)
        report()
    }
}

/// Decides when changes of the networks are reported.
package struct NetworkReports {
    /// The delay after a change, in seconds: an address appears before its route.
    static let settlingTime = 0.1
    /// The largest number of reports in this time, in seconds. A move to another network often consists of several changes, a
    /// second or two apart. On some machines, as those with many containers, the networks change all the time, and servers close
    /// connections with too many PINGs.
    private static let limit = (count: 3, time: 15.0)

    /// The times of the last reports, as many as the limit has.
    private var times: [MonotonicTime] = []

    package init() {}

    /// The time of the report of a change that has happened now.
    package func next(after now: MonotonicTime) -> MonotonicTime {
        let soon = now.advanced(bySeconds: Self.settlingTime)
        return times.count < Self.limit.count ? soon : max(soon, times[0].advanced(bySeconds: Self.limit.time))
    }

    /// Counts a change that has happened now. Returns false if the change is not counted yet: it comes too soon after
    /// others, or is the same change, reported by another loop.
    mutating func take(_ now: MonotonicTime) -> Bool {
        let isSame = times.last.map { now.seconds(since: $0) < Self.settlingTime } ?? false
        let isBeyondLimit =
            times.count == Self.limit.count && now.seconds(since: times[0]) < Self.limit.time
        guard !isSame, !isBeyondLimit else { return false }
        note(now)
        return true
    }

    package mutating func note(_ report: MonotonicTime) { times = (times + [report]).suffix(Self.limit.count) }
}
