import LoadingKitPrimitives
import LoadingKitTransport
import Testing

/// Timers under a clock that the test moves.
@Suite struct TimerTests {
    @Test func timersFireInOrderEachAtItsTime() async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let log = OnLoop<[UInt64]>([])
            let start = time.now
            await loop.run {
                for delay in [500, 100, 300, 200, 400, 0] as [UInt64] {
                    let expected = start.advanced(byNanoseconds: delay)
                    _ = loop.schedule(at: expected) {
                        #expect(loop.now == expected)
                        log.value.append(delay)
                    }
                }
            }
            #expect(await loop.run { log.value } == [0])
            time.advance(byNanoseconds: 250)
            #expect(await loop.run { log.value } == [0, 100, 200])
            time.advance(byNanoseconds: 250)
            #expect(await loop.run { log.value } == [0, 100, 200, 300, 400, 500])
            #expect(await loop.run { loop.now } == start.advanced(byNanoseconds: 500))
        }
    }

    @Test func timersOfTheSameTimeFireInTheOrderTheyWereSet() async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let log = OnLoop<[Int]>([])
            await loop.run {
                for number in 0..<100 {
                    _ = loop.schedule(at: time.now.advanced(byNanoseconds: 5)) { log.value.append(number) }
                }
            }
            time.advance(byNanoseconds: 5)
            #expect(await loop.run { log.value } == Array(0..<100))
        }
    }

    @Test func aTimerSetByATimerFiresInTheSameAdvance() async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let log = OnLoop<[UInt64]>([])
            let start = time.now
            await loop.run {
                _ = loop.schedule(at: start.advanced(byNanoseconds: 10)) {
                    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: 10)) {
                        log.value.append(loop.now.nanoseconds(since: start))
                    }
                }
                _ = loop.schedule(at: start.advanced(byNanoseconds: 25)) {
                    log.value.append(loop.now.nanoseconds(since: start))
                }
            }
            time.advance(by: .nanoseconds(30))
            #expect(await loop.run { log.value } == [20, 25])
        }
    }

    @Test func cancelledAndMovedTimers() async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let log = OnLoop<[String]>([])
            let start = time.now
            await loop.run {
                let cancelled = loop.schedule(at: start.advanced(byNanoseconds: 10)) { log.value.append("cancelled") }
                let moved = loop.schedule(at: start.advanced(byNanoseconds: 10)) { log.value.append("moved") }
                let earlier = loop.schedule(at: start.advanced(byNanoseconds: 100)) { log.value.append("earlier") }
                cancelled.cancel()
                loop.schedule(moved, at: start.advanced(byNanoseconds: 50))
                loop.schedule(earlier, at: start.advanced(byNanoseconds: 20))
                #expect(!cancelled.isScheduled && moved.isScheduled)
            }
            time.advance(byNanoseconds: 40)
            #expect(await loop.run { log.value } == ["earlier"])
            time.advance(byNanoseconds: 100)
            #expect(await loop.run { log.value } == ["earlier", "moved"])
        }
    }

    private final class Repeating: LoopDeadline {
        var work: () -> Void = {}

        override func deadlineDidPass() { work() }
    }

    @Test func aDeadlineRepeatsWhenItsWorkSetsItAgain() async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let log = OnLoop<[UInt64]>([])
            let start = time.now
            await loop.run {
                let deadline = Repeating()
                deadline.work = { [unowned deadline] in
                    log.value.append(loop.now.nanoseconds(since: start))
                    if log.value.count < 3 { loop.schedule(deadline, at: loop.now.advanced(byNanoseconds: 10)) }
                }
                loop.schedule(deadline, at: start.advanced(byNanoseconds: 10))
            }
            time.advance(byNanoseconds: 1000)
            #expect(await loop.run { log.value } == [10, 20, 30])
        }
    }

    /// The heap against a plain list, through many random insertions, moves and removals.
    @Test(arguments: 0..<8)
    func theHeapAgreesWithAList(seed: UInt64) async {
        let time = ManualTime()
        await withLoop(.manual(time)) { loop in
            let (fired, expected) = await loop.run { () -> (OnLoop<[Int]>, [Int]) in
                let fired = OnLoop<[Int]>([])
                var random = Random(seed)
                var model: [(id: Int, time: UInt64, order: Int)] = []
                var timers: [Int: LoopTimer] = [:]
                for step in 0..<2000 {
                    let delay = random.next() % 500 + 1
                    let at = time.now.advanced(byNanoseconds: delay)
                    let pick = model.isEmpty ? nil : Int(random.next() % UInt64(model.count))
                    switch (random.next() % 4, pick) {
                    case (0, let pick?):
                        timers.removeValue(forKey: model.remove(at: pick).id)?.cancel()
                    case (1, let pick?):
                        model[pick].time = delay
                        model[pick].order = step
                        if let timer = timers[model[pick].id] { loop.schedule(timer, at: at) }
                    case _:
                        timers[step] = loop.schedule(at: at) { fired.value.append(step) }
                        model.append((step, delay, step))
                    }
                }
                return (fired, model.sorted { ($0.time, $0.order) < ($1.time, $1.order) }.map(\.id))
            }
            time.advance(byNanoseconds: 500)
            #expect(await loop.run { fired.value } == expected)
            #expect(expected.count > 400)
        }
    }
}

/// A small generator whose sequence its seed decides.
struct Random: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
