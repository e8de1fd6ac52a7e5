import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// Each input of a pool in each of its states, and random inputs against invariants.
@Suite struct HTTPConnectionPoolTests {
    typealias Pool = HTTPConnectionPool

    // MARK: Every input in every state

    /// With `LOADINGKIT_WRITE_POOL_TABLE` in the environment the table is written anew, and not compared.
    @Test func everyInputInEveryState() throws {
        let rows = try PoolTable.rows()
        let environment = ProcessInfo.processInfo.environment
        if environment["LOADINGKIT_WRITE_POOL_TABLE"] != nil { return try PoolTable.write(rows) }
        let expected = PoolTable.expected.split(separator: "\n").map(String.init)
        #expect(rows.count == expected.count)
        var state = ""
        for (row, expected) in zip(rows, expected) {
            if row.hasPrefix("## ") { state = row }
            #expect(row == expected, "\(state)")
        }
    }

    // MARK: Single rules

    private func model(_ configure: (inout Pool.Configuration) -> Void = { _ in }) -> PoolModel {
        var configuration = Pool.Configuration()
        configuration.limit = 1
        configure(&configuration)
        return PoolModel(configuration)
    }

    private func request(_ model: inout PoolModel) -> Pool.Request {
        let id = model.makeID()
        return Pool.Request(id: id, number: UInt64(id.generation))
    }

    /// A connection on which the requests of two users were sent is for neither of them, and stays bound.
    @Test func requestsBindAConnectionToTheirUser() {
        let (one, other) = (
            Pool.UserCredential(user: "a", password: "b"), Pool.UserCredential(user: "a", password: "c")
        )
        // An equal one, and not the same object.
        let equal = Pool.UserCredential(user: "a", password: "b")
        let cases: [(Pool.Binding, Pool.Binding, Pool.Binding)] = [
            (.none, .user(one), .user(one)), (.none, .namedUser(one), .namedUser(one)), (.none, .spent, .spent),
            (.user(one), .user(equal), .user(one)), (.user(one), .user(other), .spent),
            (.user(one), .namedUser(equal), .namedUser(one)), (.namedUser(one), .user(equal), .namedUser(one)),
            (.user(one), .namedUser(other), .spent), (.namedUser(one), .user(other), .spent),
            (.namedUser(one), .namedUser(other), .spent), (.user(one), .spent, .spent), (.spent, .user(one), .spent),
        ]
        for (binding, user, expected) in cases {
            #expect(binding.joined(with: user) == expected, "\(binding), \(user)")
        }
        // To the server the same letter in another form of Unicode is another text.
        let composed = Pool.UserCredential(user: "a", password: "\u{E9}")
        #expect(!Pool.Binding.user(composed).suits(.named(Pool.UserCredential(user: "a", password: "e\u{301}"))))
        #expect(Pool.Binding.user(composed).suits(.named(Pool.UserCredential(user: "a", password: "\u{E9}"))))
    }

    /// A connection that carries WebSockets alone gives way to another pool of the host, and stays open for them.
    @Test func webSocketsAloneKeepNoPlace() {
        var pool = model { $0.startsWithHTTP2 = true }.pool
        let (now, id) = (MonotonicTime(nanoseconds: 1), Pool.ConnectionID(index: 0, generation: 1))
        _ = pool.connectionDidOpen(
            id, by: nil, slots: Pool.StreamSlots(available: 2, open: 0), retiresAt: .distantFuture, now: now)
        _ = pool.submit(Pool.Request(id: Pool.RequestID(index: 1, generation: 1), number: 1), on: id)
        #expect(pool.use(now) == HostConnections.Use(count: 1, hasIdle: true))
        _ = pool.submit(Pool.Request(id: Pool.RequestID(index: 2, generation: 1), number: 2), now: now)
        #expect(pool.use(now) == HostConnections.Use(count: 1), "a request is under way, too")
        let slots = Pool.StreamSlots(available: 1, open: 1, switched: 1)
        _ = pool.streamSlotsDidChange(of: id, to: slots, until: .distantFuture, now: now)
        var actions: [Pool.Action] = []
        pool.makeRoom(now: now).forEach { actions.append($0) }
        #expect(actions == [.retire(id)])
        #expect(pool.use(now) == HostConnections.Use())
    }

