import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResolverTests {
    /// A lookup that counts, and answers from a table.
    private final class Table: Sendable {
        let answers: [String: [IPAddress]]
        let asked = Guarded<[String]>([])
        let gate: Gate?

        init(_ answers: [String: [IPAddress]], gate: Gate? = nil) {
            self.answers = answers
            self.gate = gate
        }

        var lookup: Resolver.Lookup {
            { name, family in
                self.asked.withLock { $0.append("\(name) \(family)") }
                self.gate?.wait()
                let found = (self.answers[name] ?? []).filter { $0.family == family }
                return found.isEmpty ? .failure(.notFound("unknown")) : .success(found)
            }
        }

        /// Returns when this many lookups are under way, or the test is cancelled.
        func untilAsked(_ count: Int) async {
            while asked.withLock({ $0.count }) < count, !Task.isCancelled { await Task.yield() }
        }
    }

    private struct Answers: Equatable, Sendable {
        var v4: [IPAddress]?
        var v6: [IPAddress]?
    }

    private func resolve(_ name: String, _ resolver: Resolver, _ loop: EventLoop) async -> Answers {
        await withCheckedContinuation { continuation in
            loop.execute {
                let answers = OnLoop(Answers())
                var left = 2
                _ = resolver.resolve(name, on: loop) { family, answer in
                    let addresses = (try? answer.get()) ?? []
                    switch family {
                    case .v4: answers.value.v4 = addresses
                    case .v6: answers.value.v6 = addresses
                    }
                    left -= 1
                    if left == 0 { continuation.resume(returning: answers.value) }
                }
            }
        }
    }

    @Test func literalsAndLocalhostNeedNoLookup() async {
        let table = Table([:])
        let resolver = Resolver(lookup: table.lookup)
        let link = IPAddress.v6(high: 0xFE80 << 48, low: 1, zone: 1)
        let cases: [(String, Answers)] = [
            ("3221225985", Answers(v4: [.v4(0xC000_0201)], v6: [])),
            ("0300.0.0x201.", Answers(v4: [.v4(0xC000_0201)], v6: [])),
            ("192.0.2.1", Answers(v4: [.v4(0xC000_0201)], v6: [])),
            ("::1", Answers(v4: [], v6: [.loopback6])),
            ("2001:db8::ff", Answers(v4: [], v6: [.v6(high: 0x2001_0db8 << 32, low: 0xff, zone: 0)])),
            ("fe80::1%1", Answers(v4: [], v6: [link])), ("fe80::1%lo", Answers(v4: [], v6: [link])),
            ("localhost", Answers(v4: [.loopback4], v6: [.loopback6])),
            ("LocalHost.", Answers(v4: [.loopback4], v6: [.loopback6])),
            ("a.localhost", Answers(v4: [.loopback4], v6: [.loopback6])),
            ("", Answers(v4: [], v6: [])), ("a\0b", Answers(v4: [], v6: [])),
            (String(repeating: "x", count: 300), Answers(v4: [], v6: [])),
        ]
        await withLoop { loop in
            for (name, expected) in cases { #expect(await resolve(name, resolver, loop) == expected, "\(name)") }
        }
        #expect(table.asked.withLock { $0 } == [])
        for text in ["fe80::1%", "fe80::1%nonexistent", "1.2.3.256", ":::", "[::1]", "1.2.3.4%1", "%", ""] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
        for text in ["1.2.3.4", "::", "::ffff:1.2.3.4", "2001:db8::1", "fe80::1%1"] {
            #expect(IPAddress(text)?.description == text)
        }
    }

    @Test func answersAreKeptForAWhile() async {
        let time = ManualTime()
        let table = Table(["a.test": [.v4(1)]])
        let resolver = Resolver(time: .manual(time), lookup: table.lookup)
        await withLoop { loop in
            for _ in 0..<3 {
                #expect(await resolve("A.test", resolver, loop) == Answers(v4: [.v4(1)], v6: []))
            }
            #expect(table.asked.withLock { $0.sorted() } == ["a.test v4", "a.test v6"])
            time.advance(byNanoseconds: Resolver.failureLifetime)
            _ = await resolve("a.test", resolver, loop)
            #expect(table.asked.withLock { $0.sorted() } == ["a.test v4", "a.test v6", "a.test v6"])
            time.advance(byNanoseconds: Resolver.lifetime)
            _ = await resolve("a.test", resolver, loop)
            #expect(table.asked.withLock { $0.count } == 5)
        }
    }

    @Test func answersOfAnotherNetworkAreForgotten() async {
        let gate = Gate()
        let table = Table(["a.test": [.v4(1)]], gate: gate)
        let time = ManualTime()
        let resolver = Resolver(time: .manual(time), lookup: table.lookup)
        await withLoop { loop in
            async let first = resolve("a.test", resolver, loop)
            // The lookups are under way when the network changes.
            await table.untilAsked(2)
            resolver.forget()
            for _ in 0..<6 { gate.open() }
            #expect(await first == Answers(v4: [.v4(1)], v6: []))
            for _ in 0..<2 { _ = await resolve("a.test", resolver, loop) }
            #expect(table.asked.withLock { $0.count } == 4)
            time.advance(byNanoseconds: 100_000_000)
            resolver.forget()
            _ = await resolve("a.test", resolver, loop)
            #expect(table.asked.withLock { $0.count } == 6)
        }
    }

    /// Each session reports a change. Names are resolved anew once.
    @Test func severalReportsOfOneChange() async {
        let time = ManualTime()
        let table = Table(["a.test": [.v4(1)]])
        let resolver = Resolver(time: .manual(time), lookup: table.lookup)
        await withLoop { loop in
            for change in 1...2 {
                resolver.networksDidChange()
                time.advance(byNanoseconds: 60_000_000)
                for _ in 0..<3 {
                    resolver.forget()
                    time.advance(byNanoseconds: 10_000_000)
                    _ = await resolve("a.test", resolver, loop)
                }
                #expect(table.asked.withLock { $0.count } == 2 * change)
            }
        }
    }

    /// A name server that was not reached may be reached in another network. Addresses are kept: in some systems the
    /// networks change all the time.
    @Test func failuresOfAnotherNetworkAreForgotten() async {
        let table = Table(["a.test": [.v4(1)]])
        let resolver = Resolver(time: .manual(ManualTime()), lookup: table.lookup)
        await withLoop { loop in
            for _ in 0..<2 { #expect(await resolve("a.test", resolver, loop) == Answers(v4: [.v4(1)], v6: [])) }
            resolver.networksDidChange()
            _ = await resolve("a.test", resolver, loop)
            #expect(table.asked.withLock { $0.sorted() } == ["a.test v4", "a.test v6", "a.test v6"])
        }
    }

    /// An address appears before its route: a failure between the two must not be remembered.
    @Test func aSecondChangeCountsAMomentLater() async {
        let time = ManualTime()
        let table = Table([:])
        let resolver = Resolver(time: .manual(time), lookup: table.lookup)
        await withLoop { loop in
            resolver.networksDidChange()
            _ = await resolve("a.test", resolver, loop)
            resolver.networksDidChange()
            _ = await resolve("a.test", resolver, loop)
            #expect(table.asked.withLock { $0.count } == 2)
            time.advance(byNanoseconds: 100_000_000)
            for _ in 0..<2 { _ = await resolve("a.test", resolver, loop) }
            #expect(table.asked.withLock { $0.count } == 4)
        }
    }

    @Test func aLookupInAnotherNetworkIsNotShared() async {
        let gate = Gate()
        let table = Table(["a.test": [.v4(1)]], gate: gate)
        let resolver = Resolver(time: .manual(ManualTime()), lookup: table.lookup)
        await withLoop { loop in
            async let first = resolve("a.test", resolver, loop)
            await table.untilAsked(2)
            resolver.networksDidChange()
            async let second = resolve("a.test", resolver, loop)
            await table.untilAsked(4)
            for _ in 0..<4 { gate.open() }
            for answers in await [first, second] { #expect(answers == Answers(v4: [.v4(1)], v6: [])) }
            _ = await resolve("a.test", resolver, loop)
            #expect(table.asked.withLock { $0.count } == 4)
        }
    }

    @Test func askersShareALookup() async {
        let gate = Gate()
        let table = Table(["a.test": [.v4(1)]], gate: gate)
        let resolver = Resolver(time: .manual(ManualTime()), lookup: table.lookup)
        await withLoop { loop in
            let results = await withTaskGroup(of: Answers.self) { group in
                for _ in 0..<10 { group.addTask { await resolve("a.test", resolver, loop) } }
                await loop.run {}
                gate.open()
                gate.open()
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(results == Array(repeating: Answers(v4: [.v4(1)], v6: []), count: 10))
        }
        #expect(table.asked.withLock { $0.count } == 2)
    }

    @Test func theNumberOfNamesIsBounded() async {
        let asked = Guarded(0)
        let resolver = Resolver { _, _ in
            asked.withLock { $0 += 1 }
            return .success([.v4(1)])
        }
        let names = Resolver.maximumNames * 3
        await withLoop { loop in
            for number in 0..<names { _ = await resolve("name\(number).test", resolver, loop) }
            _ = await resolve("name\(names - 1).test", resolver, loop)
            #expect(asked.withLock { $0 } == names * 2)
            _ = await resolve("name0.test", resolver, loop)
            #expect(asked.withLock { $0 } == names * 2 + 2)
        }
    }

    @Test func aCancelledRequestHearsNothing() async {
        let gate = Gate()
        let table = Table(["a.test": [.v4(1)]], gate: gate)
        let resolver = Resolver(time: .manual(ManualTime()), lookup: table.lookup)
        await withLoop { loop in
            await loop.run {
                let request = resolver.resolve("a.test", on: loop) { _, _ in Issue.record("answered") }
                request.cancel()
            }
            gate.open()
            gate.open()
            // Shares the lookups, so that they are over when this is.
            _ = await resolve("a.test", resolver, loop)
        }
    }

    // MARK: Silent servers

    /// Names that begin with `silent` are not answered before the gate is open.
    private final class Silence: Sendable {
        let gate = Semaphore()
        let asked = Guarded<[String]>([])

        var lookup: Resolver.Lookup {
            { name, family in
                self.asked.withLock { $0.append(name) }
                guard name.hasPrefix("silent") else { return .success([family == .v4 ? .v4(7) : .loopback6]) }
                _ = self.gate.wait(seconds: 120)
                return .failure(.failed("silent"))
            }
        }

        func asks(_ name: String) -> Int { asked.withLock { $0.count { $0 == name } } }

        func end() { for _ in 0..<1000 { gate.signal() } }
    }

    /// Asks, and gives what cancels the request and what waits for its two answers.
    private func begin(
        _ name: String, _ resolver: Resolver, _ loop: EventLoop, _ answered: Semaphore
    ) async -> OnLoop<Resolver.Request> {
        await loop.run {
            OnLoop(resolver.resolve(name, on: loop) { _, _ in answered.signal() })
        }
    }

    @Test(arguments: [4, 40]) func silentNamesHoldUpNobodyElse(count: Int) async throws {
        let silence = Silence()
        let resolver = Resolver(lookup: silence.lookup)
        try await withLoop { loop in
            let unanswered = Semaphore()
            var requests: [OnLoop<Resolver.Request>] = []
            // Several ask for each of them.
            for number in 0..<count * 3 {
                requests.append(await begin("silent\(number % count).test", resolver, loop, unanswered))
            }
            let loud = Guarded(0)
            for number in 0..<50 {
                await loop.run {
                    _ = resolver.resolve("loud\(number).test", on: loop) { _, answer in
                        if case .success = answer { loud.withLock { $0 += 1 } }
                    }
                }
            }
            try await waitUntil { loud.withLock { $0 } == 100 }
            // Each for both families.
            try await waitUntil { (0..<count).allSatisfy { silence.asks("silent\($0).test") >= 2 } }
            #expect(resolver.threadCount <= Resolver.limits.threads)
            #expect(resolver.waitingCount == 0)
            #expect((0..<count).allSatisfy { silence.asks("silent\($0).test") == 2 })
            silence.end()
            for _ in 0..<count * 6 { #expect(unanswered.wait(seconds: 120)) }
            withExtendedLifetime(requests) {}
        }
    }

    /// At the bound lookups wait in order; more are refused; those that nobody wants any more make room.
    @Test func lookupsWaitAtTheBound() async {
        let silence = Silence()
        let limits = BlockingPool.Limits(threads: 6, maximumWaiting: 4)
        let resolver = Resolver(limits: limits, lookup: silence.lookup)
        await withLoop { loop in
            let (unanswered, answered) = (Semaphore(), Semaphore())
            var requests: [OnLoop<Resolver.Request>] = []
            for number in 0..<3 {
                requests.append(await begin("silent\(number).test", resolver, loop, unanswered))
            }
            #expect(resolver.threadCount == 6)
            let first = await begin("first.test", resolver, loop, answered)
            let second = await begin("second.test", resolver, loop, answered)
            let again = await begin("FIRST.test", resolver, loop, answered)
            #expect(resolver.waitingCount == 4 && resolver.threadCount == 6)
            let refused = await resolveFailing("third.test", resolver, loop)
            #expect(refused == .refused(.tooMuchWaits(4)))
            // Somebody else wants the same.
            await loop.run { first.value.cancel() }
            #expect(resolver.waitingCount == 4)
            await loop.run { again.value.cancel() }
            #expect(resolver.waitingCount == 2)
            let fourth = await begin("fourth.test", resolver, loop, answered)
            silence.end()
            for _ in 0..<4 { #expect(answered.wait(seconds: 120)) }
            for _ in 0..<6 { #expect(unanswered.wait(seconds: 120)) }
            #expect(silence.asks("first.test") == 0 && silence.asks("third.test") == 0)
            #expect(silence.asks("second.test") == 2 && silence.asks("fourth.test") == 2)
            // What was refused was not learned.
            #expect(await resolve("third.test", resolver, loop) == Answers(v4: [.v4(7)], v6: [.loopback6]))
            withExtendedLifetime((second, fourth)) {}
            withExtendedLifetime(requests) {}
        }
    }

    @Test func withoutAThreadALookupFails() async {
        let silence = Silence()
        let resolver = Resolver(lookup: silence.lookup)
        await withLoop { loop in
            loop.attach(FaultPlan(.createThread, .from(1), .fail(EAGAIN)))
            let failure = await resolveFailing("a.test", resolver, loop)
            #expect("\(failure)".contains("the system has no thread for it (Resource temporarily unavailable)"))
            loop.attach(nil)
            #expect(await resolve("a.test", resolver, loop) == Answers(v4: [.v4(7)], v6: [.loopback6]))
        }
    }

    /// It does not wait for the silent server of another name.
    @Test func withoutAFurtherThreadALookupFails() async {
        let (silence, unanswered) = (Silence(), Semaphore())
        let resolver = Resolver(lookup: silence.lookup)
        await withLoop { loop in
            let silent = await begin("silent.test", resolver, loop, unanswered)
            loop.attach(FaultPlan(.createThread, .from(1), .fail(EAGAIN)))
            let failure = await resolveFailing("a.test", resolver, loop)
            #expect("\(failure)".contains("the system has no thread for it"))
            loop.attach(nil)
            #expect(await resolve("a.test", resolver, loop) == Answers(v4: [.v4(7)], v6: [.loopback6]))
            silence.end()
            for _ in 0..<2 { #expect(unanswered.wait(seconds: 120)) }
            withExtendedLifetime(silent) {}
        }
    }

    private func resolveFailing(
        _ name: String, _ resolver: Resolver, _ loop: EventLoop
    ) async -> ResolverFailure {
        await withCheckedContinuation { continuation in
            loop.execute {
                let failures = OnLoop<[ResolverFailure]>([])
                _ = resolver.resolve(name, on: loop) { _, answer in
                    if case .failure(let failure) = answer { failures.value.append(failure) }
                    if failures.value.count == 2 { continuation.resume(returning: failures.value[0]) }
                }
            }
        }
    }

    /// The system's resolver does not say that it had none.
    @Test(arguments: [EMFILE, ENFILE, ENOBUFS]) func aLookupWithoutDescriptorsSaysSo(code: Int32) {
        let plan = FaultPlan(.socket, .from(1), .fail(code))
        let answer = plan.run { Resolver.systemLookup("127.0.0.1", .v6) }
        let lacks = code != ENOBUFS
        #expect((answer == .failure(.noDescriptors(code))) == lacks && plan.injectedCount == 1)
        if !lacks { #expect(answer == Resolver.systemLookup("127.0.0.1", .v6)) }
    }

    @Test func aLackOfDescriptorsIsNotKept() async {
        let asked = Guarded(0)
        let lookup: Resolver.Lookup = { _, _ in
            let number = asked.withLock { count in
                count += 1
                return count
            }
            return number <= 2 ? .failure(.noDescriptors(EMFILE)) : .success([.v4(1)])
        }
        let resolver = Resolver(time: .manual(ManualTime()), lookup: lookup)
        await withLoop { loop in
            #expect(await resolveFailing("a.test", resolver, loop) == .noDescriptors(EMFILE))
            #expect(await resolve("a.test", resolver, loop) == Answers(v4: [.v4(1)], v6: [.v4(1)]))
        }
    }

    @Test func theSystemsResolverSaysWhyNot() {
        let answer = Resolver.systemLookup("nonexistent.invalid", .v4)
        guard case .failure = answer else {
            Issue.record("found")
            return
        }
        #expect(Resolver.systemLookup("127.1", .v4) == .success([.loopback4]))
        guard case .failure(.notFound) = Resolver.systemLookup("127.0.0.1", .v6) else {
            Issue.record("an address of the other family")
            return
        }
    }
}
