import Foundation

/// How many retries a session may make for its requests: a bucket of tokens, as in Finagle and gRPC.
///
/// Each request puts `ratio` tokens in, and each retry takes one out. So a server that is down gets little more than the
/// requests that there are, however many attempts each of them may make.
public struct RetryBudget: Sendable, Hashable {
    /// Retries for each request, on average: 0.2 are 20 per cent, the default.
    public let ratio: Double
    /// Tokens that are there at first. Default 10.
    public let reserve: Double
    /// Tokens that come each second, without any request, up to the reserve. Default 1.
    public let perSecond: Double
    /// The most tokens that are kept. Default 100.
    public let maximum: Double

    /// Tokens that are there.
    public private(set) var tokens: Double
    private var updated: TimeInterval?

    /// A budget; see the properties.
    public init(ratio: Double = 0.2, reserve: Double = 10, perSecond: Double = 1, maximum: Double = 100) {
        self.ratio = ratio.bounded(0, 1e6)
        self.maximum = maximum.bounded(0, 1e9)
        self.reserve = reserve.bounded(0, self.maximum)
        self.perSecond = perSecond.bounded(0, 1e6)
        tokens = self.reserve
    }

    /// Notes a request's first attempt.
    public mutating func deposit() { tokens = min(maximum, tokens + ratio) }

    /// Takes a token for a retry.
    ///
    /// - Returns: Whether there was one.
    public mutating func withdraw(at now: TimeInterval) -> Bool {
        let elapsed = updated.map { (now - $0).bounded(0, 1e9) } ?? 0
        updated = now
        if tokens < reserve { tokens = min(reserve, tokens + elapsed * perSecond) }
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
