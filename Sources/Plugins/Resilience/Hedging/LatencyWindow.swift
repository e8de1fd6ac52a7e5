import Foundation

/// The most recent latencies, and their quantiles.
public struct LatencyWindow: Sendable, Hashable {
    private let size: Int
    private var latest: [TimeInterval] = []
    private var oldest = 0
    private var sorted: [TimeInterval] = []

    /// - Parameter size: The number of latencies that are kept, at least 1.
    public init(size: Int = 256) { self.size = max(1, size) }

    /// The number of recorded latencies.
    public var count: Int { sorted.count }

    /// Adds a latency, and removes the oldest when the window is full.
    public mutating func record(_ latency: TimeInterval) {
        let latency = latency.bounded(0, 1e9)
        if latest.count < size {
            latest.append(latency)
        } else {
            let gone = latest[oldest]
            latest[oldest] = latency
            oldest = (oldest + 1) % size
            sorted.remove(at: position(of: gone))
        }
        sorted.insert(latency, at: position(of: latency))
    }

    /// The smallest latency that is not exceeded by the given part of the latencies; nil when there are none.
    ///
    /// - Parameter part: From 0 to 1: 0.95 for the 95th percentile.
    public func quantile(_ part: Double) -> TimeInterval? {
        guard !sorted.isEmpty else { return nil }
        let rank = Int((part.bounded(0, 1) * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank - 1, 0), sorted.count - 1)]
    }

    /// The first position whose value is not smaller.
    private func position(of latency: TimeInterval) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < latency { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
