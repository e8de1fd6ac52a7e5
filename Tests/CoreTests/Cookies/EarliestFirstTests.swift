import Foundation
import LoadingKitPrimitives
import TestSupport
import Testing

@testable import LoadingKitCore

@Suite struct EarliestFirstTests {
    /// Counts how often times are compared.
    private struct Time: Comparable, Sendable {
        static let comparisons = Guarded(0)
        let value: Int

        static func < (a: Time, b: Time) -> Bool {
            comparisons.withLock { $0 += 1 }
            return a.value < b.value
        }
    }

    @Test func orderAndReplacing() {
        var random = SeededGenerator(seed: 15)
        var queue = EarliestFirst<Int, Int>()
        let times = (0..<500).map { $0 % 300 }.shuffled(using: &random)
        for (key, time) in times.enumerated() { queue.insert(key, at: time) }
        var popped: [Int] = []
        while let (key, time) = queue.popDue(250) {
            #expect(times[key] == time)
            popped.append(time)
        }
        #expect(popped == times.filter { $0 <= 250 }.sorted() && queue.count == 500 - popped.count)
        queue.replaceAll(with: [(key: 1, time: 7)])
        #expect(queue.popDue(6) == nil && queue.popDue(7)?.key == 1 && queue.count == 0)
    }

    /// Ten times as many ends, each of which comes on its own, cost ten times as much, and the logarithm.
    @Test func growth() {
        func comparisons(_ count: Int) -> Int {
            Time.comparisons.withLock { $0 = 0 }
            var random = SeededGenerator(seed: 15)
            var queue = EarliestFirst<Time, Int>()
            for time in (0..<count).shuffled(using: &random) { queue.insert(time, at: Time(value: time)) }
            for time in 0..<count { while queue.popDue(Time(value: time)) != nil {} }
            return Time.comparisons.withLock { $0 }
        }
        let (few, many) = (comparisons(300), comparisons(3000))
        #expect(many < 16 * few, "\(few) \(many)")
    }

    /// A cookie that is set again and again leaves no ends behind without bound, and is removed at its last.
    @Test func cookiesThatAreSetAgain() {
        var jar = CookieJar()
        let start = Date(timeIntervalSinceReferenceDate: 0)
        func cookie(_ name: String, _ end: Double, _ value: String = "") -> CookieRecord {
            var record = CookieRecord(
                identity: .init(name: name, domain: "h.example", isHostOnly: true, path: "/"), value: value,
                creation: start)
            record.expires = start.addingTimeInterval(end)
            return record
        }
        for index in 0..<1000 { _ = jar.store(cookie("a", 10 + Double(index), "\(index)"), at: start) }
        #expect(jar.endCount < 100)
        _ = jar.store(cookie("b", 5000), at: start.addingTimeInterval(1008))
        #expect(jar.count == 2)
        let changes = jar.store(cookie("c", 5000), at: start.addingTimeInterval(1009))
        #expect(jar.count == 2 && changes.count == 2 && jar.endCount == 2)
    }
}
