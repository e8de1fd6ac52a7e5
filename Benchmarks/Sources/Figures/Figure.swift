/// One number of a measure: the median of what the runs gave.
public struct Figure: Codable, Sendable {
    /// "processor time", "latency, 99th".
    public let name: String
    /// "ns", "µs a request", "MB".
    public let unit: String
    public let median: Double
    /// How far the runs lie apart.
    public let lowest: Double
    public let highest: Double
    /// How many runs the median is of.
    public let runs: Int

    /// Nil without samples.
    public init?(_ name: String, unit: String, samples: [Double]) {
        guard !samples.isEmpty else { return nil }
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        self.name = name
        self.unit = unit
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        lowest = sorted[0]
        highest = sorted[sorted.count - 1]
        runs = sorted.count
    }
}
