import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// The pools of one host, which have one limit together.
@Suite struct HostConnectionsTests {
    typealias Use = HostConnections.Use
    typealias Share = HostConnections.Share
    typealias Pool = HTTPConnectionPool

    /// Their identifiers are those of pools.
    private let objects = (0..<4).map { _ in NSObject() }
    private var pools: [HostConnections.PoolID] { objects.map { ObjectIdentifier($0) } }

    // MARK: Shares

    @Test func aPoolMayHaveWhatTheOthersLeave() {
        var host = HostConnections(limit: 3)
        #expect(host.share(of: pools[0]) == Share(limit: 3))
        let changes = [2, 2].map { host.update(pools[0], Use(count: $0)) }
        #expect(changes == [true, false])
        #expect(host.share(of: pools[0]) == Share(limit: 3))
        #expect(host.share(of: pools[1]) == Share(limit: 1))
        host.update(pools[0], Use())
        #expect(host.share(of: pools[1]) == Share(limit: 3))
        #expect(host.description == "0 of 3, waiting pools 0")
    }

    /// Else those that begin to wait later would go first.
    @Test func aPoolTakesNoRoomBeforeOthersThatWait() {
        var host = HostConnections(limit: 3)
        host.update(pools[0], Use(count: 2, waits: true))
        #expect(host.share(of: pools[0]) == Share(limit: 3))
        #expect(host.share(of: pools[1]) == Share(limit: 0))
        host.update(pools[1], Use(count: 1))
        #expect(host.share(of: pools[1]) == Share(limit: 1), "it may replace its connection")
    }

    @Test func aPoolGivesWayToOneThatHasFewer() {
        var host = HostConnections(limit: 2)
        host.update(pools[0], Use(count: 2))
        host.update(pools[1], Use(waits: true))
        #expect(host.share(of: pools[0]) == Share(limit: 0, givesWay: true))
        #expect(host.share(of: pools[1]) == Share(limit: 0))
        host.update(pools[2], Use(waits: true))
        #expect(host.share(of: pools[1]) == Share(limit: 0, givesWay: true))
        host.update(pools[2], Use())
        host.update(pools[0], Use(count: 1))
        #expect(host.share(of: pools[0]) == Share(limit: 1), "there is room for the other pool")
    }

    /// Connections would otherwise be closed and opened again and again.
    @Test func poolsWithTheSameNumberKeepTheirConnections() {
        var host = HostConnections(limit: 4)
        host.update(pools[0], Use(count: 3, waits: true))
        host.update(pools[1], Use(count: 1, waits: true))
        #expect(host.share(of: pools[0]) == Share(limit: 0, givesWay: true))
        host.update(pools[0], Use(count: 2, waits: true))
        host.update(pools[1], Use(count: 2, waits: true))
        #expect(host.share(of: pools[0]) == Share(limit: 2) && host.share(of: pools[1]) == Share(limit: 2))
    }

    // MARK: Turns

    @Test func poolsHaveTurnsInTheOrderInWhichTheyBeganToWait() {
        var host = HostConnections(limit: 2)
        host.update(pools[0], Use(count: 2))
        for pool in [pools[2], pools[1], pools[3]] { host.update(pool, Use(waits: true)) }
        #expect(!host.hasStep && host.nextStep() == nil)
        host.update(pools[0], Use(count: 1))
        #expect(host.hasStep && host.nextStep() == .useRoom(pools[2]))
        #expect(host.share(of: pools[2]) == Share(limit: 1))
        // It needs another one, for which it waits behind the others.
        host.update(pools[2], Use(count: 1, waits: true))
        #expect(host.nextStep() == nil)
        host.update(pools[0], Use())
        #expect(host.nextStep() == .useRoom(pools[1]))
        host.update(pools[1], Use(count: 1))
        #expect(host.description == "2 of 2, waiting pools 2")
        host.update(pools[1], Use())
        #expect(host.nextStep() == .useRoom(pools[3]))
        host.update(pools[3], Use(count: 1))
        #expect(host.nextStep() == nil)
        host.update(pools[3], Use())
        #expect(host.nextStep() == .useRoom(pools[2]))
    }

