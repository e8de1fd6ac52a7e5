import Foundation
import LoadingKit
import LoadingKitTesting
import TestSupport
import Testing

@Suite struct DelayTests {
    private func stubs(_ clock: ManualClock) -> StubSet {
        var options = StubSet.Options()
        options.clock = clock
        return StubSet(options: options)
    }

    @Test func delaysGoByTheClock() async throws {
        let clock = ManualClock()
        let stubs = stubs(clock)
        stubs.add(always: .slow(Data("abcd".utf8), bytes: 3, every: .seconds(10)).delayed(.seconds(60)))
        let session = stubs.session()
        async let loaded = session.data(from: url("http://a.test/"))
        await clock.waitForSleepers()
        clock.advance(by: .seconds(59))
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        for _ in 0..<2 {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(10))
        }
        let (data, response) = try await loaded
        #expect(data == Data("abcd".utf8))
        #expect(response.expectedContentLength == 4)
        #expect(clock.now.offset == .seconds(80))
    }

    @Test func aCancelledDelayEnds() async throws {
        let clock = ManualClock()
        let stubs = stubs(clock)
        stubs.add(.path("/head"), always: .text("x").delayed(.seconds(1)))
        stubs.add(.path("/body"), always: .pieces([Data("x".utf8)], delay: .seconds(1)))
        let session = stubs.session()
        for path in ["head", "body"] {
            let task = Task { try await session.data(from: url("http://a.test/\(path)")) }
            await clock.waitForSleepers()
            task.cancel()
            let error = await failure { _ = try await task.value }
            #expect((error as? URLError)?.code == .cancelled)
        }
        // The handlers' tasks end on their own; nothing but their cancellation wakes them.
        try await withTimeout { try await waitUntil { clock.sleepers == 0 } }
        #expect(stubs.requests.count == 2)
    }

    @Test func theClockWakesTheEarliestFirst() async throws {
        let clock = ManualClock()
        let texts = Texts()
        let tasks = [3, 1, 2].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                texts.append("\(seconds)")
            }
        }
        await clock.waitForSleepers(3)
        for task in [1, 2, 0] {
            clock.advance(by: .seconds(1))
            try await tasks[task].value
        }
        #expect(texts.all == ["1", "2", "3"])
        try await clock.sleep(for: .zero)
        let cancelled = Task { try await clock.sleep(for: .seconds(1)) }
        cancelled.cancel()
        #expect(await failure { try await cancelled.value } is CancellationError)
        #expect(clock.sleepers == 0)
    }
}
