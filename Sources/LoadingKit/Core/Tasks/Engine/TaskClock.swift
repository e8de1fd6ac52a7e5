import Foundation
import LoadingKitPrimitives

/// A task's two timeouts: one that each byte restarts, and one for the whole load. Pure: the engine has the timer.
///
/// Activity only records the time. When the timer fires, `check` returns whether a timeout has passed, or the time of
/// the next check. A busy load therefore costs one timer, regardless of the number of bytes that it receives.
struct TaskClock {
    enum Verdict {
        /// The idle timeout has passed: the load has waited for its peer alone.
        case silent(LoadFailure)
        /// The timeout for the whole load has passed.
        case expired(LoadFailure)
        case checkAgain(at: MonotonicTime)
    }

    private var idle: TimeInterval
    private let whole: TimeInterval
    private let start: MonotonicTime
    private var lastActivity: MonotonicTime
    private var pausedAt: MonotonicTime?
    private var pausedNanoseconds: UInt64 = 0

    /// Whether the load waits for the program, not for the peer; the idle timeout does not run then.
    var isHeld = false
    /// Whether the load waits in the queue for a connection, or until it may ask its server again; the idle timeout
    /// does not run then.
    var isQueued = false

    /// Times in seconds; not positive means no limit.
    init(idle: TimeInterval, whole: TimeInterval, now: MonotonicTime) {
        self.idle = idle
        self.whole = whole
        start = now
        lastActivity = now
    }

    mutating func noteActivity(_ now: MonotonicTime) { lastActivity = now }

    /// Ends the idle timeout: an open connection may be quiet for as long as both sides require.
    mutating func endIdleLimit() { idle = 0 }

    mutating func pause(_ now: MonotonicTime) { if pausedAt == nil { pausedAt = now } }

    mutating func proceed(_ now: MonotonicTime) {
        guard let pausedAt else { return }
        pausedNanoseconds &+= now.nanoseconds(since: pausedAt)
        self.pausedAt = nil
        lastActivity = now
    }

    var isPaused: Bool { pausedAt != nil }

    /// The time of the first check.
    var firstCheck: MonotonicTime { min(idleEnd(from: lastActivity), wholeEnd) }

    /// - Parameter stall: the event that has not occurred in the meantime, in words.
    mutating func check(_ now: MonotonicTime, stall: @autoclosure () -> String? = nil) -> Verdict {
        if wholeEnd <= now { return .expired(.resourceTimeout(whole)) }
        if isHeld || isQueued { lastActivity = now }
        let idleEnd = idleEnd(from: lastActivity)
        if idleEnd <= now { return .silent(.idleTimeout(idle, stall())) }
        return .checkAgain(at: min(idleEnd, wholeEnd))
    }

    private var wholeEnd: MonotonicTime {
        whole > 0 ? start.advanced(bySeconds: whole).advanced(byNanoseconds: pausedNanoseconds) : .distantFuture
    }

    private func idleEnd(from time: MonotonicTime) -> MonotonicTime {
        idle > 0 ? time.advanced(bySeconds: idle) : .distantFuture
    }
}

extension LoadFailure {
    fileprivate static func idleTimeout(_ seconds: TimeInterval, _ stall: String?) -> LoadFailure {
        let words = stall ?? "no byte was sent or received"
        return LoadFailure(.timedOut, "\(words) for \(seconds) seconds (timeoutIntervalForRequest)")
    }

    fileprivate static func resourceTimeout(_ seconds: TimeInterval) -> LoadFailure {
        LoadFailure(.timedOut, "the load took more than \(seconds) seconds (timeoutIntervalForResource)")
    }
}
