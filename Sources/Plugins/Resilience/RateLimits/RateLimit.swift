import Foundation

/// The rate of requests to a host.
public struct RateLimit: Sendable, Hashable {
    /// Requests per second, on average.
    public var rate: Double
    /// The number of requests that may be sent at once after a pause. Default 1.
    public var burst: Double
    /// The longest wait of a request for its turn, in seconds. A request with a longer wait fails at once. Default 30.
    ///
    /// The session's `timeoutIntervalForRequest` (60 seconds unless set) runs while a request waits.
    public var maximumWait: TimeInterval
    /// The largest number of waiting requests for one host; others fail at once. Default 10,000.
    public var maximumWaiting: Int
    /// Whether a response 429 or 503 with `Retry-After` pauses all requests to its host. Default true.
    public var heedsRetryAfter = true
    /// The longest such pause, in seconds. Default 60.
    public var maximumPause: TimeInterval = 60
    /// The largest number of recorded hosts; the least recently used ones without waiting requests are removed. Default
    /// 1,000.
    public var maximumHosts = 1_000

    /// Makes a limit; see the properties.
    public init(
        rate: Double, burst: Double = 1, maximumWait: TimeInterval = 30, maximumWaiting: Int = 10_000
    ) {
        self.rate = rate
        self.burst = burst
        self.maximumWait = maximumWait
        self.maximumWaiting = maximumWaiting
    }
}

/// The error for a request that was not sent, because its wait would exceed the limit.
public struct RateLimitError: LocalizedError, Sendable, Hashable {
    /// The origin of the request.
    public let origin: RequestOrigin
    /// Seconds until its turn, as far as known; infinite where its turn would never come.
    public let wait: TimeInterval

    /// The error in plain words.
    public var errorDescription: String? {
        "the rate limit for \(origin) is reached: the request would have to wait for \(wait) seconds"
    }
}