    /// The pauses become longer, and there is a last one.
    @Test func aServerThatAlwaysRefusesIsAskedATimeOrTwo() {
        typealias Refusal = (inout Pool) -> (maySendAgain: Bool, actions: Pool.Actions)
        typealias Answer = (inout Pool) -> Void
        let refusals: [Refusal] = [{ $0.connectionWasRefused() }, { $0.streamWasRefused() }]
        let answers: [Answer] = [
            { $0.streamDidAnswer() }, { _ = $0.connectionDidAnswer(now: MonotonicTime(nanoseconds: 2)) },
        ]
        for refuse in refusals {
            for answer in answers {
                var pool = model().pool
                var count = 0
                while count < 100, refuse(&pool).maySendAgain {
                    count += 1
                    _ = pool.pauseDidEnd(now: MonotonicTime(nanoseconds: 1))
                }
                #expect(count > 0 && count < 20)
                answer(&pool)
                #expect(refuse(&pool).maySendAgain, "a server that answers is asked again")
                pool.streamDidAnswer()
                #expect(pool.backOff.isPausing, "what another connection carries ends no pause")
            }
        }
    }

    /// A server that shuts down ends all its connections together. Their requests are sent again after one pause.
    @Test func connectionsThatAreRefusedTogetherShareAPause() {
        var pool = model().pool
        for pause in Pool.BackOff.pauses {
            var actions: [Pool.Action] = []
            for _ in 0..<6 {
                let refusal = pool.connectionWasRefused()
                #expect(refusal.maySendAgain)
                refusal.actions.forEach { actions.append($0) }
            }
            #expect(actions == [.startPause(seconds: pause)])
            _ = pool.pauseDidEnd(now: MonotonicTime(nanoseconds: 1))
        }
    }

    /// A server whose connections end, or allow no streams, before they carry a request gets five of them, with pauses.
    @Test(arguments: [false, true]) func aServerThatTakesNoRequest(sendsGoAway: Bool) throws {
        var model = model {
            $0.isForUpgrade = true
            $0.startsWithHTTP2 = true
        }
        let waiting = request(&model)
        _ = try model.submit(waiting)
        try model.serveQueue()
        for attempt in 1...5 {
            try #require(Array(model.attempts.keys) == [attempt])
            try model.open(attempt, capacity: 2, awaitsServer: true)
            let connection = try #require(model.multiplexed.first)
            if sendsGoAway {
                _ = try model.goAway(connection, unprocessed: 0)
            } else {
                try model.change(connection, ending: 0, capacity: 0)
            }
            guard attempt < 5 else { break }
            #expect(model.isPausing && model.queued == [waiting.id])
            try model.endPause()
        }
        #expect(model.log.contains("fail \(waiting.id.generation) connectionRefused"))
        #expect(model.waiting.isEmpty && model.attempts.isEmpty)
    }

    /// Bytes on an idle connection would be taken for the answer to the next request: each request checks for them.
    @Test func anIdleConnectionIsCheckedForTheNextRequestToo() throws {
        var model = model()
        _ = try model.submit(request(&model))
        try model.serveQueue()
        try model.open(1, capacity: nil)
        try model.becomeIdle(model.actives[0], .none, seconds: 50)
        _ = try model.submit(request(&model))
        let next = request(&model)
        _ = try model.submit(next)
        try model.requestIsGone(model.actives[0], .fromIdle)
        #expect(model.log == ["assign \(next.id.generation) to \(model.actives[0].generation) fromIdle"])
    }

