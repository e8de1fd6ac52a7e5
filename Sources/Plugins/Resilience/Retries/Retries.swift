import Foundation
import LoadingKit

/// Retries failed requests by a ``RetryPolicy``.
///
/// The response of a failed attempt is not delivered. During the wait its body is read, up to a limit, so that its
/// connection can be reused. The result of the last attempt is the load's result. Once a response is delivered, there
/// are no further attempts. A redirect starts a new load, whose attempts are counted from 1.
public final class Retries: Interceptor {
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
    public func load(_ request: URLRequest, _ next: NextInterceptors) async throws -> InterceptedResponse {
        budget.withLock { $0?.deposit() }
        let start = clock.now()
        var attempt = request
        var number = 1
        while true {
            let result: Result<InterceptedResponse, any Error>
            do {
                result = .success(try await load(attempt, next, since: start))
            } catch {
                result = .failure(error)
            }
            // A load that has ended is not retried, whatever the result of its last attempt.
            try Task.checkCancellation()
            guard let delay = delay(after: result, of: request, number: number, since: start) else {
                return try result.get()
            }
            try await wait(delay, discarding: try? result.get().body)
            number += 1
            if request.httpBodyStream != nil {
                guard let stream = policy.makeBodyStream?(request) else {
                    throw URLError(
                        .requestBodyStreamExhausted,
                        userInfo: [
                            NSLocalizedDescriptionKey:
                                "the request cannot be sent again: its body is a stream, which was read; give "
                                + "RetryPolicy.makeBodyStream, or the body as data or a file"
                        ])
                }
                attempt.httpBodyStream = stream
            }
        }
    }

    private func load(
        _ request: URLRequest, _ next: NextInterceptors, since start: TimeInterval
    ) async throws -> InterceptedResponse {
        let left = policy.totalTimeout.map { $0 - (clock.now() - start) }
        let limits = [policy.attemptTimeout, left].compactMap { $0 }
        return try await clock.limit(limits.min(), url: request.url) { [policy] in
            var loaded = try await next.load(request)
            let isDelivered = loaded.statusCode.map { !policy.statuses.contains($0) } ?? true
            if policy.waitsForFirstBytes, isDelivered {
                let first = try await loaded.body.nextPiece()
                loaded.body = first.map { loaded.body.preceded(by: $0) } ?? InterceptedBody(Data())
            }
            return loaded
        }
    }

    /// Seconds until the next attempt; nil where there is none.
    private func delay(
        after result: Result<InterceptedResponse, any Error>, of request: URLRequest, number: Int,
        since start: TimeInterval
    ) -> TimeInterval? {
        let date = clock.date()
        let outcome = AttemptOutcome(result, now: date)
        let decision = policy.decision(
            after: outcome, of: request, number: number, elapsed: clock.now() - start, now: date, random: random())
        guard case .retry(let delay) = decision else { return nil }
        let now = clock.now()
        return budget.withLock { $0?.withdraw(at: now) ?? true } ? delay : nil
    }

    /// The rest of the body at the end of the wait is not awaited.
    private func wait(_ delay: TimeInterval, discarding body: InterceptedBody?) async throws {
        guard let body else { return try await clock.sleep(delay) }
        try await body.discarding(upTo: policy.maximumDiscardedBytes) { try await clock.sleep(delay) }
    }
}

extension AttemptOutcome {
    init(_ result: Result<InterceptedResponse, any Error>, now: Date) {
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
