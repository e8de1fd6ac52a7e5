import Foundation

/// What a client has learned from servers: a value.
struct S3ClientState: Sendable {
    /// How many buckets' regions are kept.
    static let maximumRegions = 1_000

    var settings: S3Settings?
    /// Seconds by which the server's clock is ahead of this machine's.
    private(set) var clockSkew: TimeInterval = 0
    private var regions: [String: String] = [:]

    func region(of bucket: String, or standard: String) -> String { regions[bucket] ?? standard }

    mutating func learn(region: String, of bucket: String) {
        // What goes is learned again by one more request.
        if regions.count >= Self.maximumRegions, regions[bucket] == nil { regions.removeAll() }
        regions[bucket] = region
    }

    mutating func learn(serverDate: Date, at date: Date) {
        clockSkew = serverDate.timeIntervalSince(date)
    }
}
