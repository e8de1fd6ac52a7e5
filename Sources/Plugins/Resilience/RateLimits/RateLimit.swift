import Foundation

/// How many requests a second go to a host.
public struct RateLimit: Sendable, Hashable {
    /// Requests a second, on average.
    public var rate: Double
    /// Requests that may go at once after a pause. Default 1.
    public var burst: Double
    /// The longest that a request waits for its turn, in seconds; one that would wait for longer fails at once. Default 30.
    ///
    /// The session's `timeoutIntervalForRequest` (60 seconds unless set) runs while a request waits.
    public var maximumWait: TimeInterval
    /// The most requests that wait for one host; others fail at once. Default 10,000.
    public var maximumWaiting: Int
    /// Whether a response 429 or 503 with `Retry-After` pauses all requests to its host. Default true.
    public var heedsRetryAfter = true
    /// The longest such pause, in seconds. Default 60.
    public var maximumPause: TimeInterval = 60
    /// The most hosts that are kept in mind; those used longest ago, for which nothing waits, are forgotten. Default 1,000.
    public var maximumHosts = 1_000

    /// A limit; see the properties.
    public init(
        rate: Double, burst: Double = 1, maximumWait: TimeInterval = 30, maximumWaiting: Int = 10_000
    ) {
        self.rate = rate
        self.burst = burst
        self.maximumWait = maximumWait
        self.maximumWaiting = maximumWaiting
    }
}

/// A request was not sent, as its turn would not come in time.
public struct RateLimitError: LocalizedError, Sendable, Hashable {
    /// Where it would have gone.
    public let origin: RequestOrigin
    /// Seconds until its turn, as far as is known; infinite where it never comes.
    public let wait: TimeInterval

    /// What happened, in plain words.
    public var errorDescription: String? {
        "the rate limit for \(origin) is reached: the request would have to wait for \(wait) seconds"
    }
}
