import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

extension URLSessionTask {
    /// The state that any thread may read. The task's engine writes it, and the program through the setters below.
    struct Shared {
        /// The values that are released when the task has ended.
        struct Held {
            let session: URLSession?
            let delegate: (any URLSessionTaskDelegate)?
            let consumer: TaskConsumer?
            /// The requests, with their bodies.
            let requests: (URLRequest?, URLRequest?)
            let begunRequest: URLRequest?
            /// The stream that the delegate has supplied.
            let stream: InputStream?
        }

        var lifecycle = TaskLifecycle()
        /// The session that the task belongs to; nil after the task's end, and for a task made with ``init()``.
        var session: URLSession?
        /// The recipient of the loaded data, until the load starts. Nil where an asynchronous caller supplies it later;
        /// the caller then always gets the task's end.
        var consumer: TaskConsumer?
        var originalRequest: URLRequest?
        /// The request with which the delegate has replaced the original one when the task's date had come.
        var begunRequest: URLRequest?
        /// The request with which the task begins, before redirects.
        var firstRequest: URLRequest? { begunRequest ?? originalRequest }
        /// Nil where it is the original request's URL.
        var firstURL: URL?
        var currentRequest: URLRequest?
        /// The request in its handler's standard form, while the handler is being made.
        var handlersRequest: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var delegate: (any URLSessionTaskDelegate)?
        var priority = URLSessionTask.defaultPriority
        /// Nil where the program has not set it.
        var prefersIncrementalDelivery: Bool?
        var taskDescription: String?
        var earliestBeginDate: Date?
        var expectedToSend: Int64 = 0
        var expectedToReceive = NSURLSessionTransferSizeUnknown
        var clientExpectsToSend = NSURLSessionTransferSizeUnknown
        var clientExpectsToReceive = NSURLSessionTransferSizeUnknown
        var progress: Progress?
        var progressUpdate = ProgressUpdate.none
        /// Whether one of the task's suspensions is that of its paused progress.
        var isPausedByProgress = false
        /// Whether a thread is about to resume the progress, because the program has resumed the task itself.
        var isResumingProgress = false
        /// The task that has replaced this one: the program's calls on this task apply to the successor.
        var successor: URLSessionTask?
        /// Whether the delegate still has to answer about the stored response. Until then nothing else is reported to
        /// it.
        var awaitsCacheAnswer = false

        /// The delegate's calls that may be made, unless another task has replaced this one.
        var delivery: MailboxDelivery {
            if lifecycle.wasCancelled { return .endsOnly }
            return lifecycle.state == .suspended || awaitsCacheAnswer ? .waits : .goesOn
        }

        /// Takes the values that an ended task does not keep. A body that the program set in the request remains in
        /// ``originalRequest``. An upload's separate body, and a stream from the delegate, do not remain.
        mutating func takeWhatIsHeld(withBody: Bool) -> LoopTransfer<Held> {
            let current = currentRequest?.httpBodyStream
            let stream = current === originalRequest?.httpBodyStream ? nil : current
            let held = LoopTransfer(
                Held(
                    session: session, delegate: delegate, consumer: consumer,
                    requests: withBody ? (originalRequest, currentRequest) : (nil, nil), begunRequest: begunRequest,
                    stream: stream))
            (session, delegate, consumer, begunRequest) = (nil, nil, nil, nil)
            if withBody {
                originalRequest?.removeUploadedBody()
                currentRequest?.removeUploadedBody()
            }
            if stream != nil { currentRequest?.httpBodyStream = nil }
            return held
        }

        /// The task has failed or succeeded. Returns whether it had not ended before, and the error that the program
        /// had set: the caller releases it after the lock.
        mutating func complete(
            _ error: (any Error)?, heedsCancellation: Bool
        ) -> (isFirst: Bool, former: (any Error)?) {
            guard lifecycle.state != .completed else { return (false, nil) }
            let wasCancelled = heedsCancellation && error == nil && lifecycle.wasCancelled
            let ending: (any Error)? =
                wasCancelled ? URLError(URLError(.cancelled), url: currentRequest?.url) : error
            let former = exchange(&self.error, for: ending)
            lifecycle.complete()
            return (true, former)
        }

        mutating func settleExpectedToReceive(_ received: Int64) {
            if expectedToReceive < 0 { expectedToReceive = received }
        }

        /// The number of bytes to send and to receive, as far as it is known or estimated; -1 where neither is.
        func totalBytes(sent: Int64, done: Int64) -> Int64 {
            if lifecycle.state == .completed, error == nil { return done }
            // By the time of the response a body of unknown size has been sent.
            let unknownToSend = response == nil ? clientExpectsToSend : sent
            let toSend = max(expectedToSend < 0 ? unknownToSend : expectedToSend, 0)
            let toReceive = expectedToReceive < 0 ? clientExpectsToReceive : expectedToReceive
            if toReceive >= 0 { return max(toSend &+ toReceive, done) }
            // While a body is sent, only the sending has progress.
            return response == nil && toSend > 0 ? max(toSend, done) : NSURLSessionTransferSizeUnknown
        }
    }
}

extension URLRequest {
    fileprivate mutating func removeUploadedBody() {
        if httpBody != nil { httpBody = nil }
        if bodyFile != nil { bodyFile = nil }
    }
}