    @Test func anIdleConnectionIsClosedForAPoolThatWaits() {
        var host = HostConnections(limit: 2)
        host.update(pools[0], Use(count: 1))
        host.update(pools[1], Use(count: 1, hasIdle: true))
        #expect(!host.hasStep && host.nextStep() == nil, "no pool waits")
        host.update(pools[2], Use(waits: true))
        #expect(host.hasStep && host.nextStep() == .makeRoom(pools[1]))
        host.update(pools[1], Use())
        #expect(host.nextStep() == .useRoom(pools[2]))
        host.update(pools[2], Use(count: 1))
        #expect(host.nextStep() == nil)
    }

    /// It would otherwise be offered the same turn for ever.
    @Test func aPoolThatDoesNotUseItsTurnWaitsNoLonger() {
        var host = HostConnections(limit: 1)
        for pool in [pools[0], pools[1]] { host.update(pool, Use(waits: true)) }
        #expect(host.nextStep() == .useRoom(pools[0]))
        #expect(host.nextStep() == .useRoom(pools[1]))
        host.update(pools[1], Use(count: 1))
        host.update(pools[1], Use())
        #expect(host.nextStep() == nil)
        host.update(pools[0], Use(waits: true))
        #expect(host.nextStep() == .useRoom(pools[0]))
    }

    @Test("a pool that has stopped waiting has no turn", arguments: [1, 100])
    func stopped(times: Int) {
        var host = HostConnections(limit: 1)
        host.update(pools[0], Use(count: 1))
        for _ in 0..<times {
            host.update(pools[1], Use(waits: true))
            host.update(pools[1], Use())
        }
        host.update(pools[2], Use(waits: true))
        host.update(pools[0], Use())
        #expect(host.nextStep() == .useRoom(pools[2]))
    }

    // MARK: Pools

    private func model(limit: Int, isSecure: Bool = false) -> PoolModel {
        var configuration = Pool.Configuration()
        configuration.limit = limit
        configuration.isSecure = isSecure
        return PoolModel(configuration)
    }

    private func submit(_ model: inout PoolModel) throws {
        let id = model.makeID()
        _ = try model.submit(Pool.Request(id: id, number: UInt64(id.generation)))
        if model.willServeQueue { try model.serveQueue() }
    }

    @Test func aPoolThatGivesWayClosesWhatBecomesFree() throws {
        var model = model(limit: 2)
        for _ in 0..<3 { try submit(&model) }
        for attempt in [1, 2] { try model.open(attempt, capacity: nil) }
        #expect(model.pool.use(model.now) == Use(count: 2))
        model.pool.share = Share(limit: 0, givesWay: true)
        let free = try #require(model.actives.first)
        try model.becomeIdle(free, .none, seconds: 50)
        #expect(model.log == ["close \(free.generation)"])
        #expect(model.pool.use(model.now) == Use(count: 1, waits: true))
        #expect(model.queued.count == 1)
        try model.useRoom(Share(limit: 2))
        #expect(model.attempts.count == 1 && model.queued.isEmpty)
        #expect(model.pool.use(model.now) == Use(count: 2))
    }

    /// The streams may be open for a long time, and others may begin in the meantime.
    @Test func anHTTP2ConnectionGivesWayAfterTheFirstOfItsStreams() throws {
        var model = model(limit: 1, isSecure: true)
        for _ in 0..<3 { try submit(&model) }
        try model.open(1, capacity: 2)
        let connection = try #require(model.multiplexed.first)
        let name = connection.generation
        #expect(model.queued.count == 1)
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.change(connection, ending: 0, capacity: 2)
        #expect(model.log.isEmpty, "no stream has ended")
        try model.change(connection, ending: 1, capacity: 2)
        #expect(model.log == ["retire \(name)"])
        #expect(model.leaving[connection]?.count == 1 && model.queued.count == 1)
        #expect(model.pool.use(model.now) == Use(waits: true), "it no longer counts")
        try model.useRoom(Share(limit: 1))
        #expect(model.attempts.count == 1 && model.queued.isEmpty)
        try model.open(2, capacity: 2)
        try model.close(connection)
        #expect(model.pool.use(model.now) == Use(count: 1) && model.waiting.isEmpty)
    }

