import Foundation

/// The source of the time of day for a session. It determines the age of stored responses, and when tasks with a begin
/// date begin.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock that reads the time from a function, for example one that a test controls.
    package init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The system's clock.
    package static let system = WallClock { Date() }

    /// The current time.
    package var now: Date { read() }

    /// Before this time no clock that is set can be: LoadingKit did not exist then. A machine without a battery for its
    /// clock starts in 1970.
    package static let earliestSet = Date(timeIntervalSince1970: 1_700_000_000)

    /// The interval at which the clock is looked at before a date, in seconds. A timer runs by the monotonic clock,
    /// which stands while the machine sleeps, and does not know when this clock is set.
    package static let longestLook = 60.0
}

extension Date {
    /// Whether the clock that showed this time was not set.
    package var isOfUnsetClock: Bool { self < WallClock.earliestSet }
}
