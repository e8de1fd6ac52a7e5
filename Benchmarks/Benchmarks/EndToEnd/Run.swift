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
    /// nginx's, the warm-up included. The kernel's work for loopback is charged to the one or to the other.
    var serverTime: Double?

    var processorTimePerRequest: Double { processorTime / requests }
}