    /// One attempt is for all requests while the version is unknown. When its streams are taken, and no further connection
    /// may be opened, the others wait in a queue.
    @Test func aRequestThatWaitsForAStreamIsQueued() throws {
        var model = model { $0.isSecure = true }
        let requests = (0..<3).map { _ in request(&model) }
        for request in requests { _ = try model.submit(request) }
        try model.serveQueue()
        #expect(model.queued.isEmpty)
        try model.open(1, capacity: 2)
        #expect(model.queued == [requests[2].id])
    }

    /// Each of the requests that wait for the first connection is looked at once, however many there are.
    @Test func aRequestThatIsServedIsNotLookedAtForTheNextOne() throws {
        var model = model { $0.isSecure = true }
        for _ in 0..<300 {
            _ = try model.submit(request(&model))
            try model.serveQueue()
        }
        #expect(model.queued.isEmpty && model.pool.waiting.visits == 300)
        try model.challenge(1)
        #expect(model.queued.count == 300)
        try model.endChallenge(1)
        #expect(model.queued.isEmpty && model.pool.waiting.visits == 600)
    }

    @Test func theFirstRequestsOfAQueueAreServed() {
        var generator = SeededGenerator(seed: 1)
        var queue = RequestQueue()
        var waiting: [(id: Pool.RequestID, isQueued: Bool)] = []
        for number in 0..<3_000 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                let id = Pool.RequestID(index: number, generation: 1)
                queue.insert(Pool.Request(id: id, number: UInt64(number)))
                waiting.append((id, true))
            case 2, 3:
                guard let index = waiting.indices.randomElement(using: &generator) else { continue }
                queue.remove(waiting.remove(at: index).id)
            case _:
                let count = [0, 1, 3, Int.max].randomElement(using: &generator) ?? 0
                let ended = queue.serveNoMore(than: count)
                let begun = queue.serve(count)
                let nowQueued = waiting.indices.filter { $0 >= count && !waiting[$0].isQueued }.map { waiting[$0].id }
                let nowServed = waiting.indices.filter { $0 < count && waiting[$0].isQueued }.map { waiting[$0].id }
                #expect(Set(ended) == Set(nowQueued) && ended.count == nowQueued.count)
                #expect(Set(begun) == Set(nowServed) && begun.count == nowServed.count)
                for index in waiting.indices { waiting[index].isQueued = index >= count }
            }
        }
    }

    /// A connection that is being opened is for the request that is first now.
    @Test func aRequestBehindOneThatGoesFirstIsQueued() throws {
        var model = model { $0.limit = 2 }
        let requests = (0..<2).map { _ in request(&model) }
        for request in requests { _ = try model.submit(request) }
        try model.serveQueue()
        var first = request(&model)
        first.goesFirst = true
        _ = try model.submit(first)
        try model.serveQueue()
        #expect(model.queued == [requests[1].id])
    }

    /// The program's answer is for the request on whose behalf it was asked, also when the attempt goes on with it. An
    /// attempt that ends meanwhile ends for the request behind that one.
    @Test(arguments: [true, false], [true, false])
    func aRequestStaysWithTheAttemptThatHasChallenged(opensOther: Bool, isAnswered: Bool) throws {
        var model = model { $0.limit = 2 }
        let requests = (0..<2).map { _ in request(&model) }
        for request in requests { _ = try model.submit(request) }
        try model.serveQueue()
        try model.challenge(1)
        if isAnswered { try model.endChallenge(1) }
        if opensOther { try model.open(2, capacity: nil) } else { try model.fail(2, .other) }
        #expect(Array(model.waiting.keys) == [requests[0].id])
        try model.open(1, capacity: nil)
        #expect(model.log.contains { $0.hasPrefix("assign \(requests[0].id.generation) to ") })
        #expect(model.waiting.isEmpty && model.attempts.isEmpty)
    }

    /// The program is being asked on behalf of one of two requests. The other one comes first, and gets the connection
    /// that becomes idle.
    @Test func aRequestForWhichTheProgramIsAskedIsNotSentAhead() throws {
        var model = model { $0.limit = 2 }
        var requests = (0..<4).map { _ in request(&model) }
        for index in requests.indices {
            requests[index].allowsPipelining = true
            requests[index].mayBeSentAhead = true
        }
        requests[3].goesFirst = true
        _ = try model.submit(requests[0])
        try model.serveQueue()
        try model.open(1, capacity: nil)
        try model.becomeIdle(model.actives[0], .none, seconds: 50)
        _ = try model.submit(requests[1])
        _ = try model.submit(requests[2])
        try model.serveQueue()
        try model.challenge(2)
        _ = try model.submit(requests[3])
        try model.serveQueue()
        try model.sendAhead(room: 3)
        #expect(model.waiting.count == 2)
        try model.becomeIdle(model.actives[0], .none, seconds: 50)
        #expect(Array(model.waiting.keys) == [requests[2].id])
        try model.endChallenge(2)
        try model.open(2, capacity: nil)
        #expect(model.waiting.isEmpty && model.attempts.isEmpty)
    }

    /// The answer is of no use to the request, and the next one would wait for it.
    @Test func anAttemptWhoseRequestGetsAnIdleConnectionIsCancelled() throws {
        var model = model { $0.limit = 2 }
        _ = try model.submit(request(&model))
        try model.serveQueue()
        try model.open(1, capacity: nil)
        try model.becomeIdle(model.actives[0], .none, seconds: 50)
        var fresh = request(&model)
        fresh.needsFreshConnection = true
        _ = try model.submit(fresh)
        try model.serveQueue()
        var first = request(&model)
        first.goesFirst = true
        _ = try model.submit(first)
        try model.challenge(2)
        try model.serveQueue()
        #expect(Array(model.waiting.keys) == [fresh.id])
        #expect(Array(model.attempts.keys) == [3] && model.queued.isEmpty)
    }

    @Test func anAttemptWhoseRequestIsRefusedIsCancelled() throws {
        var model = model {
            $0.limit = 2
            $0.startsWithHTTP2 = true
        }
        let refused = request(&model)
        _ = try model.submit(refused)
        try model.serveQueue()
        for _ in Pool.BackOff.pauses {
            try model.refuse()
            try model.endPause()
        }
        try model.challenge(1)
        try model.open(nil, capacity: 2, awaitsServer: true)
        _ = try model.goAway(model.multiplexed[0], unprocessed: 0)
        #expect(model.log == ["fail \(refused.id.generation) connectionRefused", "cancel #1"])
    }

    /// A connection that the server ends while nothing waits says nothing of how many requests it takes.
    @Test("requests left unprocessed have several connections made", arguments: [0, 1])
    func endedConnections(unprocessed: Int) throws {
        var model = model {
            $0.isSecure = true
            $0.limit = 4
        }
        for _ in 0..<(2 + unprocessed) { _ = try model.submit(request(&model)) }
        try model.serveQueue()
        try model.open(1, capacity: 10)
        _ = try model.goAway(model.multiplexed[0], unprocessed: unprocessed)
        for _ in 0..<6 { _ = try model.submit(request(&model)) }
        try model.serveQueue()
        #expect(model.attempts.count == (unprocessed == 0 ? 1 : 3))
    }

    // MARK: Random inputs

    /// `LOADINGKIT_POOL_INPUTS` sets how many inputs are tried.
    private static let inputs =
        ProcessInfo.processInfo.environment["LOADINGKIT_POOL_INPUTS"].flatMap(Int.init) ?? 60_000

    @Test("no request is lost, or waits while something is free", arguments: 0..<6 as Range<UInt64>)
    func randomInputs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var left = Self.inputs / 6
        while left > 0 {
            var run = RandomRun(&generator)
            let count = Int.random(in: 1...400, using: &generator)
            for _ in 0..<min(count, left) {
                let name = run.name(&generator)
                do {
                    try run.step(name, &generator)
                } catch {
                    Issue.record("seed \(seed): \(error), after \(run.history.suffix(12).joined(separator: "; "))")
                    return
                }
            }
            left -= count
            try run.finish()
        }
    }
}

