import Foundation
import LoadingKitPrimitives

/// One moment on both clocks, from which any point of the monotonic clock gets a date.
///
/// Times are taken from the monotonic clock alone, which is cheap and never jumps; dates are made when asked for.
package struct WallClockAnchor: Sendable {
    package let date: Date
    package let monotonicTime: MonotonicTime

    package init(date: Date, monotonicTime: MonotonicTime) {
        self.date = date
        self.monotonicTime = monotonicTime
    }

    /// The date of a point on the monotonic clock, before or after the anchor.
    package func date(of time: MonotonicTime) -> Date {
        time < monotonicTime
            ? date.addingTimeInterval(-monotonicTime.seconds(since: time))
            : date.addingTimeInterval(time.seconds(since: monotonicTime))
    }
}
