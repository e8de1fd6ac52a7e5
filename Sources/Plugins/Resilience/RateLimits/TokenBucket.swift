import Foundation

/// A bucket that fills with `rate` tokens a second, up to `burst`. What is done takes a token.
public struct TokenBucket: Sendable, Hashable {
    /// Tokens a second.
    public let rate: Double
    /// The most tokens that the bucket holds. It is full at first.
    public let burst: Double
    /// The tokens at `updated`.
    private var tokens: Double
    private var updated: TimeInterval
    /// Until then no token may be taken.
    private var pausedUntil: TimeInterval = -.infinity

    /// A full bucket.
    ///
    /// - Parameters:
    ///   - rate: Tokens a second, 0 or more.
    ///   - burst: 1 or more.
    public init(rate: Double, burst: Double, at now: TimeInterval) {
        self.rate = rate.bounded(0, 1e9)
        self.burst = burst.bounded(1, 1e9)
        tokens = self.burst
        updated = now
    }

    /// Takes a token.
    ///
    /// - Returns: Whether there was one.
    public mutating func take(at now: TimeInterval) -> Bool {
        fill(at: now)
        // What is a billionth short is a rounding of the time.
        guard now >= pausedUntil, tokens >= 1 - 1e-9 else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// Seconds until there are so many tokens for those who wait, in order; infinite where there never are.
    public func wait(for count: Int, at now: TimeInterval) -> TimeInterval {
        let present = min(burst, tokens + (now - updated).bounded(0, 1e9) * rate)
        let missing = Double(count) - present
        let filling = missing <= 1e-9 ? 0 : rate > 0 ? missing / rate : .infinity
        return max(filling, pausedUntil - now, 0)
    }

    /// Gives no token until then, as a server asked. The pause is never made shorter.
    public mutating func pause(until time: TimeInterval) { pausedUntil = max(pausedUntil, time) }

    /// Whether it is as one that was just made.
    public func isFull(at now: TimeInterval) -> Bool {
        now >= pausedUntil && tokens + (now - updated).bounded(0, 1e9) * rate >= burst
    }

    private mutating func fill(at now: TimeInterval) {
        tokens = min(burst, tokens + (now - updated).bounded(0, 1e9) * rate)
        updated = max(updated, now)
    }
}
