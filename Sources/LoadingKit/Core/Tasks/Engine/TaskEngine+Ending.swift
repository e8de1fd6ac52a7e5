import Foundation

/// Reports a task's end for the sinks.
extension TaskEngine {
    /// Completes the task and reports its end, on behalf of the sink.
    ///
    /// - Parameters:
    ///   - result: reports the task's result, before the metrics.
    ///   - last: reports the end, with the task's response.
    func reportEnd(
        _ error: (any Error)?, to recipient: EndRecipient, result: () -> Void = {}, last: (URLResponse?) -> Void
    ) {
        let response = task.loadDidFinish(error, completes: delegates == nil || recipient != .delegate)
        if error == nil { result() }
        task.loadDidEnd(error)
        if let delegates { reportMetrics(error, delegates, recipient) }
        last(response)
        // Otherwise after the last report, on the delegate queue.
        if delegates == nil, recipient != .handler { task.releaseResources() }
        core.finished(task)
    }

    private func reportMetrics(_ error: (any Error)?, _ delegates: TaskDelegates, _ recipient: EndRecipient) {
        core.mailbox.postEnd(of: task, isFirst: recipient == .delegate) { [session, task, metrics] in
            task.settle(error, heedsCancellation: true)
            delegates.didCollect(metrics, session, task)
            if recipient == .caller { task.releaseResources() }
        }
    }

    /// Reports the end to the delegate, as the last call.
    func reportEndToDelegate(_ error: (any Error)?) {
        guard let delegates else { return }
        core.mailbox.postEnd(of: task) { [session, task] in
            delegates.didComplete(task.settle(error, heedsCancellation: true), session, task)
            task.releaseResources()
        }
    }

    /// Resumes an asynchronous caller, after the delegate, if there is one, has received all earlier events.
    func resume<Value: Sendable>(_ continuation: LoopContinuation<Value>, with result: Result<Value, any Error>) {
        guard delegates != nil else { return continuation.resume(with: result, from: loop) }
        core.mailbox.postEnd(of: task) { continuation.resume(with: result) }
    }
}
