import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// Much work of one kind does not keep the rest of a loop waiting until all of it is done.
@Suite struct LongTurnTests {
    /// More than a turn has time for.
    private static let pieces = 300

    /// Takes a while of real time.
    private static func work() {
        let end = TimeSource.system.now.advanced(byNanoseconds: 100_000)
        while TimeSource.system.now < end {}
    }

    /// - Parameter start: gets the loop, and the work of so many pieces, and begins all of it.
    private func order(
        _ start: @escaping @Sendable (EventLoop, @escaping (Int) -> Void) -> Void
    ) async -> [String] {
        await withLoop { loop in
            let log = OnLoop<[String]>([])
            await withCheckedContinuation { continuation in
                loop.execute {
                    _ = loop.schedule(at: loop.now.advanced(byNanoseconds: 1)) { log.value.append("timer") }
                    start(loop) { number in
                        Self.work()
                        guard number == Self.pieces - 1 else { return }
                        log.value.append("pieces")
                        loop.executeLater { continuation.resume() }
                    }
                    loop.executeLater { log.value.append("work") }
                }
            }
            return await loop.run { log.value }
        }
    }

    @Test func bulkWorkIsDoneInShares() async {
        let order = await order { loop, work in
            var number = 0
            loop.executeInShares {
                work(number)
                number += 1
                return number < Self.pieces
            }
        }
        #expect(order == ["timer", "work", "pieces"])
    }

    @Test func aTurnEndsWhenItIsLong() async {
        let order = await order { loop, work in
            for number in 0..<Self.pieces { loop.executeLater { work(number) } }
        }
        #expect(order == ["timer", "pieces", "work"])
    }

    @Test func timersThatAreDueTogetherLeaveRoomForWork() async {
        let order = await order { loop, work in
            for number in 0..<Self.pieces {
                _ = loop.schedule(at: loop.now.advanced(byNanoseconds: 2)) { work(number) }
            }
        }
        #expect(order.last == "pieces")
    }

    /// Where another thread has the loop's turn.
    @Test func aThreadThatHasTheTurnGivesItBackAfterAShare() async {
        await withLoop { loop in
            let number = OnLoop(0)
            let gate = Gate()
            // The loop is idle then, so that its turn can be taken.
            _ = await loop.run {}
            try? await onThread {
                loop.perform {
                    loop.executeInShares {
                        Self.work()
                        number.value += 1
                        if number.value == Self.pieces { gate.open() }
                        return number.value < Self.pieces
                    }
                }
            }
            #expect(await gate.passed())
            #expect(await loop.run { number.value } == Self.pieces)
        }
    }
}