/// A pool with random inputs.
struct RandomRun {
    typealias Pool = HTTPConnectionPool

    var model: PoolModel
    private var number: UInt64 = 0
    private(set) var history: [String] = []
    private let speaksHTTP2: Bool

    /// - Parameter limit: that of a host, whose pools carry no upgrades; nil for a pool of any kind.
    init(_ generator: inout SeededGenerator, limit: Int? = nil) {
        var configuration = Pool.Configuration()
        configuration.limit = limit ?? Int.random(in: 0...4, using: &generator)
        configuration.isSecure = Bool.random(using: &generator)
        configuration.allowsHTTP2 = Bool.random(using: &generator)
        configuration.startsWithHTTP2 = Int.random(in: 0..<4, using: &generator) == 0
        configuration.isForUpgrade = limit == nil && Int.random(in: 0..<4, using: &generator) == 0
        configuration.mayUpgradeStreams = configuration.isForUpgrade && Bool.random(using: &generator)
        speaksHTTP2 = Bool.random(using: &generator)
        model = PoolModel(configuration)
    }

    private static let one = Pool.UserCredential(user: "one", password: "a")
    private static let other = Pool.UserCredential(user: "other", password: "a")

    private static let names: [(name: String, weight: Int)] = [
        ("submit", 30), ("withdraw", 6), ("priority", 6), ("open", 20), ("fail", 4), ("challenge", 3),
        ("challengeEnd", 3), ("idle", 25),
        ("close", 5), ("lose", 3), ("streams", 25), ("goAway", 3), ("settings", 4), ("refuse", 1), ("refuseStream", 2),
        ("endPause", 3), ("answered", 2),
        ("requireHTTP1", 1), ("noUpgrade", 1), ("expire", 4), ("retireAll", 1), ("end", 1), ("serveQueue", 15),
        ("ahead", 4), ("networks", 2),
        ("mayChallenge", 1), ("unknown", 3), ("gone", 4),
    ]
    private static let weighted = names.flatMap { Array(repeating: $0.name, count: $0.weight) }
    /// With those that come from other pools of the host.
    private static let withOthers = weighted + Array(repeating: "share", count: 8) + ["makeRoom", "makeRoom"]

