import LoadingKitPrimitives

/// Notices that the machine has slept. The monotonic clock stands meanwhile: what was idle is older than by that clock,
/// and its peer may be gone.
package struct SleepWatch: Sendable {
    /// The shortest sleep that counts, in nanoseconds.
    private static let shortestSleep: UInt64 = 1_000_000_000
    /// The shortest time between two looks, in nanoseconds. The clock of this time stands during a sleep, too: a sleep
    /// that begins within it is noticed late by this time.
    private static let pause: UInt64 = 10_000_000

    private let time: TimeSource
    private var nanosecondsAsleep: UInt64
    private var nextLook = MonotonicTime(nanoseconds: 0)

    package init(_ loop: EventLoop) {
        time = loop.time
        nanosecondsAsleep = loop.time.nanosecondsAsleep
    }

    /// Returns whether the machine has slept since this was last noticed. Looks a hundred times a second at most, so that
    /// it costs little before each request.
    package mutating func noticeSleep(_ now: MonotonicTime) -> Bool {
        guard now >= nextLook else { return false }
        nextLook = now.advanced(byNanoseconds: Self.pause)
        let asleep = time.nanosecondsAsleep
        guard asleep >= nanosecondsAsleep &+ Self.shortestSleep else { return false }
        nanosecondsAsleep = asleep
        return true
    }
}
