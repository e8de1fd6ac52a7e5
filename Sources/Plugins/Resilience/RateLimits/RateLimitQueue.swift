import Foundation

/// The requests that wait for a host's tokens, in the order of their arrival.
struct RateLimitQueue: Sendable {
    enum Arrival: Equatable {
        case goes
        case waits
        /// The wait in seconds would exceed the limit.
        case refused(TimeInterval)
    }

    struct Departures: Equatable {
        var released: [UInt64] = []
        var expired: [UInt64] = []
    }

    private(set) var bucket: TokenBucket
    private var waiting: [(id: UInt64, deadline: TimeInterval)] = []

    init(_ bucket: TokenBucket) { self.bucket = bucket }

    var count: Int { waiting.count }
    var isEmpty: Bool { count == 0 }

    mutating func arrive(_ id: UInt64, at now: TimeInterval, maximumWait: TimeInterval, maximumCount: Int) -> Arrival {
        // A new request does not take the token of a waiting one.
        if isEmpty, bucket.take(at: now) { return .goes }
        let wait = bucket.wait(for: count + 1, at: now)
        guard wait <= maximumWait, count < maximumCount else { return .refused(wait) }
        waiting.append((id, now + maximumWait))
        return .waits
    }

    /// A waiting request is cancelled: the requests behind it move up.
    ///
    /// - Returns: Whether it was still waiting.
    mutating func leave(_ id: UInt64) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    mutating func pause(until time: TimeInterval) { bucket.pause(until: time) }

    /// Releases the requests for which there are tokens, and those whose wait exceeds the limit because of a later
    /// pause.
    mutating func advance(to now: TimeInterval) -> Departures {
        var departures = Departures()
        var gone = 0
        for (id, deadline) in waiting {
            if bucket.take(at: now) {
                departures.released.append(id)
            } else if now >= deadline {
                departures.expired.append(id)
            } else {
                break
            }
            gone += 1
        }
        waiting.removeFirst(gone)
        return departures
    }

    /// Seconds until the next change by `advance`; nil where no request waits.
    func nextEvent(from now: TimeInterval) -> TimeInterval? {
        waiting.first.map { min(bucket.wait(for: 1, at: now), max(0, $0.deadline - now)) }
    }
}
