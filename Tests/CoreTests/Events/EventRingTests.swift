import LoadingKitPrimitives
import LoadingKitTransport
import Testing

@testable import LoadingKitCore

/// The memory for a session's last events.
@Suite struct EventRingTests {
    private static let full = EventRing.largestCapacity

    private static func record(_ number: Int) -> SessionEventRecord {
        SessionEventRecord(
            time: MonotonicTime(nanoseconds: UInt64(number)), task: Int32(number), event: .responded(status: 200))
    }

    @Test func recordsFitIntoTheirBound() {
        #expect(MemoryLayout<SessionEventRecord>.stride <= 64)
        #expect(Self.full * MemoryLayout<SessionEventRecord>.stride <= 65_536)
    }

    @Test(
        arguments: [
            (0, 0), (1, 16), (16, 16), (17, 32), (full / 2, nil), (full - 1, full), (full, full), (full + 1, full),
            (2 * full - 1, full), (2 * full, full), (2 * full + 1, full), (7 * full + 3, full),
        ] as [(Int, Int?)])
    func theLastEventsAreKeptInOrder(count: Int, capacity: Int?) {
        var ring = EventRing()
        for number in 0..<count { ring.append(Self.record(number)) }
        #expect(ring.records.map { Int($0.task) } == Array(max(0, count - Self.full)..<count))
        #expect(ring.count == min(count, Self.full))
        if let capacity { #expect(ring.capacity == capacity) }
    }

    @Test(arguments: [true, false])
    func aSessionKeepsEventsIfItIsToldTo(records: Bool) throws {
        let loop = EventLoop(name: "events", time: .manual(ManualTime()))
        defer { loop.stop() }
        let events = SessionEvents(SessionIdentity(), loop, keepsEvents: records, logger: nil)
        #expect(events.size == 0)
        events.note(.loadBegan, task: 7)
        #expect(events.records.map(\.task) == (records ? [7] : []))
        #expect((events.size > 0) == records)
    }
}
