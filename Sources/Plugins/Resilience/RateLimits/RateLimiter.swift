import Foundation
import LoadingKit

/// Sends requests to each origin no faster than a ``RateLimit`` permits, in the order of their arrival.
///
/// A request with too long a wait fails with ``RateLimitError``. A cancelled request leaves the queue, and those behind
/// it move up.
public final class RateLimiter: ResilienceInterceptor {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State: Sendable {
        var queues: OriginTable<RateLimitQueue>
        var waiters: [UInt64: Waiter] = [:]
        /// Origins with a task that waits until the next request may be sent.
        var pumped: [RequestOrigin: Task<Void, Never>] = [:]
        var lastIdentifier: UInt64 = 0
    }

    private let limit: RateLimit
    private let clock: ResilienceClock
    private let state: Locked<State>

    /// Makes a limiter. The object holds the buckets.
    public init(_ limit: RateLimit, clock: ResilienceClock = .system) {
        self.limit = limit
        self.clock = clock
        let queues = OriginTable<RateLimitQueue>(limit: limit.maximumHosts) { queue, now in
            guard queue.isEmpty else { return .never }
            // A bucket that is not full is kept as long as possible, with its refill time.
            return queue.bucket.isFull(at: now) ? .first : .last
        }
        state = Locked(State(queues: queues))
    }

    /// The number of waiting requests.
    public var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Forwards the request when its turn has come.
    public func load(_ load: LoadContext) async throws {
        guard let origin = RequestOrigin(load.url) else { return try await load.forward(load.request) }
        try await waitForTurn(origin)
        let loaded = try await load.next.load(load.request)
        heed(loaded, origin)
        try await load.receive(loaded)
    }

    private func waitForTurn(_ origin: RequestOrigin) async throws {
        try Task.checkCancellation()
        let id = state.withLock { state in
            state.lastIdentifier &+= 1
            return state.lastIdentifier
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in enter(waiter, id, origin) }
        } onCancel: {
            leave(id, origin)
        }
    }

    private func enter(_ waiter: Waiter, _ id: UInt64, _ origin: RequestOrigin) {
        let now = clock.now()
        let (arrival, isPumped) = state.withLock { state in
            let arrival = with(origin, at: now, in: &state) {
                $0.arrive(id, at: now, maximumWait: limit.maximumWait, maximumCount: limit.maximumWaiting)
            }
            if arrival == .waits { state.waiters[id] = waiter }
            return (arrival, state.pumped[origin] != nil)
        }
        switch arrival {
        case .goes: waiter.resume()
        case .refused(let wait): waiter.resume(throwing: RateLimitError(origin: origin, wait: wait))
        case .waits:
            if !isPumped { pump(origin) }
            // The cancellation may have occurred before the request was in the queue.
            if Task.isCancelled { leave(id, origin) }
        }
    }

    private func leave(_ id: UInt64, _ origin: RequestOrigin) {
        let now = clock.now()
        let (waiter, pump) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return (nil, nil) }
            let isLast = with(origin, at: now, in: &state) { queue in
                _ = queue.leave(id)
                return queue.isEmpty
            }
            return (waiter, isLast ? state.pumped.removeValue(forKey: origin) : nil)
        }
        pump?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    /// For each origin one task waits until the first request may be sent.
    private func pump(_ origin: RequestOrigin) {
        let now = clock.now()
        let (former, released, expired) = state.withLock { state -> (Task<Void, Never>?, [Waiter], [Waiter]) in
            let former = state.pumped.removeValue(forKey: origin)
            let departures = with(origin, at: now, in: &state) { $0.advance(to: now) }
            let next = with(origin, at: now, in: &state) { $0.nextEvent(from: now) }
            if let next {
                state.pumped[origin] = Task { [weak self, clock] in
                    guard (try? await clock.sleep(next)) != nil, !Task.isCancelled else { return }
                    self?.pump(origin)
                }
            }
            return (
                former, departures.released.compactMap { state.waiters.removeValue(forKey: $0) },
                departures.expired.compactMap { state.waiters.removeValue(forKey: $0) }
            )
        }
        // After the lock: the clock's code runs where its sleep is cancelled.
        former?.cancel()
        for waiter in released { waiter.resume() }
        for waiter in expired { waiter.resume(throwing: RateLimitError(origin: origin, wait: limit.maximumWait)) }
    }

    private func heed(_ loaded: LoadedResponse, _ origin: RequestOrigin) {
        guard limit.heedsRetryAfter, let status = loaded.statusCode, status == 429 || status == 503,
            let value = loaded.value(forField: "Retry-After")
        else { return }
        let date = clock.date()
        guard let delay = RetryAfter(value, now: date)?.delay(from: date) else { return }
        let now = clock.now()
        let end = now + delay.bounded(0, limit.maximumPause.bounded(0, 1e9))
        state.withLock { state in with(origin, at: now, in: &state) { $0.pause(until: end) } }
        pump(origin)
    }

    private func with<Result>(
        _ origin: RequestOrigin, at now: TimeInterval, in state: inout State, _ body: (inout RateLimitQueue) -> Result
    ) -> Result {
        state.queues.with(
            origin, at: now, or: { RateLimitQueue(TokenBucket(rate: limit.rate, burst: limit.burst, at: now)) }, body)
    }
}
