import Foundation

/// Reports a task's end for the sinks.
extension TaskEngine {
    func reportEnd(
        _ error: (any Error)?, to recipient: EndRecipient, result: () -> Void, last: (URLResponse?) -> Void
    ) {
        let response = task.loadDidFinish(error, completes: delegates == nil || recipient != .delegate)
        if error == nil { result() }
        task.loadDidEnd(error)
        if let delegates { reportMetrics(error, delegates, recipient) }
        last(response)
        // Otherwise after the last report, on the delegate queue.
        if delegates == nil, recipient != .handler { task.releaseResources() }
        core.finished(task, error)
    }

    private func reportMetrics(_ error: (any Error)?, _ delegates: TaskDelegates, _ recipient: EndRecipient) {
        core.mailbox.postEnd(of: task, isFirst: recipient == .delegate) { [session, task, metrics] in
            task.settle(error, heedsCancellation: true)
            delegates.didCollect(metrics, session, task)
            if recipient == .caller { task.releaseResources() }
        }
    }

    func reportEndToHandler(_ call: @escaping @Sendable () -> Void) {
        core.mailbox.post { [task] in
            call()
            task.releaseResources()
        }
    }

    func reportEndToDelegate(_ error: (any Error)?) {
        guard let delegates else { return }
        core.mailbox.postEnd(of: task) { [session, task] in
            delegates.didComplete(task.settle(error, heedsCancellation: true), session, task)
            task.releaseResources()
        }
    }

    func resume<Value: Sendable>(_ continuation: LoopContinuation<Value>, with result: Result<Value, any Error>) {
        guard delegates != nil else { return continuation.resume(with: result, from: loop) }
        core.mailbox.postEnd(of: task) { continuation.resume(with: result) }
    }
}
