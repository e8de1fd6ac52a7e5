import Foundation
import LoadingKitPrimitives

/// A task's two timeouts: one that each byte starts anew, and one for the whole load. Pure: the engine has the timer.
///
/// Activity only notes the time. When the timer fires, `check` says whether that was too long ago, or when to look
/// again; so a busy load costs one timer, however many bytes it receives.
struct TaskClock {
    enum Verdict {
        case expired(LoadFailure)
        case checkAgain(at: MonotonicTime)
    }

    private var idle: TimeInterval
    private let whole: TimeInterval
    private let start: MonotonicTime
    private var lastActivity: MonotonicTime
    private var pausedAt: MonotonicTime?
    private var pausedNanoseconds: UInt64 = 0

    /// Whether it is the program, not the peer, that keeps the load waiting; the idle time does not run then.
    var isHeld = false
    /// Whether the load waits its turn for a connection; the idle time does not run then.
    var isQueued = false

    /// Times in seconds; not positive means no limit.
    init(idle: TimeInterval, whole: TimeInterval, now: MonotonicTime) {
        self.idle = idle
        self.whole = whole
        start = now
        lastActivity = now
    }

    mutating func noteActivity(_ now: MonotonicTime) { lastActivity = now }

    /// What follows has its own time: a connection that is open may be quiet for as long as both sides like.
    mutating func endIdleLimit() { idle = 0 }

    mutating func pause(_ now: MonotonicTime) { if pausedAt == nil { pausedAt = now } }

    mutating func proceed(_ now: MonotonicTime) {
        guard let pausedAt else { return }
        pausedNanoseconds &+= now.nanoseconds(since: pausedAt)
        self.pausedAt = nil
        lastActivity = now
    }

    var isPaused: Bool { pausedAt != nil }

    /// When to look first.
    var firstCheck: MonotonicTime { min(idleEnd(from: lastActivity), wholeEnd) }

    /// - Parameter stall: what has not happened meanwhile, in words.
    mutating func check(_ now: MonotonicTime, stall: @autoclosure () -> String? = nil) -> Verdict {
        if wholeEnd <= now { return .expired(.resourceTimeout(whole)) }
        if isHeld || isQueued { lastActivity = now }
        let idleEnd = idleEnd(from: lastActivity)
        if idleEnd <= now { return .expired(.idleTimeout(idle, stall())) }
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
