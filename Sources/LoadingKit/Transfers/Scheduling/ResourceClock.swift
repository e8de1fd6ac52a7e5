import Foundation
import LoadingKitPrimitives

/// Measures how long a transfer has been active, which the resource timeout limits. The time in which the transfer is
/// suspended, and the time before its begin date, do not count.
///
/// While the process runs, the monotonic clock is used, so that setting the system's clock ends no transfer. For the
/// time in which no process ran, the wall clock is used: there is no other clock.
struct ResourceClock: Equatable, Sendable {
    /// The active time that had passed at ``start``, in seconds.
    private var before: TimeInterval
    /// Nil while the clock is stopped.
    private var start: MonotonicTime?

    /// - Parameters:
    ///   - elapsed: The active time at `asOf`, in seconds.
    ///   - wall: The time of day now.
    ///   - runs: Whether the clock has run since `asOf`, and runs now.
    init(elapsed: TimeInterval, asOf: Date, wall: Date, now: MonotonicTime, runs: Bool = true) {
        before = max(elapsed, 0) + (runs ? max(wall.timeIntervalSince(asOf), 0) : 0)
        start = runs ? now : nil
    }

    mutating func setRuns(_ runs: Bool, _ now: MonotonicTime) {
        guard runs != (start != nil) else { return }
        before = elapsed(now)
        start = runs ? now : nil
    }

    func elapsed(_ now: MonotonicTime) -> TimeInterval { before + (start.map { now.seconds(since: $0) } ?? 0) }

    /// - Parameter timeout: In seconds. Zero or a negative number means no limit.
    func expiry(_ timeout: TimeInterval) -> MonotonicTime {
        guard let start, timeout > 0 else { return .distantFuture }
        return start.advanced(bySeconds: max(timeout - before, 0))
    }
}
