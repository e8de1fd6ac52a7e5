import LoadingKitPrimitives

@testable import LoadingKitHTTP

/// A pool, with the requests, attempts and connections that exist as a consequence of its actions. Each action is
/// checked: it must be possible in the present state. After each input the invariants are checked (``check()``).
struct PoolModel {
    typealias Pool = HTTPConnectionPool

    struct Flaw: Error, CustomStringConvertible { let description: String }

    enum Carrier {
        case http1(Pool.Binding, active: Pool.RequestID?)
        case http2(capacity: Int, open: Set<Pool.RequestID>, awaitsServer: Bool)
    }

    var pool: Pool
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    /// Those that are submitted and not assigned.
    private(set) var waiting: [Pool.RequestID: Pool.Request] = [:]
    private(set) var queued: Set<Pool.RequestID> = []
    private(set) var connections: [Pool.ConnectionID: Carrier] = [:]
    /// HTTP/2 connections that take no more requests, and have some.
    private(set) var leaving: [Pool.ConnectionID: Set<Pool.RequestID>] = [:]
    private(set) var attempts: [Pool.AttemptID: Bool] = [:]
    private(set) var held: Set<Pool.AttemptID> = []
    private(set) var willServeQueue = false
    private(set) var willSendAhead = false
    private(set) var isPausing = false
    /// The last result.
    private(set) var log: [String] = []
    private var made = 0
    private var retirements: [Pool.ConnectionID: MonotonicTime] = [:]
    /// How the connection that is given back had come to its request.
    private var wasGone: Pool.ConnectionUse?
    private var assignedFromIdle: (request: Pool.Request, connection: Pool.ConnectionID)?

    init(_ configuration: Pool.Configuration) { pool = Pool(configuration) }

    mutating func makeID() -> SlotID {
        made += 1
        return SlotID(index: made % 4099, generation: UInt32(truncatingIfNeeded: made))
    }

    var actives: [Pool.ConnectionID] {
        connections.compactMap { id, carrier in
            if case .http1(_, _?) = carrier { id } else { nil }
        }.sorted { $0.generation < $1.generation }
    }

    var idles: [Pool.ConnectionID] {
        connections.compactMap { id, carrier in
            if case .http1(_, nil) = carrier { id } else { nil }
        }.sorted { $0.generation < $1.generation }
    }

    var multiplexed: [Pool.ConnectionID] {
        connections.compactMap { id, carrier in
            if case .http2 = carrier { id } else { nil }
        }.sorted { $0.generation < $1.generation }
    }

    /// Connections on which no stream may begin before the server has sent something.
    var unsettled: [Pool.ConnectionID] {
        multiplexed.filter { if case .http2(_, _, true)? = connections[$0] { true } else { false } }
    }

    mutating func forgetLog() { log = [] }

    /// In short, by the numbers of requests and connections.
    private static func text(_ action: Pool.Action) -> String {
        switch action {
        case .assign(let request, let connection, let use):
            "assign \(request.generation) to \(connection.generation) \(use)"
        case .assignAhead(let request, let connection):
            "assign \(request.generation) ahead on \(connection.generation)"
        case .flushAhead(let connection): "flush \(connection.generation)"
        case .keepIdle(let connection): "keep \(connection.generation)"
        case .close(let connection): "close \(connection.generation)"
        case .retire(let connection): "retire \(connection.generation)"
        case .check(let connection): "check \(connection.generation)"
        case .startAttempt(let attempt, let offersHTTP2): "start #\(attempt)\(offersHTTP2 ? " offering HTTP/2" : "")"
        case .cancelAttempt(let attempt): "cancel #\(attempt)"
        case .fail(let request, let failure): "fail \(request.generation) \(failure)"
        case .reportQueued(let request, let isQueued): "\(request.generation) is \(isQueued ? "" : "not ")queued"
        case .serveQueueLater: "serve the queue later"
        case .sendAheadLater: "send ahead later"
        case .startPause(let seconds): "pause \(seconds) s"
        case .cancelPause: "end pause"
        case .release: "release"
        }
    }

    // MARK: Inputs

    /// - Returns: the request that was assigned to a connection that was idle, of which the caller may find that it is closed.
    mutating func submit(_ request: Pool.Request) throws -> (request: Pool.Request, connection: Pool.ConnectionID)? {
        waiting[request.id] = request
        assignedFromIdle = nil
        try run { $0.submit(request, now: $1) }
        return assignedFromIdle
    }