    @Test func anHTTP2ConnectionGivesWayAfterItsLastStream() throws {
        var model = model(limit: 1, isSecure: true)
        try submit(&model)
        try model.open(1, capacity: 2)
        let connection = try #require(model.multiplexed.first)
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.change(connection, ending: 1, capacity: 2)
        #expect(model.log == ["retire \(connection.generation)", "release"])
        #expect(model.pool.use(model.now) == Use())
    }

    /// Where the server's limit of streams makes both pools open several connections.
    @Test func anHTTP2ConnectionStaysWhereItsPoolHasNoMoreThanTheOthers() throws {
        var model = model(limit: 2, isSecure: true)
        for _ in 0..<2 { try submit(&model) }
        try model.open(1, capacity: 1)
        try model.open(2, capacity: 1)
        var host = HostConnections(limit: 4)
        host.update(pools[0], model.pool.use(model.now))
        host.update(pools[1], Use(count: 2, waits: true))
        model.pool.share = host.share(of: pools[0])
        let connection = try #require(model.multiplexed.first)
        try model.change(connection, ending: 1, capacity: 1)
        #expect(model.log == ["keep \(connection.generation)"])
    }

    /// The requests' timeouts go on: they would otherwise never end where a host does not answer.
    @Test func anAttemptThatTimesOutKeepsItsPlace() throws {
        var model = model(limit: 2)
        try submit(&model)
        for attempt in 1...3 {
            model.pool.share = Share(limit: 0, givesWay: true)
            try model.fail(attempt, .timedOut)
            #expect(model.log == ["start #\(attempt + 1)"])
            #expect(model.attempts.count == 1 && model.queued.isEmpty)
            #expect(model.pool.use(model.now) == Use(count: 1))
        }
    }

    /// A pool that gets more and more requests would otherwise keep the place for ever.
    @Test func theAttemptAfterTheEndOfARequestLeavesItsPlace() throws {
        var model = model(limit: 1, isSecure: true)
        for _ in 0..<2 { try submit(&model) }
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.fail(1, .timedOut)
        let first = try #require(model.pool.firstWaiting)
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.withdraw(first)
        #expect(model.attempts.count == 1 && model.queued.isEmpty)
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.fail(2, .timedOut)
        #expect(model.attempts.isEmpty && model.queued.count == 1)
        #expect(model.pool.use(model.now) == Use(waits: true))
        try model.useRoom(Share(limit: 1))
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.fail(3, .timedOut)
        #expect(model.attempts.count == 1 && model.queued.isEmpty)
    }

    @Test func anAttemptThatFailsLeavesItsPlace() throws {
        var model = model(limit: 2)
        for _ in 0..<3 { try submit(&model) }
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.fail(1, .other)
        #expect(model.log == ["fail 1 attemptFailed"])
        #expect(model.attempts.count == 1 && model.queued.count == 1)
        #expect(model.pool.use(model.now) == Use(count: 1, waits: true))
    }

    /// It would wait for as long as newer requests take each connection that becomes free.
    @Test func aRequestThatNeedsANewConnectionGetsThePlaceOfAFreeOne() throws {
        var model = model(limit: 2)
        for _ in 0..<2 { try submit(&model) }
        for attempt in [1, 2] { try model.open(attempt, capacity: nil) }
        let (lost, free) = (model.actives[0], model.actives[1])
        // Another pool has taken the place of the connection that was lost.
        model.pool.share = Share(limit: 1)
        try model.close(lost)
        let id = model.makeID()
        _ = try model.submit(Pool.Request(id: id, number: 1, needsFreshConnection: true, goesFirst: true))
        try submit(&model)
        #expect(model.attempts.isEmpty && model.queued.count == 2)
        try model.becomeIdle(free, .none, seconds: 50)
        #expect(model.log == ["close \(free.generation)", "start #3", "\(id.generation) is not queued"])
        try model.open(3, capacity: nil)
        let fresh = try #require(model.actives.first)
        #expect(model.log == ["assign \(id.generation) to \(fresh.generation) fresh"])
        try model.becomeIdle(fresh, .none, seconds: 50)
        #expect(model.waiting.isEmpty && model.actives == [fresh], "the newer one is next")
        #expect(model.pool.use(model.now) == Use(count: 1))
    }

