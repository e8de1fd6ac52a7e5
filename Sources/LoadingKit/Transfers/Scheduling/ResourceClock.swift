import Foundation
import LoadingKitCore
import LoadingKitPrimitives

/// Measures how long a transfer has been active, which the resource timeout limits. The time in which the transfer is
/// suspended, and the time before its begin date, do not count.
///
/// While the process runs, the monotonic clock is used, so that setting the system's clock ends no transfer. For the
/// time in which no process ran, the wall clock is used: there is no other clock. If it was not set when it was read
/// first, that time is unknown, and does not count.
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
        before = max(elapsed, 0) + (runs ? Self.seconds(from: asOf, to: wall) : 0)
        start = runs ? now : nil
    }

    /// The time between two readings of the wall clock, in seconds.
    static func seconds(from date: Date, to wall: Date) -> TimeInterval {
        date.isOfUnsetClock ? 0 : max(wall.timeIntervalSince(date), 0)
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