    mutating func withdraw(_ id: Pool.RequestID) throws {
        waiting[id] = nil
        queued.remove(id)
        try run { $0.withdraw(id, now: $1) }
    }

    mutating func changePriority(of id: Pool.RequestID, to priority: Float) throws {
        waiting[id]?.priority = priority
        try run { pool, _ in pool.changePriority(of: id, to: priority) }
    }

    mutating func open(
        _ attempt: Pool.AttemptID?, capacity: Int?, awaitsServer: Bool = false, retiresAfter seconds: Double = 3600
    ) throws {
        if let attempt { end(attempt) }
        let id = makeID()
        let retiresAt = now.advanced(bySeconds: seconds)
        retirements[id] = retiresAt
        if let capacity {
            connections[id] = .http2(capacity: capacity, open: [], awaitsServer: awaitsServer)
            let slots = Pool.StreamSlots(
                available: awaitsServer ? 0 : capacity, open: 0, awaitsServer: awaitsServer)
            try run { $0.connectionDidOpen(id, by: attempt, slots: slots, retiresAt: retiresAt, now: $1) }
        } else {
            connections[id] = .http1(.none, active: nil)
            try run {
                $0.connectionDidOpen(
                    id, by: attempt, until: $1.advanced(bySeconds: 55), retiresAt: retiresAt, now: $1)
            }
        }
    }

    private mutating func end(_ attempt: Pool.AttemptID) {
        attempts[attempt] = nil
        held.remove(attempt)
    }

    mutating func fail(_ attempt: Pool.AttemptID, _ failure: Pool.AttemptFailure) throws {
        end(attempt)
        try run { $0.attemptDidFail(attempt, failure, now: $1) }
    }

    mutating func challenge(_ attempt: Pool.AttemptID) throws {
        held.insert(attempt)
        let request = pool.requestToChallenge(for: attempt)
        try run { pool, _ in pool.attemptDidChallenge(attempt, for: request) }
    }

    mutating func endChallenge(_ attempt: Pool.AttemptID) throws {
        held.remove(attempt)
        try run { pool, _ in pool.attemptChallengeDidEnd(attempt) }
    }

    mutating func becomeIdle(_ id: Pool.ConnectionID, _ binding: Pool.Binding, seconds: Double) throws {
        connections[id] = .http1(binding, active: nil)
        try run { $0.connectionDidBecomeIdle(id, binding, until: $1.advanced(bySeconds: seconds), now: $1) }
    }

    mutating func requestIsGone(_ id: Pool.ConnectionID, _ use: Pool.ConnectionUse) throws {
        guard case .http1(let binding, _)? = connections[id] else { return }
        connections[id] = .http1(binding, active: nil)
        wasGone = use
        defer { wasGone = nil }
        try run { $0.requestWasGone(id, use, binding, until: $1.advanced(bySeconds: 9), now: $1) }
    }

    mutating func close(_ id: Pool.ConnectionID) throws {
        connections[id] = nil
        leaving[id] = nil
        try run { $0.connectionDidClose(id, now: $1) }
    }

    /// The connection that was assigned to was closed before.
    mutating func wasClosed(_ connection: Pool.ConnectionID, before request: Pool.Request) throws {
        connections[connection] = nil
        waiting[request.id] = request
        try run { $0.connectionWasClosed(connection, before: request, now: $1) }
    }

    /// One of the streams ends, or the server changes how many it allows.
    mutating func change(_ id: Pool.ConnectionID, ending count: Int, capacity: Int) throws {
        guard case .http2(_, var open, _)? = connections[id] else { return }
        for request in open.sorted(by: { $0.generation < $1.generation }).prefix(count) { open.remove(request) }
        connections[id] = .http2(capacity: capacity, open: open, awaitsServer: false)
        let slots = Pool.StreamSlots(available: max(0, capacity - open.count), open: open.count)
        try run { $0.streamSlotsDidChange(of: id, to: slots, until: $1.advanced(bySeconds: 55), now: $1) }
    }

    /// Some of the requests are submitted anew.
    mutating func goAway(_ id: Pool.ConnectionID, unprocessed: Int) throws -> [Pool.RequestID] {
        guard case .http2(_, let open, _)? = connections[id] else { return [] }
        let last = Array(open.sorted { $0.generation < $1.generation }.suffix(unprocessed))
        connections[id] = nil
        leaving[id] = open.subtracting(last)
        try run { $0.connectionWillClose(id, unprocessed: last.count, now: $1) }
        return last
    }