    /// Its timeouts do not run while it waits.
    @Test func aRequestIsQueuedAgainWhenTheConnectionOfItsAttemptIsFull() throws {
        var model = model(limit: 2, isSecure: true)
        for _ in 0..<2 { try submit(&model) }
        #expect(model.attempts.count == 1 && model.queued.isEmpty)
        model.pool.share = Share(limit: 0, givesWay: true)
        try model.open(1, capacity: 1)
        #expect(model.attempts.isEmpty && model.queued.count == 1)
        #expect(model.pool.use(model.now) == Use(count: 1, waits: true))
        try model.useRoom(Share(limit: 2))
        #expect(model.attempts.count == 1 && model.queued.isEmpty)
    }

    /// A request that is submitted while the pool is at its limit has not tried to get a connection yet.
    @Test func aPoolWaitsOnceItHasTriedToOpenAConnection() throws {
        var model = model(limit: 2)
        model.pool.share = Share(limit: 0)
        let id = model.makeID()
        _ = try model.submit(Pool.Request(id: id, number: UInt64(id.generation)))
        #expect(!model.pool.use(model.now).waits)
        try model.serveQueue()
        #expect(model.pool.use(model.now).waits && model.queued == [id])
        try model.withdraw(id)
        #expect(model.pool.use(model.now) == Use())
    }

    // MARK: Random inputs

    @Test("pools stay within the limit, and none waits for ever", arguments: 0..<6 as Range<UInt64>)
    func randomInputs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var run = HostRun(&generator)
            do {
                for _ in 0..<Int.random(in: 1...400, using: &generator) { try run.step(&generator) }
                try run.finish()
            } catch {
                Issue.record("seed \(seed): \(error), after \(run.history.suffix(12).joined(separator: "; "))")
                return
            }
        }
    }
}

/// Several pools of a host with random inputs.
private struct HostRun {
    private let objects: [NSObject]
    private var runs: [RandomRun] = []
    private var host: HostConnections
    private(set) var history: [String] = []

    init(_ generator: inout SeededGenerator) {
        let limit = Int.random(in: 1...4, using: &generator)
        objects = (0..<Int.random(in: 1...6, using: &generator)).map { _ in NSObject() }
        host = HostConnections(limit: limit)
        for _ in objects { runs.append(RandomRun(&generator, limit: limit)) }
    }

    mutating func step(_ generator: inout SeededGenerator) throws {
        let index = Int.random(in: runs.indices, using: &generator)
        let name = runs[index].name(&generator, isAlone: false)
        history.append("\(index) \(name): \(host)")
        try give(index) { try $0.step(name, &generator) }
        // They are taken after other inputs, too.
        if Bool.random(using: &generator) { try takeSteps() }
    }

    private mutating func give(_ index: Int, _ input: (inout RandomRun) throws -> Void) throws {
        let id = ObjectIdentifier(objects[index])
        runs[index].model.pool.share = host.share(of: id)
        try input(&runs[index])
        host.update(id, runs[index].model.pool.use(runs[index].model.now))
        let count = runs.reduce(0) { $0 + $1.model.pool.connectionCount($1.model.now) }
        guard count <= host.limit else { throw PoolModel.Flaw("beyond the host's limit", host) }
    }

    private mutating func takeSteps() throws {
        while let step = host.nextStep() {
            switch step {
            case .makeRoom(let pool): try give(index(of: pool)) { try $0.model.makeRoom() }
            case .useRoom(let pool):
                try give(index(of: pool)) { try $0.model.run { $0.useRoom(now: $1) } }
            }
        }
    }

    private func index(of pool: HostConnections.PoolID) -> Int {
        objects.firstIndex { ObjectIdentifier($0) == pool } ?? 0
    }

    /// Everything that is awaited happens: then no request of any pool waits.
    mutating func finish() throws {
        for _ in 0..<10_000 {
            try takeSteps()
            if runs.allSatisfy(\.isDone) { return }
            for index in runs.indices { try give(index) { try $0.proceed() } }
        }
        throw PoolModel.Flaw("waits for ever", "\(host) \(runs.map { "\($0.model.pool)" })")
    }
}
