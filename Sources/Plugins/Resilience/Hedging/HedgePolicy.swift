import Foundation
import LoadingKit

/// The conditions for a further attempt of a request while earlier attempts are in progress.
public struct HedgePolicy: Sendable {
    /// The delay before a further attempt.
    public enum Delay: Sendable, Hashable {
        /// A fixed number of seconds.
        case fixed(TimeInterval)
        /// The given quantile of the times until the response's head for the last 256 requests to the origin;
        /// `otherwise` seconds while fewer than `minimum` times are known.
        case quantile(Double, otherwise: TimeInterval, minimum: Int = 20)
    }

    /// The delay before each further attempt. Default: the 95th percentile, at first 1 second.
    public var delay: Delay
    /// The largest number of simultaneous attempts, including the first. Default 2.
    public var maximumAttempts: Int
    /// The methods whose requests are hedged: the safe ones (RFC 9110 §9.2.1).
    public var methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]
    /// Statuses that do not win while another attempt is in progress. Default 408, 425, 429, 500, 502, 503, 504.
    public var failedStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// The budget for further attempts. Nil: no limit.
    public var budget: RetryBudget? = RetryBudget(ratio: 0.1)
    /// The largest number of origins with recorded latencies. Default 1,000.
    public var maximumHosts = 1_000

    /// Makes a policy; see the properties.
    public init(
        delay: Delay = .quantile(0.95, otherwise: 1), maximumAttempts: Int = 2, budget: RetryBudget? = .init(ratio: 0.1)
    ) {
        self.delay = delay
        self.maximumAttempts = maximumAttempts
        self.budget = budget
    }

    /// Whether a request may have several simultaneous attempts.
    public func mayHedge(_ request: URLRequest) -> Bool {
        maximumAttempts > 1 && methods.contains(request.httpMethod ?? "GET") && request.httpBodyStream == nil
    }

    /// Seconds before a further attempt.
    public func delay(_ latencies: LatencyWindow?) -> TimeInterval {
        switch delay {
        case .fixed(let seconds): return seconds.bounded(0, 1e9)
        case .quantile(let part, let otherwise, let minimum):
            guard let latencies, latencies.count >= minimum else { return otherwise.bounded(0, 1e9) }
            return (latencies.quantile(part) ?? otherwise).bounded(0, 1e9)
        }
    }
}