    /// - Parameter isAlone: whether there are no other pools: their inputs are then made up.
    func name(_ generator: inout SeededGenerator, isAlone: Bool = true) -> String {
        (isAlone ? Self.withOthers : Self.weighted).randomElement(using: &generator) ?? "submit"
    }

    private mutating func request(_ generator: inout SeededGenerator, _ id: Pool.RequestID? = nil) -> Pool.Request {
        number += 1
        let isFresh = Int.random(in: 0..<8, using: &generator) == 0
        let users: [Pool.RequestUser] = [.none, .none, .named(Self.one), .named(Self.other), .ownField]
        let pipelines = Int.random(in: 0..<3, using: &generator) == 0
        return Pool.Request(
            id: id ?? model.makeID(), number: number, priority: [0, 0.5, 1].randomElement(using: &generator) ?? 0,
            needsFreshConnection: isFresh, goesFirst: isFresh || Int.random(in: 0..<8, using: &generator) == 0,
            user: users.randomElement(using: &generator) ?? .none, allowsPipelining: pipelines,
            mayBeSentAhead: pipelines)
    }

    mutating func step(_ name: String, _ generator: inout SeededGenerator) throws {
        history.append("\(name): \(model.pool)")
        switch name {
        case "submit": try submit(&generator)
        case "withdraw":
            if let id = model.waiting.keys.min(by: { $0.generation < $1.generation }) { try model.withdraw(id) }
        case "priority":
            if let id = model.waiting.keys.max(by: { $0.generation < $1.generation }) {
                try model.changePriority(of: id, to: [0, 0.5, 1].randomElement(using: &generator) ?? 0)
            }
        case "open": try open(&generator)
        case "fail": try fail(&generator)
        case "challenge":
            if let id = model.attempts.keys.filter({ !model.held.contains($0) }).min() { try model.challenge(id) }
        case "challengeEnd": if let id = model.held.min() { try model.endChallenge(id) }
        case "idle": try becomeIdle(&generator)
        case "close": try close(&generator)
        case "lose": if let id = model.unsettled.randomElement(using: &generator) { try model.lose(id) }
        case "streams": try changeStreams(&generator)
        case "goAway": try goAway(&generator)
        case "settings": try changeStreams(&generator, evenIfAwaited: true)
        case "refuse": try model.refuse()
        case "refuseStream": try model.refuseStream()
        case "endPause": try model.endPause()
        case "answered": try model.run { $0.connectionDidAnswer(now: $1) }
        case "requireHTTP1": try model.run { $0.requireHTTP1(now: $1) }
        case "noUpgrade": try model.run { $0.streamsCannotUpgrade(now: $1) }
        case "expire":
            model.now = model.now.advanced(bySeconds: Double.random(in: 0...1200, using: &generator))
            try model.run { $0.closeExpired(now: $1) }
        case "retireAll": try model.retireAll()
        case "end": if Int.random(in: 0..<5, using: &generator) == 0 { try model.run { $0.sessionDidEnd(now: $1) } }
        case "serveQueue": if model.willServeQueue { try model.serveQueue() }
        case "ahead": if model.willSendAhead { try model.sendAhead(room: Int.random(in: 0...3, using: &generator)) }
        case "gone": try requestIsGone(&generator)
        case "networks":
            let all = model.actives + model.idles + model.multiplexed
            try model.changeNetworks(stale: all.filter { _ in Bool.random(using: &generator) })
        case "mayChallenge": model.pool.attemptMayChallenge()
        case "share":
            let limit = [0, 1, 2, Int.max].randomElement(using: &generator) ?? 0
            try model.useRoom(
                HostConnections.Share(limit: limit, givesWay: Int.random(in: 0..<4, using: &generator) == 0))
        case "makeRoom": try model.makeRoom()
        case _: try unknown()
        }
    }

