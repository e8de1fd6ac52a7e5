import Foundation

/// Exponential back-off with full jitter: before retry n, a random time between 0 and `base` · `factor`ⁿ⁻¹, at most
/// `cap`.
public struct Backoff: Sendable, Hashable {
    /// The longest wait before the first retry, in seconds. Default 0.2.
    public var base: TimeInterval
    /// The factor by which the wait grows with each retry. Default 2.
    public var factor: Double
    /// The longest wait in total, in seconds. Default 20.
    public var cap: TimeInterval

    /// Makes a back-off; see the properties.
    public init(base: TimeInterval = 0.2, factor: Double = 2, cap: TimeInterval = 20) {
        self.base = base
        self.factor = factor
        self.cap = cap
    }

    /// Seconds to wait before a retry.
    ///
    /// - Parameters:
    ///   - retry: The number of the retry, from 1.
    ///   - random: A random number from 0 up to 1.
    public func delay(beforeRetry retry: Int, random: Double) -> TimeInterval {
        let growth = pow(factor.bounded(1, 1e6), Double(max(0, retry - 1)))
        let longest = (base.bounded(0, 1e9) * growth).bounded(0, cap.bounded(0, 1e9))
        return longest * random.bounded(0, 1)
    }
}
