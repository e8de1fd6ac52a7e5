import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization
import Testing

/// Threads other than the loop's that take its turn.
@Suite struct TurnTests {
    @Test func workRunsInTheCallingThreadWhenTheLoopWaits() async {
        await withLoop { loop in
            let isHere = Self.performHere(loop) { loop.isCurrent }
            #expect(isHere)
            #expect(!loop.isCurrent)
        }
    }

    @Test func aTimerThatIsSetMeanwhileFires() async {
        await withLoop { loop in
            await withCheckedContinuation { continuation in
                Self.performHere(loop) {
                    _ = loop.schedule(at: loop.now.advanced(bySeconds: 0.01)) { continuation.resume() }
                }
            }
        }
    }

    @Test func whatTheWorkLeavesIsDone() async {
        await withLoop { loop in
            let log = OnLoop<[Int]>([])
            await withCheckedContinuation { continuation in
                Self.performHere(loop) {
                    // More than the thread does itself.
                    for number in 0..<100 { loop.executeLater { log.value.append(number) } }
                    loop.executeLater { continuation.resume() }
                }
            }
            #expect(await loop.run { log.value } == Array(0..<100))
        }
    }

    @Test func theEndOfTheTurnComesAfterTheWork() async {
        await withLoop { loop in
            let log = OnLoop<[Int]>([])
            await withCheckedContinuation { continuation in
                Self.performHere(loop) {
                    loop.executeAtEndOfTurn {
                        log.value.append(3)
                        continuation.resume()
                    }
                    loop.executeLater { log.value.append(2) }
                    log.value.append(1)
                }
            }
            #expect(await loop.run { log.value } == [1, 2, 3])
        }
    }

    /// Both with the system's time, in which the loop's thread pauses, and with a manual one, in which it does not; and
    /// in the turn of another thread.
    @Test(arguments: [false, true], [false, true])
    func whatWaitsForAPauseComesAtTheEndOfTheNextTurn(isManual: Bool, isElsewhere: Bool) async {
        await withLoop(isManual ? .manual(ManualTime()) : .system) { loop in
            let log = OnLoop<[Int]>([])
            await withCheckedContinuation { continuation in
                let work: @Sendable () -> Void = {
                    log.value.append(1)
                    loop.executeAtEndOfTurn {
                        loop.executeAfterPause {
                            log.value.append(4)
                            loop.executeAfterPause { continuation.resume() }
                        }
                        log.value.append(2)
                        loop.executeLater { log.value.append(3) }
                    }
                }
                if isElsewhere { Self.performHere(loop, work) } else { loop.execute(work) }
            }
            #expect(await loop.run { log.value } == [1, 2, 3, 4])
        }
    }

    /// Sockets, timers and other threads' work run first: with the system's time and with manual time, on the loop's
    /// thread and on a borrowed one.
    @Test(arguments: [false, true], [false, true])
    func workForTheNextTurnComesBehindItsTimers(isManual: Bool, isElsewhere: Bool) async {
        await withLoop(isManual ? .manual(ManualTime()) : .system) { loop in
            let log = OnLoop<[String]>([])
            await withCheckedContinuation { continuation in
                let work: @Sendable () -> Void = {
                    _ = loop.schedule(at: loop.now) { log.value.append("timer") }
                    loop.executeInNextTurn {
                        log.value.append("next turn")
                        continuation.resume()
                    }
                    loop.executeLater { log.value.append("later") }
                    loop.executeAtEndOfTurn { log.value.append("end of turn") }
                }
                if isElsewhere { Self.performHere(loop, work) } else { loop.execute(work) }
            }
            #expect(await loop.run { log.value } == ["later", "end of turn", "timer", "next turn"])
        }
    }

    /// A task may be anybody's: it never runs in a thread that only came by.
    @Test func tasksRunOnTheLoopsThread() async {
        await withLoop { loop in
            let home = await loop.run { UInt(pthread_self()) }
            let thread = await withCheckedContinuation { continuation in
                Self.performHere(loop) {
                    _ = Task<Void, Never>(executorPreference: loop.executor) {
                        continuation.resume(returning: UInt(pthread_self()))
                    }
                }
            }
            #expect(thread == home)
        }
    }

    /// Closures for the loop's own thread neither run in one that only came by, nor are overtaken.
    @Test(arguments: [false, true]) func closuresForTheLoopsOwnThreadRunThere(isFromThirdThread: Bool) async {
        await withLoop { loop in
            let home = await loop.run { UInt(pthread_self()) }
            let log = OnLoop<[String]>([])
            let note: @Sendable (String) -> Void = { name in
                log.value.append(UInt(pthread_self()) == home ? "\(name) at home" : name)
            }
            Self.performHere(loop) {
                let submit: @Sendable () -> Void = {
                    loop.execute { note("first") }
                    loop.executeOnOwnThread { note("own") }
                    loop.execute { note("last") }
                }
                if isFromThirdThread {
                    let gate = Gate()
                    Thread.start {
                        submit()
                        gate.open()
                    }
                    gate.wait()
                } else {
                    submit()
                }
            }
            #expect(await loop.run { log.value } == ["first", "own at home", "last at home"])
        }
    }

