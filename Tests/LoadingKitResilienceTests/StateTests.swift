import Foundation
import LoadingKit
import Testing

@testable import LoadingKitResilience

@Suite struct TokenBucketTests {
    @Test func aBurstGoesAtOnceAndThenTheRate() {
        var bucket = TokenBucket(rate: 2, burst: 3, at: 0)
        let times: [(TimeInterval, Bool)] = [
            (0, true), (0, true), (0, true), (0, false), (0.4, false), (0.5, true), (0.5, false), (1, true),
            (100, true),
            (100, true), (100, true), (100, false), (50, false),
        ]
        for (time, goes) in times {
            let took = bucket.take(at: time)
            #expect(took == goes, "at \(time)")
        }
    }

    @Test func aPauseGivesNoTokens() {
        var bucket = TokenBucket(rate: 1, burst: 5, at: 0)
        bucket.pause(until: 10)
        bucket.pause(until: 3)
        #expect(bucket.wait(for: 1, at: 4) == 6)
        let took = [bucket.take(at: 9.9), bucket.take(at: 10)]
        #expect(took == [false, true])
    }

    @Test(arguments: [Double.nan, -1, 0, .infinity, 1e300])
    func strangeRates(_ number: Double) {
        var bucket = TokenBucket(rate: number, burst: number, at: 0)
        #expect(bucket.wait(for: 1, at: 0) == 0)
        _ = bucket.take(at: 0)
        #expect(bucket.wait(for: 2, at: 0) >= 0)
    }

    @Test func withoutARateTheWaitIsInfinite() {
        var bucket = TokenBucket(rate: 0, burst: 1, at: 0)
        _ = bucket.take(at: 0)
        #expect(bucket.wait(for: 1, at: 0) == .infinity)
    }
}

@Suite struct RateLimitQueueTests {
    private func queue(waiting: Int, rate: Double = 1) -> RateLimitQueue {
        var queue = RateLimitQueue(TokenBucket(rate: rate, burst: 1, at: 0))
        for id in 0...waiting { _ = queue.arrive(UInt64(id), at: 0, maximumWait: 1_000, maximumCount: 1_000) }
        return queue
    }

    @Test func theOrderIsThatOfArrival() {
        var queue = queue(waiting: 3)
        #expect(queue.count == 3)
        #expect(queue.nextEvent(from: 0) == 1)
        let early = queue.advance(to: 0.9)
        #expect(early == .init())
        for id in 1...3 as ClosedRange<UInt64> {
            let departures = queue.advance(to: TimeInterval(id))
            #expect(departures == .init(released: [id]))
        }
        #expect(queue.nextEvent(from: 3) == nil)
    }

    @Test func oneThatLeavesLetsOthersMoveUp() {
        var queue = queue(waiting: 3)
        let left = [queue.leave(1), queue.leave(1), queue.leave(9)]
        #expect(left == [true, false, false])
        let departures = queue.advance(to: 1)
        #expect(departures.released == [2])
    }

    @Test func aWaitThatWouldBeTooLongIsRefused() {
        var queue = RateLimitQueue(TokenBucket(rate: 1, burst: 1, at: 0))
        let arrivals = (1...4).map { queue.arrive($0, at: 0, maximumWait: 2, maximumCount: 10) }
        #expect(arrivals == [.goes, .waits, .waits, .refused(3)])
        let full = queue.arrive(5, at: 0, maximumWait: 100, maximumCount: 2)
        #expect(full == .refused(3))
    }

    @Test func thoseWhoseTimeIsOverAfterAPauseAreLetGoOf() {
        var queue = RateLimitQueue(TokenBucket(rate: 1, burst: 1, at: 0))
        for id in 0...2 as ClosedRange<UInt64> {
            _ = queue.arrive(id, at: 0, maximumWait: 5, maximumCount: 10)
        }
        queue.pause(until: 60)
        #expect(queue.nextEvent(from: 0) == 5)
        let departures = queue.advance(to: 5)
        #expect(departures == .init(expired: [1, 2]))
    }

