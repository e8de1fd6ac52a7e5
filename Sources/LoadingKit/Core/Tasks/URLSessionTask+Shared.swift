import Foundation
import LoadingKitTransport

extension URLSessionTask {
    /// What any thread may read; written by the task's engine, and by the program through the setters below.
    struct Shared {
        /// What goes when the task is over.
        struct Held {
            let session: URLSession?
            let delegate: (any URLSessionTaskDelegate)?
            let consumer: TaskConsumer?
            /// With their bodies.
            let requests: (URLRequest?, URLRequest?)
        }

        var lifecycle = TaskLifecycle()
        /// The session that the task belongs to, until the task is over; nil for a task made with ``init()``.
        var session: URLSession?
        /// What gets what is loaded, until the load begins; nil where an asynchronous caller comes with it, and then learns
        /// of the task's end in any case.
        var consumer: TaskConsumer?
        var originalRequest: URLRequest?
        /// Nil where it is the original request's.
        var firstURL: URL?
        var currentRequest: URLRequest?
        var response: URLResponse?
        var error: (any Error)?
        var delegate: (any URLSessionTaskDelegate)?
        var priority = URLSessionTask.defaultPriority
        /// Nil where the program has not said.
        var prefersIncrementalDelivery: Bool?
        var taskDescription: String?
        var earliestBeginDate: Date?
        var expectedToSend = NSURLSessionTransferSizeUnknown
        var expectedToReceive = NSURLSessionTransferSizeUnknown
        var clientExpectsToSend = NSURLSessionTransferSizeUnknown
        var clientExpectsToReceive = NSURLSessionTransferSizeUnknown
        var progress: Progress?
        /// The task that goes on in this one's place: what the program does to this one is done to that.
        var successor: URLSessionTask?
        /// Whether the delegate has to answer what is stored of the response. Nothing else is reported to it before.
        var awaitsCacheAnswer = false

        /// Takes what a task that is over does not keep. A body that the program put into the request stays a part of
        /// ``originalRequest``; an upload's was given beside it, and a stream of the delegate's after it.
        mutating func takeWhatIsHeld(withBody: Bool) -> LoopTransfer<Held> {
            let held = LoopTransfer(
                Held(
                    session: session, delegate: delegate, consumer: consumer,
                    requests: withBody ? (originalRequest, currentRequest) : (nil, nil)))
            (session, delegate, consumer) = (nil, nil, nil)
            if withBody {
                originalRequest?.removeUploadedBody()
                currentRequest?.removeUploadedBody()
            }
            if let stream = currentRequest?.httpBodyStream, stream !== originalRequest?.httpBodyStream {
                currentRequest?.httpBodyStream = nil
            }
            return held
        }

        /// The task has failed or succeeded; false where it had before.
        mutating func complete(_ error: (any Error)?, heedsCancellation: Bool) -> Bool {
            guard lifecycle.state != .completed else { return false }
            let wasCancelled = heedsCancellation && error == nil && lifecycle.wasCancelled
            self.error = wasCancelled ? URLError(URLError(.cancelled), url: currentRequest?.url) : error
            lifecycle.complete()
            return true
        }

        mutating func settleExpectedToReceive(_ received: Int64) {
            if expectedToReceive < 0 { expectedToReceive = received }
        }

        /// What there is to send and to receive, as far as it is known or guessed; -1 where neither is.
        func totalBytes(sent: Int64, done: Int64) -> Int64 {
            if lifecycle.state == .completed, error == nil { return done }
            // By the time of the response a body of unknown size is sent.
            let unknownToSend = response == nil ? clientExpectsToSend : sent
            let toSend = max(expectedToSend < 0 ? unknownToSend : expectedToSend, 0)
            let toReceive = expectedToReceive < 0 ? clientExpectsToReceive : expectedToReceive
            if toReceive >= 0 { return max(toSend &+ toReceive, done) }
            // While a body is sent, that is what there is to see.
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
