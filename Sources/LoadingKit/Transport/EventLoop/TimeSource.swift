import LoadingKitPrimitives

/// The clock of an event loop.
package enum TimeSource: Sendable {
    case system
    /// A clock that a test advances.
    case manual(ManualTime)

    package var now: MonotonicTime {
        switch self {
        case .system: MonotonicTime(nanoseconds: SystemCalls.monotonicNanoseconds())
        case .manual(let time): time.now
        }
    }

    /// The time for which the machine has been asleep, which ``now`` does not count.
    var nanosecondsAsleep: UInt64 {
        switch self {
        case .system: SystemCalls.nanosecondsAsleep()
        case .manual(let time): time.nanosecondsAsleep
        }
    }
}

/// A clock that stands still until a test advances it.
///
/// Event loops with this clock run their timers when it is advanced, each timer at its own time, in order. Real time
/// has no effect on them.
package final class ManualTime: Sendable {
    private struct WeakLoop {
        weak var loop: EventLoop?
    }

    private struct State {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var nanosecondsAsleep: UInt64 = 0
        var loops: [WeakLoop] = []
    }

    private let state = Guarded(State())

    package init() {}

    package var now: MonotonicTime { state.withLock { $0.now } }

    var nanosecondsAsleep: UInt64 { state.withLock { $0.nanosecondsAsleep } }

    /// The machine sleeps for this time. The clock stands meanwhile. From any thread.
    package func sleep(seconds: UInt64) { state.withLock { $0.nanosecondsAsleep += seconds * 1_000_000_000 } }

    /// Advances the clock, and queues the due timers on each of its loops. From any thread.
    ///
    /// Work submitted to a loop after this call runs after these timers.
    package func advance(byNanoseconds delta: UInt64) {
        let (now, loops) = state.withLock { state in
            state.now = state.now.advanced(byNanoseconds: delta)
            state.loops.removeAll { $0.loop == nil }
            return (state.now, state.loops.compactMap(\.loop))
        }
        for loop in loops { loop.execute { loop.runTimers(upTo: now) } }
    }

    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        advance(byNanoseconds: overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000))
    }

    func attach(_ loop: EventLoop) { state.withLock { $0.loops.append(WeakLoop(loop: loop)) } }
}
