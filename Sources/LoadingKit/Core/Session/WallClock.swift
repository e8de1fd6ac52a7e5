import Foundation

/// Where a session gets the time of day from. The age of stored responses is computed with it.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock that reads the time from a function, such as one that a test moves.
    package init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The system's.
    package static let system = WallClock { Date() }

    /// The time now.
    package var now: Date { read() }
}
