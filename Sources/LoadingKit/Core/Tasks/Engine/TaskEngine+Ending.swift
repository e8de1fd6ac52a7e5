import Foundation

/// Reports a task's end for the sinks.
extension TaskEngine {
    /// The error with the steps of the load. A program's own error, and the program's cancellation, have none.
    ///
    /// - Parameter source: the error as the load has reported it.
    func recorded(_ error: any Error, from source: any Error) -> any Error {
        guard let failure = error as? URLError, !source.isCancellation, !source.isURLErrorOfProgram else {
            return error
        }
        let request = task.currentRequest
        let title = "\(request?.httpMethod ?? "GET") \(request?.url.map { ShownURL.origin($0) } ?? "")"
        return failure.adding(core.events.loadRecord(ofTask: task.identifier, title: title))
    }

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

extension Error {
    private var ofHandler: (any Error)? { (self as? HandlerError)?.error }

    /// Whether the program has cancelled the load, rather than an answer to a challenge.
    fileprivate var isCancellation: Bool {
        let error = ofHandler ?? self
        return error is CancellationError || (error as? URLError)?.code == .cancelled
    }

    /// Whether it is an error that a handler of the program has made. One that it passes on has a URL.
    fileprivate var isURLErrorOfProgram: Bool {
        (ofHandler as? URLError).map { $0.userInfo[NSURLErrorFailingURLErrorKey] == nil } ?? false
    }
}