    /// Identifiers of what is gone.
    private mutating func unknown() throws {
        let gone = model.makeID()
        try model.run { $0.withdraw(gone, now: $1) }
        try model.run { pool, _ in pool.changePriority(of: gone, to: 1) }
        try model.run { $0.connectionDidClose(gone, now: $1) }
        try model.run { $0.connectionDidBecomeIdle(gone, .none, until: $1, now: $1) }
        try model.run { $0.connectionWillClose(gone, unprocessed: 0, now: $1) }
        try model.run { $0.connectionDidFail(gone, now: $1) }
        try model.run { $0.attemptDidFail(-1, .other, now: $1) }
        try model.run { pool, _ in pool.attemptDidChallenge(-1, for: gone) }
        let slots = Pool.StreamSlots(available: 3, open: 0)
        try model.run { $0.streamSlotsDidChange(of: gone, to: slots, until: $1, now: $1) }
        if let idle = model.idles.first {
            try model.run { $0.connectionDidBecomeIdle(idle, .none, until: $1.advanced(bySeconds: 9), now: $1) }
        }
    }

    private mutating func submit(_ generator: inout SeededGenerator) throws {
        guard let (request, connection) = try model.submit(request(&generator)) else { return }
        if Int.random(in: 0..<5, using: &generator) == 0 { try model.wasClosed(connection, before: request) }
    }

