import Foundation

/// Is told what happens to tasks of every kind.
///
/// What a task's own delegate does not implement is asked of the session's delegate.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// The task was made. Told on the thread that makes it, before the method that makes it returns, and not on the
    /// delegate queue: here a task can be configured, whatever part of the program made it.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A task with an `earliestBeginDate` is about to begin. Say whether it shall, or give another request for it to load.
    /// By default it begins.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:willBeginDelayedRequest:completionHandler:)``.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?)

    /// There is no network that leads to the server, and the task waits for one (`waitsForConnectivity`). Called at most
    /// once for each task.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    /// The server has sent a response before the one that answers the request: 103 (Early Hints) and others of the 1xx
    /// class (RFC 9110 §15.2).
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)

    /// The server redirects to `request`. Give the request to load instead, changed or not, or nil to have the
    /// redirect's own response. By default it is followed.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)``.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest?

    /// A server asks for credentials; where they concern a connection, the session's delegate was asked before and has
    /// no opinion.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:didReceive:completionHandler:)``.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?)

    /// The request's body must be sent again, and was a stream. Give a fresh one, or nil to fail the task.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:needNewBodyStream:)``.
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream?

    /// An upload from a stream goes on: give a stream whose first byte is that at `offset` of the body, or nil to fail the
    /// task. See <doc:ResumableUploads>.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void)

    /// The asynchronous form of ``urlSession(_:task:needNewBodyStreamFrom:completionHandler:)``.
    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream?

    /// Bytes of the request's body were sent; the expected total is -1 when it is not known.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// The task is over, and this is how it went. Called before `didCompleteWithError`.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The task is over. The error is nil when it succeeded; a server's error status is a success.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

extension URLSessionTaskDelegate {
    /// Asks the session's delegate.
    public func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
        session.delegate(after: self)?.urlSession(session, didCreateTask: task)
    }

    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, begins.
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

    /// Answers as ``urlSession(_:task:willBeginDelayedRequest:completionHandler:)`` does.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        await AsynchronousForm.byDefault(.delayedRequest, of: self, placeholder: (.cancel, nil)) { answer in
            urlSession(session, task: task, willBeginDelayedRequest: request) { answer(($0, $1)) }
        }
    }

    /// Tells the session's delegate.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        session.delegate(after: self)?.urlSession(session, taskIsWaitingForConnectivity: task)
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        session.delegate(after: self)?.urlSession(session, task: task, didReceiveInformationalResponse: response)
    }

    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, follows the redirect.
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

    /// Answers as ``urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)`` does.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        await AsynchronousForm.byDefault(.redirection, of: self, placeholder: nil) {
            urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request, completionHandler: $0)
        }
    }

    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, leaves the challenge to
    /// default handling.
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

    /// Answers as ``urlSession(_:task:didReceive:completionHandler:)`` does.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        await AsynchronousForm.byDefault(
            .taskChallenge, of: self, placeholder: (.cancelAuthenticationChallenge, nil)
        ) { answer in
            urlSession(session, task: task, didReceive: challenge) { answer(($0, $1)) }
        }
    }

    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, there is no new stream.
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

    /// Answers as ``urlSession(_:task:needNewBodyStream:)`` does.
    public func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask
    ) async -> InputStream? {
        await AsynchronousForm.byDefault(.newBodyStream, of: self, placeholder: nil) {
            urlSession(session, task: task, needNewBodyStream: $0)
        }
    }

    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, there is no stream.
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

    /// Answers as ``urlSession(_:task:needNewBodyStreamFrom:completionHandler:)`` does.
    public func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        await AsynchronousForm.byDefault(.newBodyStreamFromOffset, of: self, placeholder: nil) {
            urlSession(session, task: task, needNewBodyStreamFrom: offset, completionHandler: $0)
        }
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        session.delegate(after: self)?.urlSession(
            session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
            totalBytesExpectedToSend: totalBytesExpectedToSend)
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        session.delegate(after: self)?.urlSession(session, task: task, didFinishCollecting: metrics)
    }

    /// Tells the session's delegate.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        session.delegate(after: self)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}
