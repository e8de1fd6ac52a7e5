import Foundation

/// A bucket that is filled with `rate` tokens per second, up to `burst`. Each request takes a token.
public struct TokenBucket: Sendable, Hashable {
    /// Tokens per second.
    public let rate: Double
    /// The capacity of the bucket, which is full at first.
    public let burst: Double
    /// The number of tokens at `updated`.
    private var tokens: Double
    private var updated: TimeInterval
    /// No token may be taken before this time.
    private var pausedUntil: TimeInterval = -.infinity

    /// Makes a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Tokens per second, 0 or more.
    ///   - burst: The capacity, 1 or more.
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
        // A deficit of a billionth is a rounding error of the time.
        guard now >= pausedUntil, tokens >= 1 - 1e-9 else { return false }
        tokens = max(0, tokens - 1)
        return true
    }

    /// Seconds until there are `count` tokens, for waiting requests in order; infinite where there never will be.
    public func wait(for count: Int, at now: TimeInterval) -> TimeInterval {
        let present = min(burst, tokens + (now - updated).bounded(0, 1e9) * rate)
        let missing = Double(count) - present
        let filling = missing <= 1e-9 ? 0 : rate > 0 ? missing / rate : .infinity
        return max(filling, pausedUntil - now, 0)
    }

    /// Pauses until a time that a server requires. A pause is never shortened.
    public mutating func pause(until time: TimeInterval) { pausedUntil = max(pausedUntil, time) }

    /// Whether the bucket is in its initial state.
    public func isFull(at now: TimeInterval) -> Bool {
        now >= pausedUntil && tokens + (now - updated).bounded(0, 1e9) * rate >= burst
    }

    private mutating func fill(at now: TimeInterval) {
        tokens = min(burst, tokens + (now - updated).bounded(0, 1e9) * rate)
        updated = max(updated, now)
    }
}
