import LoadingKitPrimitives

/// How often a session's program may be started: with a pause in between that doubles from a minute to a day, and is short
/// again when the program has taken events.
struct LaunchPolicy: Equatable, Sendable {
    static let firstPause = 60.0
    static let longestPause = 86_400.0

    private var pause = firstPause
    private var next: MonotonicTime?

    /// When the program may be started again.
    func earliest(_ now: MonotonicTime) -> MonotonicTime { max(next ?? now, now) }

    mutating func didLaunch(_ now: MonotonicTime) {
        next = now.advanced(bySeconds: pause)
        pause = min(pause * 2, Self.longestPause)
    }

    mutating func programDidTakeEvents() { self = LaunchPolicy() }
}
