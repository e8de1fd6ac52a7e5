import LoadingKitPrimitives
import Synchronization

/// Where an event loop has the time from.
package enum TimeSource: Sendable {
    /// The system's monotonic clock.
    case system
    /// A clock that a test moves.
    case manual(ManualTime)

    var now: MonotonicTime {
        switch self {
        case .system: SystemCalls.monotonicTime()
        case .manual(let time): time.now
        }
    }
}

/// A clock that stands still until a test moves it.
package final class ManualTime: Sendable {
    private let nanoseconds = Atomic<UInt64>(1_000_000_000)
    private let loops = Mutex<[WeakLoop]>([])

    private struct WeakLoop: Sendable {
        weak let loop: EventLoop?
    }

    package init() {}

    package var now: MonotonicTime { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .relaxed)) }

    /// Moves the clock, and makes the loops that live by it run what became due.
    package func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let delta = UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
        nanoseconds.wrappingAdd(delta, ordering: .relaxed)
        for entry in loops.withLock({ $0 }) { entry.loop?.execute {} }
    }

    func attach(_ loop: EventLoop) { loops.withLock { $0.append(WeakLoop(loop: loop)) } }
}