    @Test func tenThousandLeaveInOrder() {
        var queue = RateLimitQueue(TokenBucket(rate: 1, burst: 1, at: 0))
        for id in 0...10_000 as ClosedRange<UInt64> {
            _ = queue.arrive(id, at: 0, maximumWait: 1e6, maximumCount: 10_000)
        }
        var released: [UInt64] = []
        for second in 1...10_000 { released += queue.advance(to: TimeInterval(second)).released }
        #expect(released == Array(1...10_000))
    }
}

@Suite struct CircuitBreakerStateTests {
    private typealias State = CircuitBreakerState

    private func call(_ state: inout State, _ outcome: State.Outcome, at now: TimeInterval) -> State.Admission {
        let admission = state.admit(at: now)
        if case .goes(let ticket) = admission { state.record(outcome, ticket, at: now) }
        return admission
    }

    private func open(_ policy: State.Policy) -> State {
        var state = State(policy)
        for _ in 0..<policy.minimumCalls { _ = call(&state, .failure, at: 0) }
        return state
    }

    @Test func itOpensAtTheRatioOnceThereAreEnoughCalls() {
        var state = State(.init(failureRatio: 0.5, minimumCalls: 4, openTime: 10))
        for outcome in [State.Outcome.success, .failure, .failure, .unknown] { _ = call(&state, outcome, at: 0) }
        #expect(state.phase == .closed)
        _ = call(&state, .success, at: 0)
        #expect(state.phase == .closed)
        _ = call(&state, .failure, at: 0)
        #expect(state.phase == .open(until: 10))
        let refused = state.admit(at: 4)
        #expect(refused == .refused(6))
    }

    @Test func whatIsOlderThanTheWindowDoesNotCount() {
        var state = State(.init(minimumCalls: 4, window: 10))
        for time in [0.0, 1, 2, 20] { _ = call(&state, .failure, at: time) }
        #expect(state.phase == .closed)
        for time in [21.0, 22, 23] { _ = call(&state, .failure, at: time) }
        #expect(state.phase == .open(until: 33))
    }

