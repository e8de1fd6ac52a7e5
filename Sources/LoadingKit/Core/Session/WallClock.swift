import Foundation

/// Where a session gets the time of day from, by which what is stored ages.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Date

    /// A clock of one's own, such as one that a test moves.
    package init(_ read: @escaping @Sendable () -> Date) { self.read = read }

    /// The system's.
    package static let system = WallClock { Date() }

    /// The time now.
    package var now: Date { read() }
}
