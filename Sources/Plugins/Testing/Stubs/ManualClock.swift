import Synchronization

/// A clock that does not move until a test moves it, for ``StubSet/Options/clock``.
///
/// ```swift
/// let clock = ManualClock()
/// await clock.waitForSleepers()   // the stub's delay has begun
/// clock.advance(by: .seconds(30))
/// ```
public final class ManualClock: Clock, Sendable {
    /// A point in time, relative to the clock's creation.
    public struct Instant: InstantProtocol, Sendable {
        /// The time since the clock was made.
        public let offset: Duration

        /// The time after a duration.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// The duration until another time.
        public func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether a time is before another.
        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextNumber = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Sleepers that were cancelled before they started to sleep.
        var cancelled: Set<Int> = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    /// Makes a clock at zero.
    public init() {}

    /// The time to which ``advance(by:)`` has moved the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// One nanosecond.
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// The current number of sleeping tasks.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// Suspends until the clock reaches the deadline.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        defer { state.withLock { _ = $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleep(number, until: deadline, $0) }
        } onCancel: {
            cancel(number)
        }
    }

    private func sleep(_ number: Int, until deadline: Instant, _ continuation: CheckedContinuation<Void, any Error>) {
        enum Decision {
            case isOver, isCancelled
            case sleeps([CheckedContinuation<Void, Never>])
        }
        let decision = state.withLock { state -> Decision in
            if state.cancelled.remove(number) != nil { return .isCancelled }
            if deadline <= state.now { return .isOver }
            state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
            let count = state.sleepers.count
            let reached = state.waiters.filter { $0.count <= count }.map(\.continuation)
            state.waiters.removeAll { $0.count <= count }
            return .sleeps(reached)
        }
        switch decision {
        case .isOver: continuation.resume()
        case .isCancelled: continuation.resume(throwing: CancellationError())
        case .sleeps(let waiters): for waiter in waiters { waiter.resume() }
        }
    }

    private func cancel(_ number: Int) {
        let sleeper = state.withLock { state -> Sleeper? in
            if let sleeper = state.sleepers.removeValue(forKey: number) { return sleeper }
            state.cancelled.insert(number)
            return nil
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    /// Moves the clock, and wakes the tasks whose deadline is reached, the earliest first.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Suspends until `count` tasks sleep.
    public func waitForSleepers(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.waiters.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
