import Foundation

/// What one run of a client, or of a load generator, gave: times in microseconds, memory in KiB.
struct Run: Decodable {
    let requests: Double
    let bytes: Double
    let processorTime: Double
    let time: Double
    var latencyMedian: Double?
    var latency99th: Double?
    var allocations: Double?
    var peakMemory: Double?

    var processorTimePerRequest: Double { processorTime / requests }
}
