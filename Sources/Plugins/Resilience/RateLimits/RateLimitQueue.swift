import Foundation

/// Those that wait for a host's tokens, in the order in which they came.
struct RateLimitQueue: Sendable {
    enum Arrival: Equatable {
        case goes
        case waits
        /// The wait would be longer than is allowed: so many seconds.
        case refused(TimeInterval)
    }

    struct Departures: Equatable {
        var released: [UInt64] = []
        var expired: [UInt64] = []
    }

    private(set) var bucket: TokenBucket
    private var waiting: [(id: UInt64, deadline: TimeInterval)] = []
    /// Those before it have left. An array is not made anew for each that leaves.
    private var head = 0

    init(_ bucket: TokenBucket) { self.bucket = bucket }

    var count: Int { waiting.count - head }
    var isEmpty: Bool { count == 0 }

    /// Whether one that comes now need not wait; it has its token then. It does not take that of one that waits.
    mutating func goAtOnce(at now: TimeInterval) -> Bool { isEmpty && bucket.take(at: now) }

    mutating func arrive(_ id: UInt64, at now: TimeInterval, maximumWait: TimeInterval, maximumCount: Int) -> Arrival {
        if goAtOnce(at: now) { return .goes }
        let wait = bucket.wait(for: count + 1, at: now)
        guard wait <= maximumWait, count < maximumCount else { return .refused(wait) }
        waiting.append((id, now + maximumWait))
        return .waits
    }

    /// One that waited is cancelled: those behind it move up.
    ///
    /// - Returns: Whether it waited still.
    mutating func leave(_ id: UInt64) -> Bool {
        guard let index = waiting[head...].firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    mutating func pause(until time: TimeInterval) { bucket.pause(until: time) }

    /// Lets those go for whom there are tokens, and those whose time is over after a pause that came while they waited.
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

    /// Seconds until `advance` has something to do; nil where nobody waits.
    func nextEvent(from now: TimeInterval) -> TimeInterval? {
        guard head < waiting.count else { return nil }
        return min(bucket.wait(for: 1, at: now), max(0, waiting[head].deadline - now))
    }
}