    /// The connection ends before the server's settings have arrived.
    mutating func lose(_ id: Pool.ConnectionID) throws {
        connections[id] = nil
        try run { $0.connectionDidFail(id, now: $1) }
    }

    mutating func retireAll() throws {
        for connection in actives + multiplexed { retirements[connection] = now }
        try run { $0.retireAll(now: $1) }
    }

    /// The networks change. Some of the connections are not on the best route any more.
    mutating func changeNetworks(stale: [Pool.ConnectionID]) throws {
        for connection in stale { retirements[connection] = now }
        try run { $0.networkDidChange(stale: stale, now: $1) }
    }

    mutating func serveQueue() throws {
        willServeQueue = false
        try run { $0.serveQueue(now: $1) }
    }

    mutating func sendAhead(room: Int) throws {
        willSendAhead = false
        let rooms = pool.pipelined(now).map { id in
            Pool.RoomAhead(connection: id, binding: .none, count: 0, room: room)
        }
        try run { pool, _ in pool.sendAhead(on: rooms) }
    }

    mutating func endPause() throws {
        isPausing = false
        try run { $0.pauseDidEnd(now: $1) }
    }

    /// Another pool of the host takes the place.
    mutating func makeRoom() throws {
        pool.share.limit = 0
        try run { $0.makeRoom(now: $1) }
    }

    mutating func useRoom(_ share: HostConnections.Share) throws {
        pool.share = share
        try run { $0.useRoom(now: $1) }
    }

    mutating func refuse() throws {
        try run { pool, _ in pool.connectionWasRefused().actions }
    }

    mutating func refuseStream() throws {
        try run { pool, _ in pool.streamWasRefused().actions }
    }

    // MARK: Actions

    mutating func run(_ input: (inout Pool, MonotonicTime) -> Pool.Actions) throws {
        log = []
        try input(&pool, now).forEach { action in
            log.append(Self.text(action))
            try run(action)
        }
        try check()
    }

    private mutating func run(_ action: Pool.Action) throws {
        switch action {
        case .assign(let request, let connection, let use):
            try assign(take(request), to: connection, use)
        case .assignAhead(let id, let connection):
            let request = try take(id)
            guard request.mayBeSentAhead, !request.needsFreshConnection else { throw Flaw("sent ahead", id) }
            guard case .http1(_, _?)? = connections[connection] else { throw Flaw("sent ahead on none", id) }
        case .flushAhead, .keepIdle, .cancelPause:
            if case .cancelPause = action { isPausing = false }
        case .close(let connection):
            switch connections.removeValue(forKey: connection) {
            case .http1(_, nil)?: break
            case .http2(_, let open, _)? where open.isEmpty: break
            case .http1?, .http2?: throw Flaw("closed in use", connection)
            case nil: throw Flaw("closed twice", connection)
            }
        case .retire(let connection):
            guard case .http2(_, let open, _)? = connections.removeValue(forKey: connection) else {
                throw Flaw("retired", connection)
            }
            leaving[connection] = open
        case .check(let connection):
            guard case .http2(let capacity, let open, _)? = connections[connection] else {
                throw Flaw("checked", connection)
            }
            connections[connection] = .http2(capacity: capacity, open: open, awaitsServer: true)
        case .startAttempt(let attempt, let offersHTTP2):
            guard attempts.updateValue(offersHTTP2, forKey: attempt) == nil else {
                throw Flaw("started twice", attempt)
            }
            guard !isPausing else { throw Flaw("started in a pause", attempt) }
        case .cancelAttempt(let attempt):
            guard attempts.removeValue(forKey: attempt) != nil else { throw Flaw("cancelled twice", attempt) }
            held.remove(attempt)
        case .fail(let request, _):
            _ = try take(request)
        case .reportQueued(let request, let isQueued):
            guard waiting[request] != nil, queued.contains(request) != isQueued else { throw Flaw("reported", request) }
            if isQueued { queued.insert(request) } else { queued.remove(request) }
        case .serveQueueLater:
            guard !willServeQueue else { throw Flaw("serves the queue twice", "") }
            willServeQueue = true
        case .sendAheadLater:
            guard !willSendAhead else { throw Flaw("sends ahead twice", "") }
            willSendAhead = true
        case .startPause:
            isPausing = true
        case .release:
            guard pool.isUnused, waiting.isEmpty, connections.isEmpty, attempts.isEmpty else {
                throw Flaw("released", pool)
            }
        }
    }

