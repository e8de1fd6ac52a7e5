import LoadingKitPrimitives

/// Where an event loop's time comes from.
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