    @Test func eachThreadsWorkKeepsItsOrderAndIsAlone() async {
        let perThread = 5000
        await withLoop { loop in
            // Neither is guarded by anything but the turn.
            let log = OnLoop<[[Int]]>(Array(repeating: [], count: 4))
            let running = OnLoop<Int>(0)
            let wasAlone = Atomic<Bool>(true)
            let gates = (0..<4).map { _ in Gate() }
            for thread in 0..<4 {
                Thread.start {
                    for number in 0..<perThread {
                        let work: @Sendable () -> Void = {
                            running.value += 1
                            if running.value != 1 { wasAlone.store(false, ordering: .relaxed) }
                            log.value[thread].append(number)
                            running.value -= 1
                        }
                        if number % 3 == 0 { loop.execute(work) } else { loop.perform(work) }
                    }
                    gates[thread].open()
                }
            }
            for gate in gates { #expect(await gate.passed()) }
            let result = await loop.run { log.value }
            #expect(result.allSatisfy { $0 == Array(0..<perThread) })
            let isAlone = wasAlone.load(ordering: .relaxed)
            #expect(isAlone)
        }
    }

    @Test func oneLoopsThreadDoesNotTakeAnothersTurn() async {
        await withLoop { other in
            await withLoop { loop in
                let isElsewhere = await withCheckedContinuation { continuation in
                    other.execute { loop.perform { continuation.resume(returning: !other.isCurrent) } }
                }
                #expect(isElsewhere)
            }
        }
    }

    @Test func aLoopThatHasEndedRunsNothing() {
        let loop = EventLoop(name: "test")
        loop.stop()
        loop.perform { Issue.record("the loop has ended") }
    }

    // MARK: Work of third threads

    /// The thread that has the turn does it, as the loop's would have to wait for the turn.
    @Test func workThatComesMeanwhileIsDoneByTheThreadThatHasTheTurn() async {
        await withLoop { loop in
            let log = OnLoop<[(number: Int, isHere: Bool)]>([])
            Self.performHere(loop) {
                let here = pthread_self()
                // Less than the thread leaves to the loop's.
                for number in 0..<10 {
                    let gate = Gate()
                    Thread.start {
                        let work: @Sendable () -> Void = {
                            log.value.append((number, pthread_equal(here, pthread_self()) != 0))
                        }
                        if number % 2 == 0 { loop.execute(work) } else { loop.perform(work) }
                        gate.open()
                    }
                    gate.wait()
                }
            }
            let done = await loop.run { log.value }
            #expect(done.map(\.number) == Array(0..<10))
            let allAreHere = done.allSatisfy { $0.isHere }
            #expect(allAreHere)
        }
    }

    /// However long the line is: the rest is the loop's.
    @Test func aLongLineOfWorkThatComesMeanwhileIsDoneInOrder() async {
        await withLoop { loop in
            let log = OnLoop<[Int]>([])
            let end = Gate()
            Self.performHere(loop) {
                let gate = Gate()
                Thread.start {
                    for number in 0..<1000 {
                        loop.execute {
                            log.value.append(number)
                            if number == 999 { end.open() }
                        }
                    }
                    gate.open()
                }
                gate.wait()
            }
            // Nothing else wakes the loop.
            #expect(await end.passed())
            #expect(await loop.run { log.value } == Array(0..<1000))
        }
    }

    // MARK: Lent threads

    @Test func aBorrowedThreadRunsOffTheLoopWhenTheTurnIsOver() async {
        await withLoop { loop in
            let log = Guarded<[String]>([])
            Self.performHere(loop, lendsThread: true) {
                let here = pthread_self()
                let isBorrowed = loop.borrowThread {
                    let isHere = pthread_equal(here, pthread_self()) != 0
                    log.withLock { $0.append(isHere && !loop.isCurrent ? "borrowed" : "elsewhere") }
                    let gate = Gate()
                    loop.execute { gate.open() }
                    // Only the loop's thread can do it now, so the turn is free.
                    gate.wait()
                }
                #expect(isBorrowed)
                #expect(!loop.borrowThread { Issue.record("borrowed twice") })
                loop.executeAtEndOfTurn { log.withLock { $0.append("end of turn") } }
                loop.executeLater { log.withLock { $0.append("later") } }
                log.withLock { $0.append("work") }
            }
            let result = log.withLock { $0 }
            #expect(result == ["work", "later", "end of turn", "borrowed"])
        }
    }

    @Test func aThreadThatIsNotLentIsNotBorrowed() async {
        await withLoop { loop in
            let never: @Sendable () -> Void = { Issue.record("nobody lent a thread") }
            let atWork = Self.performHere(loop) { loop.borrowThread(never) }
            #expect(!atWork)
            let onTheLoopsThread = await loop.run { loop.borrowThread(never) }
            #expect(!onTheLoopsThread)
            // Lent for the work alone, not for what comes after it.
            let later = Guarded<[Bool]>([])
            Self.performHere(loop, lendsThread: true) {
                loop.executeLater { later.withLock { $0.append(loop.borrowThread(never)) } }
                loop.executeAtEndOfTurn { later.withLock { $0.append(loop.borrowThread(never)) } }
            }
            let isLentLater = later.withLock { $0 }
            #expect(isLentLater == [false, false])
        }
    }

    /// What is borrowed may borrow in turn, and would fill the stack.
    @Test func aBorrowedThreadIsNotBorrowedOnceMore() async {
        await withLoop { other in
            await withLoop { loop in
                let nested = Guarded<[Bool]>([])
                let borrow: @Sendable () -> Void = {
                    for target in [loop, other] {
                        let isBorrowed = Self.performHere(target, lendsThread: true) { target.borrowThread {} }
                        nested.withLock { $0.append(isBorrowed) }
                    }
                }
                // Both times: the thread is as before when it has been given back.
                for _ in 0..<2 { Self.performHere(loop, lendsThread: true) { #expect(loop.borrowThread(borrow)) } }
                let isNested = nested.withLock { $0 }
                #expect(isNested == [false, false, false, false])
            }
        }
    }

    /// A test may attach it at any time. Another thread may be used for other loops later, and the plan may be gone then.
    @Test func aFaultPlanIsForTheLoopsOwnThread() async {
        await withLoop { loop in
            let plan = FaultPlan(.close, .from(1), .fail(EINTR))
            Self.performHere(loop) {
                let isAttached = Gate()
                Thread.start {
                    loop.attach(plan)
                    isAttached.open()
                }
                isAttached.wait()
            }
            SystemCalls.close(-1)
            #expect(plan.injectedCount == 0)
            _ = await loop.run { SystemCalls.close(-1) }
            #expect(plan.injectedCount == 1)
            loop.attach(nil)
        }
    }

    @Test func manyThreadsAtOnceLoseAndReorderNothing() async {
        let (threads, perThread) = (8, 3000)
        await withLoop { loop in
            let counts = OnLoop<[Count]>(Array(repeating: Count(), count: threads))
            let borrowed = Atomic<Int>(0)
            let gates = (0..<threads).map { _ in Gate() }
            for thread in 0..<threads {
                Thread.start {
                    for number in 0..<perThread {
                        let work: @Sendable () -> Void = {
                            Self.count(number, \.work, in: counts, thread)
                            loop.executeLater { Self.count(number, \.later, in: counts, thread) }
                            loop.executeAtEndOfTurn { Self.count(number, \.ends, in: counts, thread) }
                            let run: @Sendable () -> Void = {
                                #expect(!loop.isCurrent)
                                borrowed.add(1, ordering: .relaxed)
                            }
                            if !loop.borrowThread(run) { borrowed.add(1, ordering: .relaxed) }
                        }
                        switch (number + thread) % 3 {
                        case 0: loop.execute(work)
                        case 1: loop.perform(work)
                        default: loop.perform(lendsThread: true, work)
                        }
                    }
                    gates[thread].open()
                }
            }
            for gate in gates { #expect(await gate.passed()) }
            // Twice: what the last piece of work leaves comes after the first.
            for _ in 0..<2 {
                await withCheckedContinuation { end in loop.execute { loop.executeAtEndOfTurn { end.resume() } } }
            }
            let result = await loop.run { counts.value }
            let all = Count(work: perThread, later: perThread, ends: perThread)
            #expect(result == Array(repeating: all, count: threads))
            #expect(borrowed.load(ordering: .relaxed) == threads * perThread)
        }
    }

    /// How many pieces of one thread's work were done, and of what they left to be done.
    private struct Count: Equatable {
        var work = 0
        var later = 0
        var ends = 0
        var outOfOrder = 0
    }

    private static func count(
        _ number: Int, _ kind: WritableKeyPath<Count, Int>, in counts: OnLoop<[Count]>, _ thread: Int
    ) {
        if counts.value[thread][keyPath: kind] != number { counts.value[thread].outOfOrder += 1 }
        counts.value[thread][keyPath: kind] += 1
    }

    /// Performs until the loop waits and the work runs in this thread; gives what it gave then.
    @discardableResult
    private static func performHere<Value: Sendable>(
        _ loop: EventLoop, lendsThread: Bool = false, _ work: @escaping @Sendable () -> Value
    ) -> Value {
        let thread = pthread_self()
        let result = Guarded<Value?>(nil)
        while true {
            let isDone = Guarded(false)
            loop.perform(lendsThread: lendsThread) { [thread] in
                // The thread that waits for this to be done still exists, so its number is its own.
                if pthread_equal(thread, pthread_self()) != 0 {
                    let value = work()
                    result.withLock { $0 = value }
                }
                isDone.withLock { $0 = true }
            }
            while !isDone.withLock({ $0 }) { sched_yield() }
            if let value = result.withLock({ $0 }) { return value }
        }
    }
}