    private mutating func take(_ id: Pool.RequestID) throws -> Pool.Request {
        guard let request = waiting.removeValue(forKey: id) else { throw Flaw("is not waiting", id) }
        queued.remove(id)
        return request
    }

    private mutating func assign(
        _ request: Pool.Request, to id: Pool.ConnectionID, _ use: Pool.ConnectionUse
    ) throws {
        if use != .fresh, let retirement = retirements[id], retirement <= now { throw Flaw("is too old", id) }
        switch connections[id] {
        case .http1(let binding, nil):
            guard binding.suits(request.user) else { throw Flaw("another user's", request) }
            guard use == .fresh || !request.needsFreshConnection else { throw Flaw("is to be fresh", request) }
            connections[id] = .http1(binding, active: request.id)
            if wasGone == .fromIdle, use == .atOnce { throw Flaw("is not checked", id) }
            if use == .fromIdle { assignedFromIdle = (request, id) }
            let passed = waiting.values.filter { Self.precedes($0, request) }
            // A fresh one is for the request that the program was asked for, if it was.
            let isUnfair = passed.contains { use == .atOnce && !$0.needsFreshConnection && binding.suits($0.user) }
            if isUnfair { throw Flaw("is before its turn", request) }
        case .http2(let capacity, var open, false) where open.count < capacity:
            if pool.backOff.holdsStreams { throw Flaw("was assigned in a pause", id) }
            if waiting.values.contains(where: { Self.precedes($0, request) }) {
                throw Flaw("is before its turn", request)
            }
            open.insert(request.id)
            connections[id] = .http2(capacity: capacity, open: open, awaitsServer: false)
        case .http1?, .http2?: throw Flaw("has no room", id)
        case nil: throw Flaw("is no connection", id)
        }
    }

    private static func precedes(_ a: Pool.Request, _ b: Pool.Request) -> Bool {
        if a.goesFirst != b.goesFirst { return a.goesFirst }
        if !a.goesFirst, a.priority != b.priority { return a.priority > b.priority }
        return a.number < b.number
    }

    // MARK: Invariants

    private func check() throws {
        guard pool.waiting.count == waiting.count else { throw Flaw("lost", "\(pool) but \(waiting.count) wait") }
        guard connections.count + attempts.count <= max(1, pool.configuration.limit) + retiredByAge else {
            throw Flaw("beyond the limit", pool)
        }
        let asking = pool.attempts.filter(\.isChallenging)
        guard asking.allSatisfy({ $0.challenged.map(pool.waiting.contains) != false }) else {
            throw Flaw("asks the program for a request that no longer waits", pool)
        }
        guard !willServeQueue else { return }
        guard waiting.count - queued.count <= pool.servedCount else {
            throw Flaw("has timeouts that run without a connection being opened", pool)
        }
        try checkNothingIsFree()
    }

    /// Those that take no more as they are old do not count.
    private func isTooOld(_ connection: HTTPConnectionPool.ConnectionID) -> Bool {
        pool.http2[connection]?.takesRequests(now) == false
    }

    private var retiredByAge: Int { multiplexed.count(where: { isTooOld($0) }) }

    /// No request waits while something could be done for it.
    private func checkNothingIsFree() throws {
        guard let first = waiting.values.min(by: Self.precedes) else { return }
        for (id, carrier) in connections {
            switch carrier {
            case .http1(let binding, nil) where binding.suits(first.user) && !first.needsFreshConnection:
                throw Flaw("waits beside an idle connection", "\(first) \(id)")
            case .http2(let capacity, let open, false)
            where open.count < capacity && !isTooOld(id) && !pool.backOff.holdsStreams:
                throw Flaw("waits beside a free stream", "\(first) \(id)")
            case .http1, .http2: break
            }
        }
        let isBlocked = isPausing || !attempts.isEmpty || awaitsServer
        let limit = min(max(1, pool.configuration.limit), pool.share.limit)
        let isFull = connections.count - retiredByAge >= limit
        guard isBlocked || isFull else { throw Flaw("waits for nothing", "\(first) \(pool)") }
    }

    private var awaitsServer: Bool { !unsettled.isEmpty }
}

extension PoolModel.Flaw {
    init(_ what: String, _ of: Any) { description = "\(of): \(what)" }
}
