import Foundation

/// Receives the events of data tasks, with each piece of received data.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response's head was received. The answer decides whether the load continues; no more data is received until
    /// then. Default: the load continues.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The asynchronous form of `urlSession(_:dataTask:didReceive:completionHandler:)`.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// The data task has become a download, as the answer to `didReceive response` requested. The data task reports no
    /// further events.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The data task has become a stream task, as the answer to `didReceive response` requested
    /// (``URLSession/ResponseDisposition/becomeStream``). The data task reports no further events. Its metrics belong
    /// to the stream task, and are reported once, when that ends.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// A piece of the response's body was received. While this method runs, the connection is not read for long.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// The complete response was received and is about to be stored in the session's cache. Answer with the response to
    /// store: the proposed one, one derived from it, or nil for none. Not called for a response that comes from the
    /// cache, was cut off, or is a redirect that is followed. If the delegate has this method, a response that was cut
    /// off and a redirect that is followed are not stored. Default: the proposed response.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The asynchronous form of `urlSession(_:dataTask:willCacheResponse:completionHandler:)`.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

extension URLSessionDataDelegate {
    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, continues the load.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) as? any URLSessionDataDelegate else {
                return completionHandler(.allow)
            }
            next.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
        }
        guard AsynchronousForm.mayExist(.response, of: self) else { return passOn() }
        requestAnswer(
            .response, session, { await self.urlSession(session, dataTask: dataTask, didReceive: response) },
            answer: completionHandler, otherwise: passOn)
    }

    /// Gives the same answer as `urlSession(_:dataTask:didReceive:completionHandler:)`.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        await AsynchronousForm.byDefault(.response, of: self, placeholder: .cancel) {
            urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: $0)
        }
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        (session.delegate(after: self) as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: dataTask, didBecome: downloadTask)
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        (session.delegate(after: self) as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: dataTask, didBecome: streamTask)
    }

    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        (session.delegate(after: self) as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// Calls the asynchronous form. Without it, calls the session's delegate; without that method, stores the proposed
    /// response.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        @Sendable func passOn() {
            guard let next = session.delegate(after: self) as? any URLSessionDataDelegate else {
                return completionHandler(proposedResponse)
            }
            next.urlSession(
                session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: completionHandler)
        }
        guard AsynchronousForm.mayExist(.caching, of: self) else { return passOn() }
        requestAnswer(
            .caching, session,
            { await self.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) },
            answer: completionHandler, otherwise: passOn)
    }

    /// Gives the same answer as `urlSession(_:dataTask:willCacheResponse:completionHandler:)`.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        await AsynchronousForm.byDefault(.caching, of: self, placeholder: nil) {
            urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: $0)
        }
    }
}

extension URLSession {
    /// The delegate to call where a task's own delegate does not implement a method: the session's, unless it is the
    /// same.
    func delegate(after asked: any URLSessionTaskDelegate) -> (any URLSessionTaskDelegate)? {
        guard let delegate, delegate !== asked else { return nil }
        return delegate as? any URLSessionTaskDelegate
    }
}
