import Foundation

/// The number of retries that a session may make for its requests: a token bucket, as in Finagle and gRPC.
///
/// Each request adds `ratio` tokens, and each retry takes one. A failed server therefore gets only slightly more than
/// the original requests, regardless of the permitted attempts for each.
public struct RetryBudget: Sendable, Hashable {
    /// Retries for each request, on average: 0.2, the default, means 20 per cent.
    public let ratio: Double
    /// The initial number of tokens. Default 10.
    public let reserve: Double
    /// Tokens added each second, independent of requests, up to the reserve. Default 1.
    public let perSecond: Double
    /// The largest number of tokens. Default 100.
    public let maximum: Double

    /// The current number of tokens.
    public private(set) var tokens: Double
    private var updated: TimeInterval?

    /// Makes a budget; see the properties.
    public init(ratio: Double = 0.2, reserve: Double = 10, perSecond: Double = 1, maximum: Double = 100) {
        self.ratio = ratio.bounded(0, 1e6)
        self.maximum = maximum.bounded(0, 1e9)
        self.reserve = reserve.bounded(0, self.maximum)
        self.perSecond = perSecond.bounded(0, 1e6)
        tokens = self.reserve
    }

    /// Records a request's first attempt.
    public mutating func deposit() { tokens = min(maximum, tokens + ratio) }

    /// Takes a token for a retry.
    ///
    /// - Returns: Whether there was a token.
    public mutating func withdraw(at now: TimeInterval) -> Bool {
        let elapsed = updated.map { (now - $0).bounded(0, 1e9) } ?? 0
        updated = now
        if tokens < reserve { tokens = min(reserve, tokens + elapsed * perSecond) }
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
