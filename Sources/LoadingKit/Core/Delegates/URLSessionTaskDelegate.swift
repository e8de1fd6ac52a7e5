import Foundation

/// Is told what happens to tasks of every kind.
///
/// What a task's own delegate does not implement is asked of the session's delegate.
public protocol URLSessionTaskDelegate: URLSessionDelegate {
    /// The task was made. Told on the thread that makes it, before the method that makes it returns, and not on the
    /// delegate queue: here a task can be configured, whoever made it.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask)

    /// A task with an `earliestBeginDate` is about to begin. Say whether it shall, or give another request for it to load.
    /// By default it begins.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void)

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

    /// A server asks for credentials; where they concern a connection, the session's delegate was asked before and has
    /// no opinion.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)

    /// The request's body must be sent again, and was a stream. Give a fresh one, or nil to fail the task.
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)

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

    /// Asks the session's delegate; without one, begins.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        guard let next = session.delegate(after: self) else { return completionHandler(.continueLoading, nil) }
        next.urlSession(
            session, task: task, willBeginDelayedRequest: request, completionHandler: completionHandler)
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

    /// Asks the session's delegate; without one, follows the redirect.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let next = session.delegate(after: self) else { return completionHandler(request) }
        next.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }

    /// Asks the session's delegate; without one, leaves the challenge to default handling.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard let next = session.delegate(after: self) else { return completionHandler(.performDefaultHandling, nil) }
        next.urlSession(session, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    /// Asks the session's delegate; without one, there is no new stream.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let next = session.delegate(after: self) else { return completionHandler(nil) }
        next.urlSession(session, task: task, needNewBodyStream: completionHandler)
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
