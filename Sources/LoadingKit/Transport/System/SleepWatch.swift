import LoadingKitPrimitives

/// Notices that the machine has slept. The monotonic clock stands meanwhile: what was idle is older than by that clock,
/// and its peer may be gone.
package struct SleepWatch: Sendable {
    /// The shortest sleep that counts, and the shortest time between two looks, in nanoseconds.
    private static let shortestSleep: UInt64 = 1_000_000_000

    private let time: TimeSource
    private var nanosecondsAsleep: UInt64
    private var nextLook = MonotonicTime(nanoseconds: 0)

    package init(_ loop: EventLoop) {
        time = loop.time
        nanosecondsAsleep = loop.time.nanosecondsAsleep
    }

    /// Returns whether the machine has slept since this was last noticed. Looks once a second at most, so that it costs
    /// little before each request.
    package mutating func noticeSleep(_ now: MonotonicTime) -> Bool {
        guard now >= nextLook else { return false }
        nextLook = now.advanced(byNanoseconds: Self.shortestSleep)
        let asleep = time.nanosecondsAsleep
        guard asleep >= nanosecondsAsleep &+ Self.shortestSleep else { return false }
        nanosecondsAsleep = asleep
        return true
    }
}
