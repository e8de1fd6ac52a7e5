import Foundation

/// The source of the time of day for a session. It determines the age of stored responses.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock that reads the time from a function, for example one that a test controls.
    package init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The system's clock.
    package static let system = WallClock { Date() }

    /// The current time.
    package var now: Date { read() }
}
