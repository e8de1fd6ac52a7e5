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
                    loop.atEndOfTurn {
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

    /// Performs until the loop waits and the work runs in this thread; gives what it gave then.
    @discardableResult
    private static func performHere<Value: Sendable>(
        _ loop: EventLoop, _ work: @escaping @Sendable () -> Value
    ) -> Value {
        let thread = pthread_self()
        let result = Guarded<Value?>(nil)
        while true {
            let isDone = Guarded(false)
            loop.perform { [thread] in
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
