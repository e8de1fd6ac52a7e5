/// A point on the system's monotonic clock, in nanoseconds.
///
/// The clock does not jump when the wall clock is set. Only differences between two points are meaningful.
public struct MonotonicTime: BitwiseCopyable, Sendable, Hashable, Comparable {
    /// Nanoseconds since an arbitrary point in the past.
    public var nanoseconds: UInt64

    /// Makes a point in time from nanoseconds since the clock's arbitrary start.
    public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    /// A point that is never reached.
    public static let distantFuture = MonotonicTime(nanoseconds: .max)

    /// Whether `a` is earlier than `b`.
    public static func < (a: MonotonicTime, b: MonotonicTime) -> Bool { a.nanoseconds < b.nanoseconds }

    /// This point moved later by a duration in nanoseconds; saturates at ``distantFuture``.
    public func advanced(byNanoseconds delta: UInt64) -> MonotonicTime {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    /// This point moved later by `seconds`. Negative values and NaN count as zero; too large values saturate.
    public func advanced(bySeconds seconds: Double) -> MonotonicTime {
        guard seconds > 0 else { return self }
        let delta = seconds * 1e9
        return delta >= 9e18 ? .distantFuture : advanced(byNanoseconds: UInt64(delta))
    }

    /// Nanoseconds from `earlier` to this point; zero if `earlier` is later.
    public func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
        nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
    }

    /// Seconds from `earlier` to this point; zero if `earlier` is later.
    public func seconds(since earlier: MonotonicTime) -> Double {
        Double(nanoseconds(since: earlier)) / 1e9
    }
}
