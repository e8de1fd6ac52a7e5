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
    /// The entries before it have left the queue. It avoids a new array for each departure.
    private var head = 0

    init(_ bucket: TokenBucket) { self.bucket = bucket }

    var count: Int { waiting.count - head }
    var isEmpty: Bool { count == 0 }

    /// Whether a new request need not wait; it then has its token. It does not take the token of a waiting request.
    mutating func goAtOnce(at now: TimeInterval) -> Bool { isEmpty && bucket.take(at: now) }

    mutating func arrive(_ id: UInt64, at now: TimeInterval, maximumWait: TimeInterval, maximumCount: Int) -> Arrival {
        if goAtOnce(at: now) { return .goes }
        let wait = bucket.wait(for: count + 1, at: now)
        guard wait <= maximumWait, count < maximumCount else { return .refused(wait) }
        waiting.append((id, now + maximumWait))
        return .waits
    }

    /// A waiting request is cancelled: the requests behind it move up.
    ///
    /// - Returns: Whether it was still waiting.
    mutating func leave(_ id: UInt64) -> Bool {
        guard let index = waiting[head...].firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    mutating func pause(until time: TimeInterval) { bucket.pause(until: time) }

    /// Releases the requests for which there are tokens, and those whose wait exceeds the limit because of a later
    /// pause.
    mutating func advance(to now: TimeInterval) -> Departures {
        var departures = Departures()
        while head < waiting.count {
            let first = waiting[head]
            if bucket.take(at: now) {
                departures.released.append(first.id)
            } else if now >= first.deadline {
                departures.expired.append(first.id)
            } else {
                break
            }
            head += 1
        }
        if head > 64, head * 2 > waiting.count {
            waiting.removeFirst(head)
            head = 0
        }
        return departures
    }

    /// Seconds until the next change by `advance`; nil where no request waits.
    func nextEvent(from now: TimeInterval) -> TimeInterval? {
        guard head < waiting.count else { return nil }
        return min(bucket.wait(for: 1, at: now), max(0, waiting[head].deadline - now))
    }
}
