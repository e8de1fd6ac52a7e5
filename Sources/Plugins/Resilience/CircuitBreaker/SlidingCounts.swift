import Foundation

/// The numbers of successful and failed calls in the last seconds: in ten slots, of which the oldest are removed with
/// time.
struct SlidingCounts: Sendable, Hashable {
    private struct Slot: Hashable {
        var number = Int.min
        var successes = 0
        var failures = 0
    }

    private static let slotCount = 10
    private let slotLength: TimeInterval
    private var slots = [Slot](repeating: Slot(), count: slotCount)

    /// - Parameter window: the length in seconds.
    init(window: TimeInterval) { slotLength = window.bounded(0.001, 1e9) / Double(Self.slotCount) }

    mutating func record(isFailure: Bool, at now: TimeInterval) {
        let number = number(at: now)
        let index = number % Self.slotCount
        if slots[index].number != number { slots[index] = Slot(number: number) }
        if isFailure { slots[index].failures &+= 1 } else { slots[index].successes &+= 1 }
    }

    /// The number of calls within the window, and the number of those that failed.
    func counts(at now: TimeInterval) -> (calls: Int, failures: Int) {
        let latest = number(at: now)
        let current = slots.filter { $0.number > latest - Self.slotCount && $0.number <= latest }
        let failures = current.reduce(0) { $0 &+ $1.failures }
        return (current.reduce(failures) { $0 &+ $1.successes }, failures)
    }

    private func number(at now: TimeInterval) -> Int { Int((now / slotLength).bounded(0, 1e15)) }
}
