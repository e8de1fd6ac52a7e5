import Foundation
import LoadingKit

/// Retries failed requests by a ``RetryPolicy``.
///
/// The response of a failed attempt is not delivered. During the wait its body is read, up to a limit, so that its
/// connection can be reused. The result of the last attempt is the load's result. Once a response is delivered, there
/// are no further attempts. A redirect starts a new load, whose attempts are counted from 1.
public final class Retries: ResilienceInterceptor {
    private let policy: RetryPolicy
    private let clock: ResilienceClock
    private let random: @Sendable () -> Double
    private let budget: Locked<RetryBudget?>

    /// Makes an interceptor with a policy. The object holds the budget.
    ///
    /// - Parameter random: Returns numbers from 0 up to 1, for the jitter.
    public init(
        _ policy: RetryPolicy = RetryPolicy(), clock: ResilienceClock = .system,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.policy = policy
        self.clock = clock
        self.random = random
        budget = Locked(policy.budget)
    }

    /// Forwards the request until an attempt succeeds or there are no attempts left.
    public func load(_ load: LoadContext) async throws {
        let request = load.request
        budget.withLock { $0?.deposit() }
        let start = clock.now()
        var attempt = request
        var number = 1
        while true {
            let result: Result<Attempt, any Error>
            do {
                result = .success(try await self.attempt(attempt, load.next, since: start))
            } catch {
                result = .failure(error)
            }
            // A load that has ended is not retried, whatever the result of its last attempt.
            try Task.checkCancellation()
            guard let delay = delay(after: result, of: request, number: number, since: start) else {
                return try await result.get().deliver(to: load)
            }
            if let failed = try? result.get().loaded {
                try await failed.body.discarding(upTo: policy.maximumDiscardedBytes) { try await clock.sleep(delay) }
            } else {
                try await clock.sleep(delay)
            }
            number += 1
            if request.httpBodyStream != nil {
                guard let stream = policy.makeBodyStream?(request) else {
                    throw URLError(
                        .requestBodyStreamExhausted,
                        userInfo: [
                            NSLocalizedDescriptionKey:
                                "the request cannot be sent again: its body is a stream, which was read; set "
                                + "RetryPolicy.makeBodyStream, or use data or a file as the body"
                        ])
                }
                attempt.httpBodyStream = stream
            }
        }
    }

    /// A response, and the first piece of its body where the policy waits for it.
    private struct Attempt: Sendable {
        let loaded: LoadedResponse
        var first: Data?
        var hasBegun = false

        func deliver(to load: LoadContext) async throws {
            guard hasBegun else { return try await load.receive(loaded) }
            try await load.receive(loaded.response)
            guard let first else { return }
            try await load.receive(first)
            for try await piece in loaded.body { try await load.receive(piece) }
        }
    }

    private func attempt(
        _ request: URLRequest, _ next: NextHandlers, since start: TimeInterval
    ) async throws -> Attempt {
        let left = policy.totalTimeout.map { $0 - (clock.now() - start) }
        let limits = [policy.attemptTimeout, left].compactMap { $0 }
        return try await clock.limit(limits.min(), url: request.url) { [policy] in
            let loaded = try await next.load(request)
            let isDelivered = loaded.statusCode.map { !policy.statuses.contains($0) } ?? true
            guard policy.waitsForFirstBytes, isDelivered else { return Attempt(loaded: loaded) }
            var body = loaded.body.makeAsyncIterator()
            return Attempt(loaded: loaded, first: try await body.next(), hasBegun: true)
        }
    }

    /// Seconds until the next attempt; nil where there is none.
    private func delay(
        after result: Result<Attempt, any Error>, of request: URLRequest, number: Int,
        since start: TimeInterval
    ) -> TimeInterval? {
        let date = clock.date()
        let outcome = AttemptOutcome(result.map(\.loaded), now: date)
        let decision = policy.decision(
            after: outcome, of: request, number: number, elapsed: clock.now() - start, now: date, random: random())
        guard case .retry(let delay) = decision else { return nil }
        let now = clock.now()
        return budget.withLock { $0?.withdraw(at: now) ?? true } ? delay : nil
    }
}

extension AttemptOutcome {
    init(_ result: Result<LoadedResponse, any Error>, now: Date) {
        switch result {
        case .success(let loaded):
            guard let status = loaded.statusCode else {
                self = .status(200)
                return
            }
            let value = loaded.value(forField: "Retry-After")
            self = .status(status, retryAfter: value.flatMap { RetryAfter($0, now: now) })
        case .failure(let error as URLError): self = .failure(error.code)
        case .failure: self = .otherFailure
        }
    }
}
