import Synchronization

/// The bytes that servers may send to the process's HTTP/2 streams in advance of their readers, over all connections,
/// beyond each stream's ``BandwidthEstimator/initialStream``. A granted window cannot be taken back, and the bytes
/// within it are held for a reader that has stopped.
package final class WindowBudget: Sendable {
    package static let shared = WindowBudget()

    private let taken = Atomic<Int>(0)

    /// The bytes that are taken: none where there is no connection.
    package var count: Int { taken.load(ordering: .relaxed) }

    /// Takes at most half of the rest below `limit`, so that later streams have a share, too.
    ///
    /// - Returns: the number of bytes that were taken.
    func take(_ wanted: Int, limit: Int) -> Int {
        var current = taken.load(ordering: .relaxed)
        while true {
            let granted = min(wanted, (limit - current) / 2)
            guard granted > 0 else { return 0 }
            let result = taken.weakCompareExchange(
                expected: current, desired: current + granted, ordering: .relaxed)
            if result.exchanged { return granted }
            current = result.original
        }
    }

    func giveBack(_ count: Int) { taken.wrappingSubtract(count, ordering: .relaxed) }
}

/// The windows of one connection's streams, beyond each stream's initial window.
struct ConnectionWindows {
    /// The limit for all connections together, in bytes.
    private let limit: Int
    private let budget: WindowBudget
    private(set) var taken = 0

    init(limit: Int, _ budget: WindowBudget = .shared) {
        self.limit = max(0, limit)
        self.budget = budget
    }

    /// Takes bytes from the budget. One connection gets at most half of it.
    mutating func take(_ wanted: Int) -> Int {
        let granted = budget.take(min(wanted, limit / 2 - taken), limit: limit)
        taken += granted
        return granted
    }

    mutating func giveBack(_ count: Int) {
        guard count > 0 else { return }
        taken -= count
        budget.giveBack(count)
    }
}