    private mutating func open(_ generator: inout SeededGenerator) throws {
        guard let (id, offersHTTP2) = model.attempts.min(by: { $0.key < $1.key }) else { return }
        let isOdd = Int.random(in: 0..<10, using: &generator) == 0
        if offersHTTP2, speaksHTTP2 != isOdd {
            let awaitsServer = model.pool.configuration.isForUpgrade
            try model.open(
                id, capacity: Int.random(in: 0...3, using: &generator), awaitsServer: awaitsServer,
                retiresAfter: Double.random(in: 0...5000, using: &generator))
        } else {
            try model.open(id, capacity: nil, retiresAfter: Double.random(in: 0...5000, using: &generator))
        }
    }

    private mutating func fail(_ generator: inout SeededGenerator) throws {
        guard let id = model.attempts.keys.min() else { return }
        let kinds: [Pool.AttemptFailure] = [.timedOut, .speaksNoneOffered, .unreachable, .other]
        try model.fail(id, kinds.randomElement(using: &generator) ?? .other)
    }

    private mutating func becomeIdle(_ generator: inout SeededGenerator) throws {
        guard let id = model.actives.randomElement(using: &generator) else { return }
        let bindings: [Pool.Binding] = [
            .none, .none, .user(Self.one), .user(Self.other), .namedUser(Self.one), .spent,
        ]
        let seconds = Double.random(in: 0...55, using: &generator).rounded(.down)
        try model.becomeIdle(id, bindings.randomElement(using: &generator) ?? .none, seconds: seconds)
    }

    /// The request that a connection was assigned to is found to be over.
    private mutating func requestIsGone(_ generator: inout SeededGenerator) throws {
        guard let id = model.actives.randomElement(using: &generator) else { return }
        try model.requestIsGone(id, [.fresh, .atOnce, .fromIdle].randomElement(using: &generator) ?? .atOnce)
    }

    private mutating func close(_ generator: inout SeededGenerator) throws {
        let all = model.actives + model.idles + model.multiplexed
        if let id = all.randomElement(using: &generator) { try model.close(id) }
    }

    private mutating func changeStreams(_ generator: inout SeededGenerator, evenIfAwaited: Bool = false) throws {
        guard let id = model.multiplexed.randomElement(using: &generator) else { return }
        if case .http2(_, _, true)? = model.connections[id], !evenIfAwaited { return }
        try model.change(
            id, ending: Int.random(in: 0...3, using: &generator), capacity: Int.random(in: 0...4, using: &generator))
    }

    private mutating func goAway(_ generator: inout SeededGenerator) throws {
        guard let id = model.multiplexed.randomElement(using: &generator) else { return }
        for unprocessed in try model.goAway(id, unprocessed: Int.random(in: 0...3, using: &generator)) {
            _ = try model.submit(request(&generator, unprocessed))
        }
    }

    /// Everything that is awaited happens: then no request waits.
    mutating func finish() throws {
        try model.useRoom(HostConnections.Share())
        for _ in 0..<10_000 {
            if isDone { return }
            try proceed()
        }
        throw PoolModel.Flaw(description: "waits for ever: \(model.pool)")
    }

    var isDone: Bool { model.waiting.isEmpty && model.attempts.isEmpty }

    /// Some of what is awaited happens.
    mutating func proceed() throws {
        if model.willServeQueue { try model.serveQueue() }
        if model.isPausing { try model.endPause() }
        if let id = model.held.min() { try model.endChallenge(id) }
        if let id = model.attempts.keys.min() {
            try model.open(id, capacity: model.attempts[id] == true && speaksHTTP2 ? 2 : nil)
        }
        if let id = model.actives.first { try model.becomeIdle(id, .none, seconds: 50) }
        for id in model.multiplexed { try model.change(id, ending: 2, capacity: 3) }
    }
}
