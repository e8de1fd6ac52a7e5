import Foundation

/// The facts that a client has recorded about servers: a value.
struct S3ClientState: Sendable {
    /// The largest number of buckets with a recorded region.
    static let maximumRegions = 1_000

    var settings: S3Settings?
    /// Seconds by which the server's clock is ahead of this machine's.
    private(set) var clockSkew: TimeInterval = 0
    private var regions: [String: String] = [:]

    func region(of bucket: String, or standard: String) -> String { regions[bucket] ?? standard }

    mutating func learn(region: String, of bucket: String) {
        // A removed region is determined again with one more request.
        if regions.count >= Self.maximumRegions, regions[bucket] == nil { regions.removeAll() }
        regions[bucket] = region
    }

    mutating func learn(serverDate: Date, at date: Date) {
        clockSkew = serverDate.timeIntervalSince(date)
    }
}
