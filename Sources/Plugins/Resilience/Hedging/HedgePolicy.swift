import Foundation
import LoadingKit

/// When a further attempt of a request is begun while the earlier ones are under way.
public struct HedgePolicy: Sendable {
    /// After how long a further attempt is begun.
    public enum Delay: Sendable, Hashable {
        /// After so many seconds.
        case fixed(TimeInterval)
        /// After the time that so large a part of the last 256 requests to the origin took until their response's head;
        /// after `otherwise` seconds while fewer than `minimum` are known.
        case quantile(Double, otherwise: TimeInterval, minimum: Int = 20)
    }

    /// The wait before each further attempt. Default: the 95th percentile, at first 1 second.
    public var delay: Delay
    /// The most attempts under way, with the first one. Default 2.
    public var maximumAttempts: Int
    /// The methods whose requests are hedged: the safe ones (RFC 9110 §9.2.1).
    public var methods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]
    /// Statuses that do not win while another attempt is under way. Default 408, 425, 429, 500, 502, 503, 504.
    public var failedStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
    /// How many further attempts there may be for the requests. Nil is no bound.
    public var budget: RetryBudget? = RetryBudget(ratio: 0.1)
    /// The most origins whose latencies are kept. Default 1,000.
    public var maximumHosts = 1_000

    /// A policy; see the properties.
    public init(
        delay: Delay = .quantile(0.95, otherwise: 1), maximumAttempts: Int = 2, budget: RetryBudget? = .init(ratio: 0.1)
    ) {
        self.delay = delay
        self.maximumAttempts = maximumAttempts
        self.budget = budget
    }

    /// Whether a request may be under way more than once.
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
