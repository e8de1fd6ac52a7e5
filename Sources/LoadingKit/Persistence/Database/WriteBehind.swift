import LoadingKitPrimitives
import LoadingKitTransport

/// Writes changes to the disk in order, on the blocking pool, one batch of several changes at a time.
final class WriteBehind<Change: Sendable>: Sendable {
    private struct State {
        var waiting: [Change] = []
        var waiters: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    private let state = Guarded(State())
    /// Held by the thread that writes a batch. A caller that needs the batch to be written does not depend on a free
    /// thread of the pool.
    private let turn = Guarded(())
    private let write: @Sendable ([Change]) -> [Change]

    /// - Parameter write: Writes a batch, and returns the changes to retry with the next one. May block.
    init(_ write: @escaping @Sendable ([Change]) -> [Change]) { self.write = write }

    /// The failed changes that are retried. Their number is limited, as the disk may be broken for long.
    static func kept(_ changes: [Change]) -> [Change] { Array(changes.suffix(10_000)) }

    /// Whether no changes wait.
    var isEmpty: Bool { state.withLock { $0.waiting.isEmpty } }

    func add(_ changes: [Change]) { schedule { $0.waiting += changes } }

    /// Calls back after all earlier changes were written, or writing them was attempted.
    func flush(_ completion: @escaping @Sendable () -> Void) { schedule { $0.waiters.append(completion) } }

    private func schedule(_ body: (inout State) -> Void) {
        let begins = state.withLock { state in
            body(&state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if begins { BlockingPool.shared.run { self.drain() } }
    }

    /// Writes the waiting changes. Returns after all earlier changes are written. Blocks.
    func drain() {
        let waiters = turn.withLock { _ in
            let (batch, waiters) = state.withLock { state in
                defer { state = State() }
                return (state.waiting, state.waiters)
            }
            let left = batch.isEmpty ? [] : write(batch)
            state.withLock { $0.waiting.insert(contentsOf: left, at: 0) }
            return waiters
        }
        for waiter in waiters { waiter() }
    }
}
