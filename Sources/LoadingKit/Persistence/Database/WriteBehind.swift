import LoadingKitPrimitives
import LoadingKitTransport

/// Changes on their way to the disk: many together, in order, one batch at a time, on the blocking pool.
final class WriteBehind<Change: Sendable>: Sendable {
    private struct State {
        var waiting: [Change] = []
        var waiters: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    private let state = Guarded(State())
    /// Held by the thread that writes a batch: a caller that needs it written does not depend on a free thread of the pool.
    private let turn = Guarded(())
    private let write: @Sendable ([Change]) -> [Change]

    /// - Parameter write: Writes a batch, and gives back what is to be tried again with the next one. May block.
    init(_ write: @escaping @Sendable ([Change]) -> [Change]) { self.write = write }

    /// What of changes that could not be written is tried again: not more than memory is to hold for a broken disk.
    static func kept(_ changes: [Change]) -> [Change] { Array(changes.suffix(10_000)) }

    func add(_ changes: [Change]) {
        schedule { $0.waiting += changes }
    }

    /// Calls back when all that was added was written, or was tried to be.
    func flush(_ completion: @escaping @Sendable () -> Void) {
        schedule { $0.waiters.append(completion) }
    }

    private func schedule(_ body: (inout State) -> Void) {
        let begins = state.withLock { state in
            body(&state)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if begins { BlockingPool.shared.run { self.drain() } }
    }

    /// Writes what waits. Returns when all that was added before is written. Blocks.
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
