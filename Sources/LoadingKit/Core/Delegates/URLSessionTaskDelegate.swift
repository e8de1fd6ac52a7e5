import Foundation

/// Receives the events of tasks of every kind.
///
/// A method that a task's own delegate does not implement is called on the session's delegate.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// The task was created. Called on the thread that creates it, before the creating method returns, and not on the
    /// delegate queue: the delegate can configure the task here, whichever part of the program created it.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A task with an `earliestBeginDate` is about to start. The answer decides whether it starts, and may replace the
    /// request: an upload task sends its own body with a new request that has none. Default: it starts.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:willBeginDelayedRequest:completionHandler:)``.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// No network leads to the server, and the task waits for one (`waitsForConnectivity`). Called at most once for
    /// each task.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server has sent an interim response before the final one: 103 (Early Hints) and others of the 1xx class
    /// (RFC 9110 §15.2). While 64 of them wait for a delegate that is busy, further ones are not reported.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)

    /// The server redirects to `request`. Answer with the request to load, changed or not, or nil to receive the
    /// redirect response itself. Default: the redirect is followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)``.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server requires credentials. Where they concern a connection, the session's delegate was called before and
    /// left the challenge to the task's delegate.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:didReceive:completionHandler:)``.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The request's body must be sent again, and was a stream: after a redirect or a challenge, or because the
    /// connection was lost and the request may be sent again (<doc:LifeOfARequest>). Answer with a new stream, or nil
    /// to fail the task.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:needNewBodyStream:)``.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// An upload from a stream is resumed: answer with a stream that begins at byte `offset` of the body, or nil to
    /// fail the task. See <doc:ResumableUploads>.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:needNewBodyStreamFrom:completionHandler:)``.
    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream?

    /// Bytes of the request's body were sent. The expected total is -1 when it is not known. A busy delegate is later
    /// told in one call of all bytes that were sent meanwhile.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// The task has ended, with these metrics. Called before `didCompleteWithError`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The task has ended. The error is nil when it succeeded; a response with an error status is a success.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        session.delegate(after: self)?.urlSession(session, didCreateTask: task)
    }

    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, starts the task.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) else { return completionHandler(.continueLoading, nil) }
            next.urlSession(
                session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
        }
        guard AsynchronousForm.mayExist(.delayedRequest, of: self) else { return passOn() }
        requestAnswer(
            .delayedRequest, session,
            { await self.urlSession(session, task: task, willBeginDelayedRequest: request) },
            answer: { completionHandler($0.0, $0.1) }, otherwise: passOn)
    }

    /// Gives the same answer as ``urlSession(_:task:willBeginDelayedRequest:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        await AsynchronousForm.byDefault(.delayedRequest, of: self, placeholder: (.cancel, nil)) { answer in
            urlSession(session, task: task, willBeginDelayedRequest: request) { answer(($0, $1)) }
        }
    }

    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        session.delegate(after: self)?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        session.delegate(after: self)?.urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, follows the
    /// redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) else { return completionHandler(request) }
            next.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: completionHandler)
        }
        guard AsynchronousForm.mayExist(.redirection, of: self) else { return passOn() }
        requestAnswer(
            .redirection, session,
            {
                await self.urlSession(
                    session, task: task, willPerformHTTPRedirection: response, newRequest: request)
            }, answer: completionHandler, otherwise: passOn)
    }

    /// Gives the same answer as ``urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await AsynchronousForm.byDefault(.redirection, of: self, placeholder: nil) {
            urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request, completionHandler: $0)
        }
    }

    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, uses default
    /// handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
        }
        guard AsynchronousForm.mayExist(.taskChallenge, of: self) else { return passOn() }
        requestAnswer(
            .taskChallenge, session, { await self.urlSession(session, task: task, didReceive: challenge) },
            answer: { completionHandler($0.0, $0.1) }, otherwise: passOn)
    }

    /// Gives the same answer as ``urlSession(_:task:didReceive:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await AsynchronousForm.byDefault(
            .taskChallenge, of: self, placeholder: (.cancelAuthenticationChallenge, nil)
        ) { answer in
            urlSession(session, task: task, didReceive: challenge) { answer(($0, $1)) }
        }
    }

    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, there is no new
    /// stream.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) else { return completionHandler(nil) }
            next.urlSession(session, task: task, needNewBodyStream: completionHandler)
        }
        guard AsynchronousForm.mayExist(.newBodyStream, of: self) else { return passOn() }
        requestAnswer(
            .newBodyStream, session, { await self.urlSession(session, needNewBodyStreamForTask: task) },
            answer: completionHandler, otherwise: passOn)
    }

    /// Gives the same answer as ``urlSession(_:task:needNewBodyStream:)``.
    public func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask
    ) async -> InputStream? {
        await AsynchronousForm.byDefault(.newBodyStream, of: self, placeholder: nil) {
            urlSession(session, task: task, needNewBodyStream: $0)
        }
    }

    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, there is no stream.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) else { return completionHandler(nil) }
            next.urlSession(
                session, task: task, needNewBodyStreamFrom: offset, completionHandler: completionHandler)
        }
        guard AsynchronousForm.mayExist(.newBodyStreamFromOffset, of: self) else { return passOn() }
        requestAnswer(
            .newBodyStreamFromOffset, session,
            { await self.urlSession(session, needNewBodyStreamForTask: task, from: offset) },
            answer: completionHandler, otherwise: passOn)
    }

    /// Gives the same answer as ``urlSession(_:task:needNewBodyStreamFrom:completionHandler:)``.
    public func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        await AsynchronousForm.byDefault(.newBodyStreamFromOffset, of: self, placeholder: nil) {
            urlSession(session, task: task, needNewBodyStreamFrom: offset, completionHandler: $0)
        }
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        session.delegate(after: self)?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        session.delegate(after: self)?.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        session.delegate(after: self)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}
