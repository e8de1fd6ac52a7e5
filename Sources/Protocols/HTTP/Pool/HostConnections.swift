import DequeModule

/// The connections of all pools of one host, and the pools that wait because the host is at its limit. Tasks with
/// delegates of their own, and routes through different proxies, have different pools.
///
/// It is a value, as the pools are. Before each input a pool gets its ``share(of:)``. After each input the pool's use
/// is stored by ``update(_:_:)``. ``nextStep()`` is then the work to do for the pools that wait.
///
/// A turn is the right to open one connection. Pools have their turns in the order in which they began to wait. A pool
/// that needs further connections waits for another turn, behind the others. Room for a turn is made by closing an idle
/// connection. While all connections are busy, pools whose connections end their requests give way to pools that have
/// fewer: a pool with a long queue would otherwise keep its connections for as long as it has requests. An HTTP/2
/// connection gives way when one of its requests ends. It takes no further ones, and ends with those that it has, but
/// no longer counts for the limit.
struct HostConnections: Sendable, CustomStringConvertible {
    typealias PoolID = ObjectIdentifier

    /// A pool's part of the limit, as it is now.
    struct Share: Sendable, Equatable {
        /// The largest number of connections and attempts that the pool may have now.
        var limit = Int.max
        /// Whether a connection of the pool that has ended a request takes no further one, because another pool needs
        /// it more.
        var givesWay = false
    }

    /// A pool's use of the host.
    struct Use: Sendable, Equatable {
        /// The number of connections and attempts that count for the limit.
        var count = 0
        /// Whether one of the connections is idle, or carries nothing but other protocols, such as WebSockets.
        var hasIdle = false
        /// Whether requests wait for a connection that the host's limit has left no room for.
        var waits = false

        fileprivate var waitsWithNone: Bool { waits && count == 0 }
    }

    enum Step: Sendable, Equatable {
        /// The pool closes an idle connection, or retires one that carries other protocols alone.
        case makeRoom(PoolID)
        /// The pool has its turn.
        case useRoom(PoolID)
    }

    private struct Member: Sendable {
        var use = Use()
        /// The number of the turn for which the pool waits.
        var turn: UInt64 = 0
    }

    private struct Place: Sendable {
        let pool: PoolID
        let turn: UInt64
    }

    let limit: Int
    /// The number of connections and attempts of all pools.
    private(set) var count = 0
    /// The pools that have connections or wait.
    private var members: [PoolID: Member] = [:]
    /// The pools that have connections. There are no more of them than connections.
    private var holders: [PoolID] = []
    /// The pools that wait, in the order of their turns, and places of pools that no longer wait.
    private var queue = Deque<Place>()
    private var lastTurn: UInt64 = 0
    private var waitingCount = 0
    /// The number of pools that wait and have no connection.
    private var waitingWithNoneCount = 0
    /// The pool that has its turn.
    private var served: PoolID?

    init(limit: Int) { self.limit = limit }

    var description: String { "\(count) of \(limit), waiting pools \(waitingCount)" }

    /// Stores a pool's use. Returns false if the use is the same as before.
    @discardableResult
    mutating func update(_ pool: PoolID, _ use: Use) -> Bool {
        var member = members[pool] ?? Member()
        let last = member.use
        guard use != last else { return false }
        member.use = use
        count += use.count - last.count
        waitingCount += (use.waits ? 1 : 0) - (last.waits ? 1 : 0)
        waitingWithNoneCount += (use.waitsWithNone ? 1 : 0) - (last.waitsWithNone ? 1 : 0)
        if last.count == 0, use.count > 0 { holders.append(pool) }
        if last.count > 0, use.count == 0 { holders.removeAll { $0 == pool } }
        let hasGrown = use.count > last.count
        if hasGrown, served == pool { served = nil }
        if use.waits, hasGrown || !last.waits {
            lastTurn &+= 1
            member.turn = lastTurn
            queue.append(Place(pool: pool, turn: lastTurn))
        }
        members[pool] = use == Use() ? nil : member
        // A pool may begin and stop waiting many times before its turn.
        if queue.count > 2 * waitingCount + 8 { queue = queue.filter(isTaken) }
        return true
    }

    private func isTaken(_ place: Place) -> Bool {
        guard let member = members[place.pool] else { return false }
        return member.use.waits && member.turn == place.turn
    }

    // MARK: Shares

    func share(of pool: PoolID) -> Share {
        let own = members[pool]?.use ?? Use()
        let most = limit - (count - own.count)
        guard waitingCount > (own.waits ? 1 : 0) else { return Share(limit: most) }
        if served == pool { return Share(limit: own.count + 1) }
        // A connection that ends may be replaced. More than that needs a turn.
        return givesWay(pool, own) ? Share(limit: 0, givesWay: true) : Share(limit: min(most, own.count))
    }

    /// Whether another pool waits that has fewer connections, and there is not yet enough room for the waiting pools.
    private func givesWay(_ pool: PoolID, _ own: Use) -> Bool {
        guard limit - count < waitingCount - (own.waits ? 1 : 0) else { return false }
        if waitingWithNoneCount > (own.waitsWithNone ? 1 : 0) { return true }
        return holders.contains { other in
            guard other != pool, let use = members[other]?.use else { return false }
            return use.waits && use.count + 1 < own.count
        }
    }

    // MARK: Steps

    var hasStep: Bool { waitingCount > 0 && (count < limit || firstWithIdle != nil) }

    private var firstWithIdle: PoolID? { holders.first { members[$0]?.use.hasIdle == true } }

    /// The next step, after the one before was carried out; nil if nothing can be done for the pools that wait.
    mutating func nextStep() -> Step? {
        endTurn()
        guard let pool = firstWaiting() else { return nil }
        if count < limit {
            served = pool
            return .useRoom(pool)
        }
        guard let idle = firstWithIdle else { return nil }
        // The pool reports if it has another one.
        members[idle]?.use.hasIdle = false
        return .makeRoom(idle)
    }

    /// A pool that has not used its turn waits no longer, until an input of its own changes that.
    private mutating func endTurn() {
        guard let pool = served.take(), var use = members[pool]?.use else { return }
        use.waits = false
        update(pool, use)
    }

    private mutating func firstWaiting() -> PoolID? {
        while let place = queue.first {
            if isTaken(place) { return place.pool }
            queue.removeFirst()
        }
        return nil
    }
}
