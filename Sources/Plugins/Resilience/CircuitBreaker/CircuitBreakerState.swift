import Foundation

/// A circuit breaker as a value.
///
///     closed   ── too many failures in the window ──▶ open
///     open     ── the open time is over, a call comes ──▶ half-open
///     halfOpen ── as many probes succeed as there are to be ──▶ closed
///     halfOpen ── a probe fails ──▶ open
public struct CircuitBreakerState: Sendable, Hashable {
    /// The thresholds and times of the breaker.
    public struct Policy: Sendable, Hashable {
        /// The fraction of the calls in the window that must fail for the breaker to open, from 0 to 1. Default 0.5.
        public var failureRatio: Double
        /// The number of calls in the window below which the breaker does not open. Default 20.
        public var minimumCalls: Int
        /// The window's length in seconds. Default 30.
        public var window: TimeInterval
        /// The time for which the breaker stays open, in seconds. Default 10.
        public var openTime: TimeInterval
        /// The number of calls that are admitted after that time, and must succeed. While they have no outcome, one more
        /// is admitted after each ``openTime``, of a second at least. Default 1.
        public var probes: Int

        /// Makes a policy; see the properties.
        public init(
            failureRatio: Double = 0.5, minimumCalls: Int = 20, window: TimeInterval = 30, openTime: TimeInterval = 10,
            probes: Int = 1
        ) {
            self.failureRatio = failureRatio.bounded(0, 1)
            self.minimumCalls = max(1, minimumCalls)
            self.window = window.bounded(0.001, 1e9)
            self.openTime = openTime.bounded(0, 1e9)
            self.probes = max(1, probes)
        }
    }

    /// The decision about a call.
    public enum Admission: Sendable, Hashable {
        /// The call is made, and its outcome recorded with this ticket.
        case goes(Ticket)
        /// The call is not made; the seconds until a call may be made.
        case refused(TimeInterval)
    }

    /// The phase in which a call was admitted: outcomes of an earlier phase do not count in a later one.
    public struct Ticket: Sendable, Hashable { let phase: UInt64 }

    /// The outcome of a call.
    public enum Outcome: Sendable, Hashable {
        /// The server has processed the request.
        case success
        /// The server failed, or could not be reached.
        case failure
        /// The state of the server is unknown, for example because the call was cancelled.
        case unknown
    }

    /// The phase of the breaker.
    public enum Phase: Sendable, Hashable {
        /// Calls are made.
        case closed
        /// No call is made until that time.
        case open(until: TimeInterval)
        /// The numbers of running and of successful probes.
        case halfOpen(running: Int, succeeded: Int)
    }

    /// The phase of the breaker. An open breaker whose time has passed becomes half-open with the next call.
    public private(set) var phase = Phase.closed
    private let policy: Policy
    private var counts: SlidingCounts
    private var phaseNumber: UInt64 = 0
    /// The time at which the last probe was admitted.
    private var lastProbe: TimeInterval = 0

    /// Makes a closed breaker.
    public init(_ policy: Policy = Policy()) {
        self.policy = policy
        counts = SlidingCounts(window: policy.window)
    }

    /// Decides about a call.
    public mutating func admit(at now: TimeInterval) -> Admission {
        switch phase {
        case .closed: return .goes(Ticket(phase: phaseNumber))
        case .open(let until):
            if now < until { return .refused(until - now) }
            enter(.halfOpen(running: 1, succeeded: 0))
            lastProbe = now
            return .goes(Ticket(phase: phaseNumber))
        case .halfOpen(let running, let succeeded):
            // A probe may have no outcome for long, for example while its task is suspended.
            guard running + succeeded < policy.probes || now - lastProbe >= max(1, policy.openTime) else {
                return .refused(0)
            }
            phase = .halfOpen(running: running + 1, succeeded: succeeded)
            lastProbe = now
            return .goes(Ticket(phase: phaseNumber))
        }
    }

    /// Records the outcome of an admitted call.
    public mutating func record(_ outcome: Outcome, _ ticket: Ticket, at now: TimeInterval) {
        guard ticket.phase == phaseNumber else { return }
        switch (phase, outcome) {
        case (.open, _), (.closed, .unknown): break
        case (.closed, .success), (.closed, .failure):
            counts.record(isFailure: outcome == .failure, at: now)
            let (calls, failures) = counts.counts(at: now)
            if outcome == .failure, calls >= policy.minimumCalls,
                Double(failures) >= policy.failureRatio * Double(calls)
            {
                enter(.open(until: now + policy.openTime))
            }
        case (.halfOpen(let running, let succeeded), .unknown):
            // Another call may be the probe.
            phase = .halfOpen(running: max(0, running - 1), succeeded: succeeded)
        case (.halfOpen(let running, let succeeded), .success):
            if succeeded + 1 >= policy.probes {
                counts = SlidingCounts(window: policy.window)
                enter(.closed)
            } else {
                phase = .halfOpen(running: max(0, running - 1), succeeded: succeeded + 1)
            }
        case (.halfOpen, .failure): enter(.open(until: now + policy.openTime))
        }
    }

    /// Whether the breaker behaves like a new one.
    func isIdle(at now: TimeInterval) -> Bool { phase == .closed && counts.counts(at: now).failures == 0 }

    private mutating func enter(_ next: Phase) {
        phase = next
        phaseNumber &+= 1
    }
}

/// The numbers of successful and failed calls in the last seconds: in ten slots, of which the oldest are removed with
/// time.
struct SlidingCounts: Sendable, Hashable {
    private struct Slot: Hashable {
        var number = Int.min
        var successes = 0
        var failures = 0
    }

    private static let slotCount = 10
    private let slotLength: TimeInterval
    private var slots = [Slot](repeating: Slot(), count: slotCount)

    /// - Parameter window: the length in seconds.
    init(window: TimeInterval) { slotLength = window.bounded(0.001, 1e9) / Double(Self.slotCount) }

    mutating func record(isFailure: Bool, at now: TimeInterval) {
        let number = number(at: now)
        let index = number % Self.slotCount
        if slots[index].number != number { slots[index] = Slot(number: number) }
        if isFailure { slots[index].failures &+= 1 } else { slots[index].successes &+= 1 }
    }

    /// The number of calls within the window, and the number of those that failed.
    func counts(at now: TimeInterval) -> (calls: Int, failures: Int) {
        let latest = number(at: now)
        let current = slots.filter { $0.number > latest - Self.slotCount && $0.number <= latest }
        let failures = current.reduce(0) { $0 &+ $1.failures }
        return (current.reduce(failures) { $0 &+ $1.successes }, failures)
    }

    private func number(at now: TimeInterval) -> Int { Int((now / slotLength).bounded(0, 1e15)) }
}
