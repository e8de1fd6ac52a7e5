import Synchronization

/// What servers may send to the process's HTTP/2 streams in advance of their readers, over all connections: a window that was
/// granted cannot be taken back, and what comes within it is held for a reader that has stopped.
///
/// Each stream has ``BandwidthEstimator/initialStream`` beside this, so that it goes on where nothing is left.
final class WindowBudget: Sendable {
    static let shared = WindowBudget()

    private let taken = Atomic<Int>(0)

    /// Takes what is wanted, but no more than half of what is left below `limit`: the streams that come later have a share,
    /// too.
    ///
    /// - Returns: how much was taken, in bytes.
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

/// The windows of one connection's streams beyond what each has at first.
struct ConnectionWindows {
    /// What the streams of all connections may have together, in bytes.
    private let limit: Int
    private let budget: WindowBudget
    /// What this connection's streams have.
    private(set) var taken = 0

    init(limit: Int, _ budget: WindowBudget = .shared) {
        self.limit = max(0, limit)
        self.budget = budget
    }

    /// One connection gets half of what there is at most.
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
