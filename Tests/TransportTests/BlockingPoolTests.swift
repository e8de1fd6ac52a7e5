import Glibc
import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@Suite struct BlockingPoolTests {
    /// Work that says that it has begun, and waits until it may end.
    private final class Held: Sendable {
        let begun = Semaphore()
        let gate = Semaphore()
        let ended = Semaphore()
        private let running = Guarded((now: 0, most: 0))

        var most: Int { running.withLock { $0.most } }

        func run() {
            running.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            begun.signal()
            _ = gate.wait(seconds: 120)
            running.withLock { $0.now -= 1 }
            ended.signal()
        }

        func release(_ count: Int) {
            for _ in 0..<count { gate.signal() }
            for _ in 0..<count { #expect(ended.wait(seconds: 120)) }
        }
    }

    private func pool(_ limits: BlockingPool.Limits) -> BlockingPool { BlockingPool(name: "test", limits) }

    @Test(arguments: [1, 3, 600]) func itRunsAllAndGrowsToItsBound(bound: Int) {
        let (pool, held) = (pool(.init(threads: bound)), Held())
        let count = bound * 2
        let accepted = (0..<count).map { _ in pool.run(BlockingPool.Work { held.run() }) }
        for _ in 0..<bound { #expect(held.begun.wait(seconds: 120)) }
        #expect(accepted.count { $0 == .begins } == bound)
        #expect(pool.threadCount == bound && pool.waitingCount == bound)
        held.release(count)
        #expect(held.most == bound)
    }

    @Test func whatWaitsCanBeTakenBack() {
        let (pool, held) = (pool(.init(threads: 1)), Held())
        pool.run { held.run() }
        #expect(held.begun.wait(seconds: 120))
        let done = Guarded<[Int]>([])
        let works = (0..<100).map { number in BlockingPool.Work { done.withLock { $0.append(number) } } }
        for work in works { #expect(pool.run(work) == .waits) }
        // Last to first, as a program may that cancels all it has.
        for (number, work) in works.enumerated().reversed() where number % 10 != 3 { #expect(pool.cancel(work)) }
        #expect(!pool.cancel(works[0]))
        #expect(pool.waitingCount == 10)
        let last = Semaphore()
        pool.run { last.signal() }
        held.release(1)
        #expect(last.wait(seconds: 120))
        #expect(done.withLock { $0 } == (0..<10).map { $0 * 10 + 3 })
        let never = BlockingPool.Work { Issue.record("ran") }
        #expect(pool.cancel(never))
        pool.run(never)
        #expect(pool.waitingCount == 0)
    }

    /// An object of the program that asks the pool when it is released, as one that submits work then.
    private final class Asking: Sendable {
        private let pool: BlockingPool

        init(_ pool: BlockingPool) { self.pool = pool }

        deinit { _ = pool.waitingCount }

        func use() {}

        /// Work that alone holds two of them.
        static func work(_ pool: BlockingPool) -> BlockingPool.Work {
            let (inBody, inRefusal) = (Asking(pool), Asking(pool))
            return BlockingPool.Work({ inBody.use() }, orElse: { _ in inRefusal.use() })
        }
    }

    /// What work holds may use the pool when it is released, after the work was done, cancelled or refused.
    @Test(arguments: [0, 1, 3], [0, 10]) func whatWorkHoldsMayUseThePool(cancelled: Int, mayWait: Int) throws {
        var limits = BlockingPool.Limits(threads: 1)
        limits.maximumWaiting = mayWait
        let (pool, held) = (pool(limits), Held())
        let (submitted, last) = (Semaphore(), Semaphore())
        pool.run { held.run() }
        #expect(held.begun.wait(seconds: 120))
        // On another thread, as a release with the mutex held never returns.
        BlockingPool(name: "test", .init(threads: 1)).run {
            var works = (0..<3).map { _ in Asking.work(pool) }
            for work in works { pool.run(work) }
            while works.count > 3 - cancelled, let work = works.popLast() { pool.cancel(work) }
            works = []
            pool.run { last.signal() }
            submitted.signal()
        }
        try #require(submitted.wait(seconds: 120))
        held.release(1)
        #expect(last.wait(seconds: 120))
    }

    @Test func moreThanMayWaitIsRefused() {
        var limits = BlockingPool.Limits(threads: 2)
        limits.maximumWaiting = 3
        let (pool, held) = (pool(limits), Held())
        let refused = Guarded<[BlockingPool.Refusal]>([])
        for _ in 0..<7 {
            pool.run(BlockingPool.Work({ held.run() }) { refusal in refused.withLock { $0.append(refusal) } })
        }
        #expect(refused.withLock { $0 } == [.tooMuchWaits(3), .tooMuchWaits(3)])
        held.release(5)
        // As before.
        pool.run(BlockingPool.Work({ held.run() }) { _ in Issue.record("refused") })
        held.release(1)
    }

    @Test func idleThreadsEnd() {
        var limits = BlockingPool.Limits(threads: 20)
        limits.idleTime = 1_000_000
        let (pool, held) = (pool(limits), Held())
        for _ in 0..<20 { pool.run { held.run() } }
        for _ in 0..<20 { #expect(held.begun.wait(seconds: 120)) }
        #expect(pool.threadCount == 20)
        held.release(20)
        while pool.threadCount > 0 { sched_yield() }
        pool.run { held.run() }
        held.release(1)
    }

    /// Where each work begins after the one before has ended, one thread does all, and the others stay idle.
    @Test func theThreadThatBecameIdleLastTakesTheNextWork() {
        var limits = BlockingPool.Limits(threads: 8)
        // Longer than the test, also on a slow machine.
        limits.idleTime = 3_600_000_000_000
        let (pool, held) = (pool(limits), Held())
        for _ in 0..<8 { pool.run { held.run() } }
        for _ in 0..<8 { #expect(held.begun.wait(seconds: 120)) }
        held.release(8)
        while pool.idleCount < 8 { sched_yield() }
        let names = Guarded<Set<pthread_t>>([])
        for _ in 0..<100 {
            pool.run { names.withLock { _ = $0.insert(pthread_self()) } }
            while pool.idleCount < 8 { sched_yield() }
        }
        #expect(names.withLock(\.count) == 1)
    }

    /// What the pool does where the system has no thread to give.
    @Test(arguments: [true, false]) func threadsThatCannotBeHad(endsByItself: Bool) {
        let plan = FaultPlan(.createThread, .from(2), .fail(EAGAIN))
        let (pool, held) = (pool(.init(threads: 4, endsByItself: endsByItself)), Held())
        let refused = Guarded<[BlockingPool.Refusal]>([])
        let more = BlockingPool.Work({ held.run() }) { refusal in refused.withLock { $0.append(refusal) } }
        plan.run {
            pool.run { held.run() }
            #expect(held.begun.wait(seconds: 120))
            _ = pool.run(more)
        }
        #expect(plan.injectedCount == 1 && pool.threadCount == 1)
        // It may wait for the other's end where that comes by itself.
        #expect(refused.withLock { $0 } == (endsByItself ? [] : [.noThread(errno: EAGAIN)]))
        held.release(endsByItself ? 2 : 1)
        pool.run(BlockingPool.Work({ held.run() }) { _ in Issue.record("refused") })
        held.release(1)
    }

    /// Where the system has no thread, the caller runs what replaces the work.
    @Test(arguments: [true, false]) func whatMustBeDone(hasThread: Bool) {
        let pool = pool(.init(threads: 1, endsByItself: false))
        let (caller, done) = (pthread_self(), Semaphore())
        let isHere = Guarded<Bool?>(nil)
        let body = { @Sendable in
            isHere.withLock { $0 = pthread_equal(caller, pthread_self()) != 0 }
            done.signal()
        }
        let start = { _ = pool.run(BlockingPool.Work(body, orElse: { _ in body() })) }
        if hasThread { start() } else { FaultPlan(.createThread, .from(1), .fail(EAGAIN)).run { start() } }
        #expect(done.wait(seconds: 120))
        #expect(isHere.withLock { $0 } == !hasThread)
        #expect(pool.threadCount == (hasThread ? 1 : 0) && pool.waitingCount == 0)
    }

    @Test func withoutAnyThread() {
        let plan = FaultPlan(.createThread, .nth(1), .fail(EAGAIN))
        let pool = pool(.init(threads: 4))
        let refused = Guarded(false)
        plan.run { _ = pool.run(BlockingPool.Work({}) { _ in refused.withLock { $0 = true } }) }
        #expect(refused.withLock { $0 } && pool.threadCount == 0 && pool.waitingCount == 0)
        let again = FaultPlan(.createThread, .nth(1), .fail(EAGAIN))
        let here = Guarded(false)
        let caller = pthread_self()
        again.run { pool.run { here.withLock { $0 = pthread_equal(caller, pthread_self()) != 0 } } }
        #expect(here.withLock { $0 })
    }
}