    @Test func aProbeThatSucceedsCloses() {
        var state = open(.init(minimumCalls: 2, openTime: 10, probes: 2))
        let first = state.admit(at: 10)
        let second = state.admit(at: 10)
        let third = state.admit(at: 10)
        #expect(third == .refused(0))
        guard case .goes(let one) = first, case .goes(let two) = second else { return #expect(Bool(false)) }
        state.record(.success, one, at: 11)
        #expect(state.phase == .halfOpen(running: 1, succeeded: 1))
        state.record(.success, two, at: 11)
        #expect(state.phase == .closed)
        _ = call(&state, .failure, at: 11)
        #expect(state.phase == .closed)
    }

    @Test func aProbeThatFailsOpensAgain() {
        var state = open(.init(minimumCalls: 2, openTime: 10))
        _ = call(&state, .failure, at: 10)
        #expect(state.phase == .open(until: 20))
    }

    @Test func aProbeThatIsCancelledLeavesItsPlaceToAnother() {
        var state = open(.init(minimumCalls: 2, openTime: 10))
        _ = call(&state, .unknown, at: 10)
        #expect(state.phase == .halfOpen(running: 0, succeeded: 0))
        _ = call(&state, .success, at: 10)
        #expect(state.phase == .closed)
    }

    /// Its task may be suspended, or wait for an answer to a challenge.
    @Test(arguments: [(10.0, 10.0), (0, 1)])
    func aProbeWithoutAnOutcomeKeepsOthersOutForALimitedTime(openTime: TimeInterval, wait: TimeInterval) {
        var state = open(.init(minimumCalls: 2, openTime: openTime))
        let admissions = [openTime, openTime + wait / 2, openTime + wait, openTime + wait].map { state.admit(at: $0) }
        guard case .goes(let first) = admissions[0], case .goes(let second) = admissions[2] else {
            return #expect(Bool(false))
        }
        #expect([admissions[1], admissions[3]] == [.refused(0), .refused(0)])
        state.record(.success, second, at: openTime + wait)
        #expect(state.phase == .closed)
        state.record(.failure, first, at: openTime + wait)
        #expect(state.phase == .closed)
    }

    @Test func lateOutcomesOfAnEarlierPhaseDoNotCount() {
        var state = State(.init(minimumCalls: 2, openTime: 10))
        let early = state.admit(at: 0)
        for _ in 0..<2 { _ = call(&state, .failure, at: 0) }
        guard case .goes(let ticket) = early else { return #expect(Bool(false)) }
        state.record(.success, ticket, at: 5)
        #expect(state.phase == .open(until: 10))
        _ = state.admit(at: 10)
        state.record(.failure, ticket, at: 10)
        #expect(state.phase == .halfOpen(running: 1, succeeded: 0))
    }
}

@Suite struct OriginTableTests {
    /// Rules in the order of their origins' arrival, and the origins that a table with a limit of four then has.
    @Test(
        arguments: [
            ([.first, .first, .first, .first, .first, .first], [2, 3, 4, 5]),
            ([.last, .last, .last, .last, .last, .last], [2, 3, 4, 5]),
            ([.last, .never, .first, .last, .last, .last], [1, 3, 4, 5]),
            ([.never, .never, .never, .last, .never, .never], [0, 1, 2, 4, 5]),
            ([.never, .never, .never, .never, .never, .never], [0, 1, 2, 3, 4, 5]),
        ] as [([OriginRemoval], [Int])])
    func removals(_ rules: [OriginRemoval], _ expected: [Int]) {
        var table = OriginTable<OriginRemoval>(limit: 4) { rule, _ in rule }
        let origins = rules.indices.compactMap { RequestOrigin("http://h\($0).example") }
        for (origin, rule) in zip(origins, rules) { table.with(origin, or: { rule }) { _ in } }
        let kept = origins.indices.filter { table[origins[$0]] != nil }
        #expect(kept == expected)
    }

    /// More than the needed places are made only of values that nobody misses.
    @Test func noMoreOfTheLastAreRemovedThanNeeded() {
        var table = OriginTable<OriginRemoval>(limit: 16) { rule, _ in rule }
        let origins = (0...16).compactMap { RequestOrigin("http://h\($0).example") }
        for (index, origin) in origins.enumerated() { table.with(origin, or: { index == 5 ? .first : .last }) { _ in } }
        #expect(origins.indices.filter { table[origins[$0]] == nil } == [5])
    }
}

@Suite struct LatencyWindowTests {
    @Test(arguments: [(0.0, 1.0), (0.5, 50), (0.95, 95), (0.951, 96), (1, 100), (.nan, 1), (7, 100)])
    func quantiles(_ part: Double, _ latency: TimeInterval) {
        var window = LatencyWindow(size: 100)
        for number in (1...300).reversed() { window.record(TimeInterval(number)) }
        #expect(window.count == 100)
        #expect(window.quantile(part) == latency)
    }

    @Test func anEmptyOneHasNone() { #expect(LatencyWindow().quantile(0.5) == nil) }
}

@Suite struct FlightBufferTests {
    private func data(_ byte: UInt8, _ count: Int = 20 << 10) -> Data { Data(repeating: byte, count: count) }

    @Test func eachCallerGetsEveryPieceAtItsOwnPace() {
        var buffer = FlightBuffer(limit: 50 << 10)
        buffer.join(1)
        buffer.join(2)
        buffer.append(data(1))
        buffer.append(data(2))
        let first = [buffer.next(1), buffer.next(1), buffer.next(1)]
        #expect(first == [.piece(data(1)), .piece(data(2)), .none])
        #expect(buffer.hasRoom && buffer.isWhole)
        buffer.append(data(3))
        #expect(!buffer.hasRoom)
        let second = [buffer.next(2), buffer.next(2)]
        #expect(second == [.piece(data(1)), .piece(data(2))])
        #expect(buffer.count == 20 << 10 && !buffer.isWhole)
    }

    @Test func oneThatComesLaterGetsAllUntilAPieceIsGone() {
        var buffer = FlightBuffer(limit: 1 << 20)
        buffer.join(1)
        buffer.append(data(1))
        buffer.join(2)
        _ = buffer.next(1)
        let second = buffer.next(2)
        #expect(second == .piece(data(1)))
        buffer.join(3)
        let third = buffer.next(3)
        #expect(third == .gone)
    }

    @Test func whatALeaverHasNotTakenGoes() {
        var buffer = FlightBuffer(limit: 1)
        buffer.join(1)
        buffer.join(2)
        buffer.append(data(1))
        _ = buffer.next(1)
        buffer.leave(2)
        #expect(buffer.count == 0 && buffer.callers == 1)
    }

    @Test func theSlowestAreDroppedOnlyWhereAnotherHasTakenAll() {
        var buffer = FlightBuffer(limit: 1)
        for id in 1...3 as ClosedRange<UInt64> { buffer.join(id) }
        buffer.append(data(1))
        buffer.append(data(2))
        _ = buffer.next(1)
        let early = buffer.dropSlowest()
        #expect(early.isEmpty)
        _ = buffer.next(1)
        let dropped = buffer.dropSlowest()
        #expect(dropped == [2, 3])
        #expect(buffer.count == 0)
    }

    @Test func smallPiecesAreJoined() {
        var buffer = FlightBuffer(limit: 1 << 20)
        buffer.join(1)
        for _ in 0..<1_000 { buffer.append(data(1, 1)) }
        let next = [buffer.next(1), buffer.next(1)]
        #expect(next == [.piece(data(1, 1_000)), .none])
    }

    private func takeAll(_ id: UInt64, _ buffer: inout FlightBuffer) -> [Data] {
        var pieces: [Data] = []
        while case .piece(let piece) = buffer.next(id) { pieces.append(piece) }
        return pieces
    }

    /// A server may send a byte at a time, while one caller takes nothing, and another one is a piece behind the first.
    @Test func smallPiecesThatOthersHaveTakenAreJoined() {
        var buffer = FlightBuffer(limit: 1 << 20)
        for id in 1...3 as ClosedRange<UInt64> { buffer.join(id) }
        let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        var (fast, behind) = (Data(), Data())
        for byte in body {
            if case .piece(let piece) = buffer.next(2) { behind += piece }
            buffer.append(Data([byte]))
            if case .piece(let piece) = buffer.next(1) { fast += piece }
        }
        behind.append(contentsOf: takeAll(2, &buffer).joined())
        #expect(buffer.count == body.count && buffer.isWhole)
        let slow = takeAll(3, &buffer)
        #expect(fast == body && behind == body && Data(slow.joined()) == body)
        #expect(slow.count <= 14)
        #expect(buffer.count == 0 && !buffer.isWhole)
    }
}

/// The load of a leader that has left may continue for a moment after the next leader's has begun.
@Suite struct FlightStateTests {
    /// A state whose changes wake those who wait.
    private struct Driver {
        var state = FlightState(bufferLimit: 1)

        /// Returns whether a load that waited for room was woken.
        @discardableResult
        mutating func change(_ body: (inout FlightState) -> Void) -> Bool {
            body(&state)
            defer { state.wakes = FlightState.Wakes() }
            state.wakes.perform()
            return state.wakes.room != nil
        }

        /// A caller starts the load as the leader; returns the number of the load.
        mutating func lead(_ id: UInt64) async throws -> UInt64? {
            let outcome = try await withCheckedThrowingContinuation { (waiter: FlightState.HeadWaiter) in
                change { $0.wait(id, forHead: waiter) }
            }
            guard case .leads = outcome else { return nil }
            return state.lead(id)
        }

        mutating func piece(_ id: UInt64) async throws -> Data? {
            try await withCheckedThrowingContinuation { (waiter: FlightState.PieceWaiter) in
                change { $0.wait(id, forPiece: waiter) }
            }
        }
    }

    /// A flight whose first leader has left, the caller that leads it now, and the numbers of both loads.
    private func replaceLeader() async throws -> (flight: Driver, caller: UInt64, old: UInt64, new: UInt64) {
        var flight = Driver()
        let (first, second) = (flight.state.join(), flight.state.join())
        let leader = try #require(first)
        let caller = try #require(second)
        let old = try await flight.lead(leader)
        flight.change { $0.leave(leader, isRedirected: false) }
        let new = try await flight.lead(caller)
        return (flight, caller, try #require(old), try #require(new))
    }

    private func makeResponse() throws -> URLResponse {
        let url = try #require(URL(string: "http://h.example/"))
        return URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
    }

    @Test func aReplacedLoadAddsNothingToTheBody() async throws {
        var (flight, caller, old, new) = try await replaceLeader()
        let response = try makeResponse()
        var accepted: [Bool] = []
        flight.change { accepted.append($0.receive(response, old)) }
        flight.change { $0.append(Data("old".utf8), old) }
        flight.change { accepted.append($0.receive(response, new)) }
        flight.change { $0.append(Data("old".utf8), old) }
        flight.change { $0.append(Data("new".utf8), new) }
        flight.change { $0.finish(.success(()), new) }
        #expect(accepted == [false, true])
        var body = Data()
        while let piece = try await flight.piece(caller) { body += piece }
        #expect(String(decoding: body, as: UTF8.self) == "new")
    }

    @Test func aReplacedLoadDoesNotTakeThePlaceOfOneThatWaitsForRoom() async throws {
        var (flight, caller, old, new) = try await replaceLeader()
        let response = try makeResponse()
        flight.change { _ = $0.receive(response, new) }
        flight.change { $0.append(Data("new".utf8), new) }
        let (waiters, source) = AsyncStream.makeStream(of: FlightState.RoomWaiter.self)
        let loads = (0..<2).map { _ in
            Task { await withCheckedContinuation { (waiter: FlightState.RoomWaiter) in source.yield(waiter) } }
        }
        var waiting = waiters.makeAsyncIterator()
        let first = await waiting.next()
        let second = await waiting.next()
        let current = try #require(first)
        let replaced = try #require(second)
        let woken = [
            flight.change { $0.wait(forRoom: current, new) }, flight.change { $0.wait(forRoom: replaced, old) },
            flight.change { $0.leave(caller, isRedirected: false) },
        ]
        try #require(woken == [false, true, true])
        for load in loads { await load.value }
    }

    /// A wait may end just as it is cancelled, and the load wait for a slow caller again.
    @Test func aWaitThatIsOverDropsNobody() async throws {
        var flight = Driver()
        let (first, second) = (flight.state.join(), flight.state.join())
        let fast = try #require(first)
        let slow = try #require(second)
        let led = try await flight.lead(fast)
        let number = try #require(led)
        let response = try makeResponse()
        flight.change { _ = $0.receive(response, number) }
        var stalls: [UInt64] = []
        var loads: [Task<Void, Never>] = []
        var readers: [Task<Data?, any Error>] = []
        let (rooms, room) = AsyncStream.makeStream(of: FlightState.RoomWaiter.self)
        let (pieces, piece) = AsyncStream.makeStream(of: FlightState.PieceWaiter.self)
        var (roomWaiters, pieceWaiters) = (rooms.makeAsyncIterator(), pieces.makeAsyncIterator())
        for _ in 0..<2 {
            flight.change { $0.append(Data("a".utf8), number) }
            loads.append(
                Task { await withCheckedContinuation { (waiter: FlightState.RoomWaiter) in room.yield(waiter) } })
            readers.append(
                Task {
                    try await withCheckedThrowingContinuation { (waiter: FlightState.PieceWaiter) in
                        piece.yield(waiter)
                    }
                })
            let nextRoom = await roomWaiters.next()
            let nextPiece = await pieceWaiters.next()
            let roomWaiter = try #require(nextRoom)
            let pieceWaiter = try #require(nextPiece)
            if stalls.isEmpty { _ = try await flight.piece(fast) }
            flight.change { $0.wait(fast, forPiece: pieceWaiter) }
            flight.change { $0.wait(forRoom: roomWaiter, number) }
            #expect(flight.state.isStalled)
            stalls.append(flight.state.beginStall())
            if stalls.count == 1 { _ = try await flight.piece(slow) }
        }
        flight.change { $0.dropSlowest(after: stalls[0]) }
        #expect(flight.state.present == [fast, slow])
        flight.change { $0.dropSlowest(after: stalls[1]) }
        #expect(flight.state.present == [fast])
        flight.change { $0.finish(.success(()), number) }
        for load in loads { await load.value }
        for reader in readers { _ = try await reader.value }
    }
}

@Suite struct BearerTokenStateTests {
    private let date = Date(timeIntervalSince1970: 1_000)

    @Test func oneAsksAndTheOthersWait() {
        var state = BearerTokenState(margin: 30)
        let steps = [state.next(rejected: nil, at: date), state.next(rejected: nil, at: date)]
        #expect(steps == [.wait(begins: true), .wait(begins: false)])
        state.refreshDidEnd(BearerToken("a"))
        let after = state.next(rejected: nil, at: date)
        #expect(after == .use(BearerToken("a")))
    }

    @Test func aRefusalOfAnEarlierTokenDoesNotConcernTheCurrentOne() {
        var state = BearerTokenState(margin: 30, current: BearerToken("a"))
        let refused = state.next(rejected: "a", at: date)
        #expect(refused == .wait(begins: true))
        state.refreshDidEnd(BearerToken("b"))
        let again = state.next(rejected: "a", at: date)
        #expect(again == .use(BearerToken("b")))
        #expect(
            state.isOwn("Bearer a") && state.isOwn("Bearer b") && !state.isOwn("Bearer c") && !state.isOwn("Basic a"))
    }

    @Test(arguments: [(1_029.0, false), (1_030, false), (1_031, true)])
    func aTokenIsRefreshedBeforeItsExpiry(_ expiry: TimeInterval, _ isUsed: Bool) {
        let token = BearerToken("a", expiry: Date(timeIntervalSince1970: expiry))
        var state = BearerTokenState(margin: 30, current: token)
        let step = state.next(rejected: nil, at: date)
        #expect(step == (isUsed ? .use(token) : .wait(begins: true)))
    }

    @Test(arguments: [(1_000.0, false), (1_001, true)])
    func afterAFailureATokenIsUsedUntilItsExpiry(_ expiry: TimeInterval, _ isUsed: Bool) {
        let token = BearerToken("a", expiry: Date(timeIntervalSince1970: expiry))
        var state = BearerTokenState(margin: 30, current: token)
        _ = state.next(rejected: nil, at: date)
        state.refreshDidEnd(nil)
        #expect(state.rest(at: date) == (isUsed ? token : nil))
        state.reject("a")
        #expect(state.rest(at: date) == nil)
    }

    @Test func afterAFailureTheNextOneAsks() {
        var state = BearerTokenState(margin: 30)
        _ = state.next(rejected: nil, at: date)
        state.refreshDidEnd(nil)
        let step = state.next(rejected: nil, at: date)
        #expect(step == .wait(begins: true))
    }

    @Test(arguments: [
        ("abc", true), ("a-._~+/9==", true), ("", false), ("=", false), ("a=b", false), ("a b", false),
        ("a\r\nX: y", false),
        ("é", false),
    ])
    func forms(_ value: String, _ isWellFormed: Bool) { #expect(BearerToken(value).isWellFormed == isWellFormed) }

    @Test func aDescriptionHasNoToken() { #expect(!"\(BearerToken("secret"))".contains("secret")) }
}
