import Foundation
import Synchronization

/// The loads' ends, and the times that they took.
final class SoakLedger: Sendable {
    private struct State {
        var running: [Int: (kind: String, start: ContinuousClock.Instant)] = [:]
        var number = 0
        var latencies: [String: Latencies] = [:]
        /// The failures that were expected, by kind and code.
        var failures: [String: Int] = [:]
        var faults: [String: Int] = [:]
    }

    /// Times in classes whose bounds differ by an eighth.
    struct Latencies {
        private var counts: [Int: Int] = [:]
        private(set) var count = 0

        mutating func add(_ seconds: Double) {
            counts[Int((log2(max(seconds, 1e-6)) * 6).rounded(.up)), default: 0] += 1
            count += 1
        }

        /// In milliseconds.
        func percentile(_ share: Double) -> Double {
            var left = Int((Double(count) * share).rounded(.up))
            for (key, count) in counts.sorted(by: { $0.key < $1.key }) {
                left -= count
                if left <= 0 { return exp2(Double(key) / 6) * 1000 }
            }
            return 0
        }
    }

    private let state = Mutex(State())
    /// The longest time of a load, in seconds, that does not count as one that never ends.
    private static let longest = 150.0

    func begin(_ kind: String) -> Int {
        state.withLock { state in
            state.number += 1
            state.running[state.number] = (kind, .now)
            return state.number
        }
    }

    /// - Parameter failure: a failure that the load may end with; nil for success.
    func end(_ number: Int, expected failure: String? = nil) {
        state.withLock { state in
            guard let (kind, start) = state.running.removeValue(forKey: number) else {
                state.faults["a load ended twice", default: 0] += 1
                return
            }
            if let failure { return state.failures["\(kind): \(failure)", default: 0] += 1 }
            let time = (ContinuousClock.now - start) / Duration.seconds(1)
            state.latencies[kind, default: Latencies()].add(time)
        }
    }

    func end(_ number: Int, fault: String) {
        end(number, expected: "wrong")
        state.withLock { $0.faults[fault, default: 0] += 1 }
    }

    func note(fault: String) { state.withLock { $0.faults[fault, default: 0] += 1 } }

    var count: Int { state.withLock { $0.number } }

    /// Records the loads that should have ended long ago as faults.
    func findHanging() {
        state.withLock { state in
            let limit = ContinuousClock.now - .seconds(Self.longest)
            for (number, load) in state.running where load.start < limit {
                state.running[number] = nil
                state.faults["\(load.kind): does not end", default: 0] += 1
            }
        }
    }

    var report: [String: Any] {
        state.withLock { state in
            [
                "loads": state.number, "failures": state.failures, "faults": state.faults,
                "latencies": state.latencies.mapValues { times in
                    [Double(times.count)] + [0.5, 0.99, 0.999, 1].map { times.percentile($0) }
                },
            ]
        }
    }

    var faults: [String: Int] { state.withLock { $0.faults } }
}
