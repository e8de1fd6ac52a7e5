import Foundation
import LoadingKitPrimitives

/// How long a transfer has been at work, which the resource time-out limits: neither while it is suspended, nor before its date.
///
/// While the process runs the monotonic clock counts, so that a clock that is set back or forward ends nothing. Over the time
/// in which no process ran the wall clock counts: there is no other.
struct ResourceClock: Equatable, Sendable {
    /// What had passed at ``start``, in seconds.
    private var before: TimeInterval
    /// Nil while it stands still.
    private var start: MonotonicTime?

    /// - Parameters:
    ///   - elapsed: In seconds, at `asOf`.
    ///   - wall: The time of day now.
    ///   - runs: Whether it has run since `asOf`, and does now.
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

    /// - Parameter timeout: In seconds; not positive means no limit.
    func expiry(_ timeout: TimeInterval) -> MonotonicTime {
        guard let start, timeout > 0 else { return .distantFuture }
        return start.advanced(bySeconds: max(timeout - before, 0))
    }
}
