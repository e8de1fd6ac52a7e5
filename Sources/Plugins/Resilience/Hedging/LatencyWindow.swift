import Foundation

/// The last latencies, and their quantiles.
public struct LatencyWindow: Sendable, Hashable {
    private let size: Int
    private var latest: [TimeInterval] = []
    private var oldest = 0
    private var sorted: [TimeInterval] = []

    /// - Parameter size: How many are kept, at least 1.
    public init(size: Int = 256) { self.size = max(1, size) }

    /// How many there are.
    public var count: Int { sorted.count }

    /// Adds one, in place of the oldest when there are enough.
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

    /// The smallest latency that so large a part of them does not exceed; nil when there are none.
    ///
    /// - Parameter part: From 0 to 1: 0.95 for the 95th percentile.
    public func quantile(_ part: Double) -> TimeInterval? {
        guard !sorted.isEmpty else { return nil }
        let rank = Int((part.bounded(0, 1) * Double(sorted.count)).rounded(.up))
        return sorted[min(max(rank - 1, 0), sorted.count - 1)]
    }

    /// The first place whose value is not smaller.
    private func position(of latency: TimeInterval) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < latency { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
