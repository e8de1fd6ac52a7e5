import Foundation

/// The most recent latencies, and their quantiles.
public struct LatencyWindow: Sendable, Hashable {
    private let size: Int
    private var latest: [TimeInterval] = []
    private var oldest = 0

    /// - Parameter size: The number of latencies that are kept, at least 1.
    public init(size: Int = 256) { self.size = max(1, size) }

    /// The number of recorded latencies.
    public var count: Int { latest.count }

    /// Adds a latency, and removes the oldest when the window is full.
    public mutating func record(_ latency: TimeInterval) {
        let latency = latency.bounded(0, 1e9)
        guard latest.count == size else { return latest.append(latency) }
        latest[oldest] = latency
        oldest = (oldest + 1) % size
    }

    /// The smallest latency that is not exceeded by the given part of the latencies; nil when there are none.
    ///
    /// - Parameter part: From 0 to 1: 0.95 for the 95th percentile.
    public func quantile(_ part: Double) -> TimeInterval? {
        guard !latest.isEmpty else { return nil }
        let rank = Int((part.bounded(0, 1) * Double(count)).rounded(.up))
        return latest.sorted()[min(max(rank - 1, 0), count - 1)]
    }
}
