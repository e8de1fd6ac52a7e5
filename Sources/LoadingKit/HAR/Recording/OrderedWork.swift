import LoadingKitPrimitives
import LoadingKitTransport

/// Does work that may block or take long: in its order, on a thread for such work, or on the thread of a caller that
/// waits for it.
package final class OrderedWork: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    private let state = Guarded(State())
    /// Held by the thread that does the work.
    private let turn = Guarded(())

    private let isOnDemand: Bool

    /// - Parameter isOnDemand: whether work is done by callers of ``finish()`` alone.
    package init(isOnDemand: Bool = false) { self.isOnDemand = isOnDemand }

    package func add(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.waiting.append(work)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst, !isOnDemand { BlockingPool.shared.run { self.finish() } }
    }

    /// Does the work that waits, and returns when all earlier work is done. Blocks.
    package func finish() {
        turn.withLock { _ in
            while true {
                let works = state.withLock { state in
                    defer { state.waiting = [] }
                    state.isScheduled = !state.waiting.isEmpty
                    return state.waiting
                }
                if works.isEmpty { return }
                for work in works { work() }
            }
        }
    }
}
