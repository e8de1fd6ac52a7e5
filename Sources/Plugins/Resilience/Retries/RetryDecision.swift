import Foundation
import LoadingKit

/// The action after an attempt.
public enum RetryDecision: Sendable, Hashable {
    /// The attempt's result is the load's result, for this reason.
    case deliver(Reason)
    /// The request is retried after this number of seconds.
    case retry(after: TimeInterval)

    /// The reason why there is no further attempt.
    public enum Reason: Sendable, Hashable {
        /// The attempt did not fail, or a retry would not change its failure.
        case noRetriableFailure
        /// The request must not be sent twice.
        case notRepeatable
        /// The body was a stream.
        case bodyCannotBeSentAgain
        /// The number of attempts has reached ``RetryPolicy/maximumAttempts``.
        case noAttemptLeft
        /// The wait would end after ``RetryPolicy/totalTimeout``.
        case noTimeLeft
        /// The server requires a longer wait than ``RetryPolicy/maximumRetryAfter``.
        case retryAfterIsTooLong
    }
}

/// The outcome of an attempt.
public enum AttemptOutcome: Sendable, Hashable {
    /// A response with a status, and its `Retry-After`.
    case status(Int, retryAfter: RetryAfter? = nil)
    /// A `URLError`.
    case failure(URLError.Code)
    /// Another error, or a cancellation.
    case otherFailure
}

extension RetryPolicy {
    /// The action after an attempt, without regard to the budget.
    ///
    /// - Parameters:
    ///   - number: The number of the attempt, from 1.
    ///   - elapsed: Seconds since the start of the first attempt.
    ///   - random: A random number from 0 up to 1, for the jitter.
    public func decision(
        after outcome: AttemptOutcome, of request: URLRequest, number: Int, elapsed: TimeInterval, now: Date,
        random: Double
    ) -> RetryDecision {
        guard isRetriable(outcome) else { return .deliver(.noRetriableFailure) }
        guard mayRepeat(request) else { return .deliver(.notRepeatable) }
        guard canSendBodyAgain(request) else { return .deliver(.bodyCannotBeSentAgain) }
        guard number < maximumAttempts else { return .deliver(.noAttemptLeft) }
        var delay = backoff.delay(beforeRetry: number, random: random)
        if heedsRetryAfter, case .status(_, let retryAfter?) = outcome {
            let asked = retryAfter.delay(from: now)
            let longest = maximumRetryAfter.bounded(0, 1e9)
            if asked > longest, beyondMaximumRetryAfter == .delivers { return .deliver(.retryAfterIsTooLong) }
            // The server's wait is the minimum: the added jitter separates clients that got the same wait.
            delay = min(longest, asked + delay)
        }
        if let totalTimeout, elapsed + delay >= totalTimeout { return .deliver(.noTimeLeft) }
        return .retry(after: delay)
    }

    private func isRetriable(_ outcome: AttemptOutcome) -> Bool {
        switch outcome {
        case .status(let status, _): statuses.contains(status)
        case .failure(let code): errorCodes.contains(code)
        case .otherFailure: false
        }
    }
}
