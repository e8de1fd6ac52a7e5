import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Calls for a delegate queue, in order: one hop to the queue drains all that waits, so that a burst costs one hop.
package final class DelegateMailbox: Sendable {
    private struct State {
        var calls = Deque<@Sendable () -> Void>()
        var isScheduled = false
    }

    private let state = Guarded(State())
    let loop: EventLoop
    private let madeQueue: Guarded<OperationQueue?>

    /// - Parameter queue: nil: a serial queue of the session's own, made when there is something for it.
    init(_ queue: OperationQueue?, _ loop: EventLoop) {
        madeQueue = Guarded(queue)
        self.loop = loop
    }

    var queue: OperationQueue {
        madeQueue.withLock { made in
            let queue = made ?? Self.serialQueue()
            made = queue
            return queue
        }
    }

    private static func serialQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.name = "LoadingKit.URLSession.delegate"
        return queue
    }

    /// Runs `call` on the queue, after those posted before it. The queue is told at the end of the loop's turn, when
    /// there may be more for it.
    package func post(_ call: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state -> Bool in
            state.calls.append(call)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        guard isFirst else { return }
        if loop.isCurrent { loop.atEndOfTurn { self.tellQueue() } } else { tellQueue() }
    }

    private func tellQueue() { queue.addOperation { self.drain() } }

    /// Calls one at a time, so that what a call posts keeps its place behind those that wait.
    private func drain() {
        while let call = next() { call() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            if let call = state.calls.popFirst() { return call }
            state.isScheduled = false
            return nil
        }
    }
}
