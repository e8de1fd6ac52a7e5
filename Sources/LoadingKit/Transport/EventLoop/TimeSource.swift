import LoadingKitPrimitives

/// The clock of an event loop.
package enum TimeSource: Sendable {
    /// The system's monotonic clock.
    case system
    /// A clock that a test moves.
    case manual(ManualTime)

    /// The time now.
    package var now: MonotonicTime {
        switch self {
        case .system: MonotonicTime(nanoseconds: SystemCalls.monotonicNanoseconds())
        case .manual(let time): time.now
        }
    }
}

/// A clock that stands still until a test moves it.
///
/// Event loops made with it run their timers when it is moved, each at its own time, in order; real time never passes
/// for them.
package final class ManualTime: Sendable {
    private struct WeakLoop {
        weak var loop: EventLoop?
    }

    private struct State {
        var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
        var loops: [WeakLoop] = []
    }

    private let state = Guarded(State())

    package init() {}

    /// The time now.
    package var now: MonotonicTime { state.withLock { $0.now } }

    /// Moves the clock, and queues on each of its loops what becomes due. From any thread.
    ///
    /// Work given to a loop after this call runs after those timers.
    package func advance(byNanoseconds delta: UInt64) {
        let (now, loops) = state.withLock { state in
            state.now = state.now.advanced(byNanoseconds: delta)
            state.loops.removeAll { $0.loop == nil }
            return (state.now, state.loops.compactMap(\.loop))
        }
        for loop in loops {
            loop.execute { loop.runTimers(upTo: now) }
        }
    }

    /// Moves the clock by a duration.
    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        guard seconds >= 0, attoseconds >= 0 else { return }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        advance(byNanoseconds: overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000))
    }

    func attach(_ loop: EventLoop) {
        state.withLock { $0.loops.append(WeakLoop(loop: loop)) }
    }
}
