import Foundation
import LoadingKit

/// What is done after an attempt.
public enum RetryDecision: Sendable, Hashable {
    /// Its result is the load's, for this reason.
    case deliver(Reason)
    /// The request is tried again after so many seconds.
    case retry(after: TimeInterval)

    /// Why there is no further attempt.
    public enum Reason: Sendable, Hashable {
        /// The attempt did not fail, or in no way that another attempt may change.
        case noRetriableFailure
        /// The request may not be sent twice.
        case notRepeatable
        /// The body was a stream.
        case bodyCannotBeSentAgain
        /// ``RetryPolicy/maximumAttempts`` were made.
        case noAttemptLeft
        /// The wait would end after ``RetryPolicy/totalTimeout``.
        case noTimeLeft
        /// The server asks for a longer wait than ``RetryPolicy/maximumRetryAfter``.
        case retryAfterIsTooLong
    }
}

/// What became of an attempt.
public enum AttemptOutcome: Sendable, Hashable {
    /// A response with a status, and its `Retry-After`.
    case status(Int, retryAfter: RetryAfter? = nil)
    /// A `URLError`.
    case failure(URLError.Code)
    /// Another error, or a cancellation.
    case otherFailure
}

extension RetryPolicy {
    /// What is done after an attempt, but for the budget.
    ///
    /// - Parameters:
    ///   - number: 1 for the first attempt.
    ///   - elapsed: Seconds since the first attempt began.
    ///   - random: From 0 up to 1, for the jitter.
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
            // The server's wait is the least: the jitter on top keeps those apart that it sent away together.
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
