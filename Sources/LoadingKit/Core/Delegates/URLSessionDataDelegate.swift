import Foundation

/// Is told what data tasks receive, piece by piece.
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    /// The response's head was received. Say whether to go on; nothing more is received until then. By default, yes.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)

    /// The asynchronous form of `urlSession(_:dataTask:didReceive:completionHandler:)`.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition

    /// The data task has become a download, as `didReceive response` was answered. Nothing more is told of the data task.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask)

    /// The data task has become a stream task, as `didReceive response` was answered
    /// (``URLSession/ResponseDisposition/becomeStream``). Nothing more is told of the data task; its metrics are the stream
    /// task's, and are told once, when that is over.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask)

    /// A piece of the response's body was received. While this is at work the connection is not read for long.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// All of a response was received that is about to be stored in the session's cache. Give what to store: the proposed
    /// response, one made of it, or nil for none. Not asked for a response that comes from the cache. By default, as
    /// proposed.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// The asynchronous form of `urlSession(_:dataTask:willCacheResponse:completionHandler:)`.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse?
}

extension URLSessionDataDelegate {
    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, goes on.
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

    /// Answers as `urlSession(_:dataTask:didReceive:completionHandler:)` does.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        await AsynchronousForm.byDefault(.response, of: self, placeholder: .cancel) {
            urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: $0)
        }
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome downloadTask: URLSessionDownloadTask
    ) {
        (session.delegate(after: self) as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: dataTask, didBecome: downloadTask)
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        (session.delegate(after: self) as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: dataTask, didBecome: streamTask)
    }

    /// Tells the session's delegate.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        (session.delegate(after: self) as? any URLSessionDataDelegate)?
            .urlSession(session, dataTask: dataTask, didReceive: data)
    }

    /// Asks by the asynchronous form. Without that, asks the session's delegate; without one, stores what is proposed.
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

    /// Answers as `urlSession(_:dataTask:willCacheResponse:completionHandler:)` does.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        await AsynchronousForm.byDefault(.caching, of: self, placeholder: nil) {
            urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse, completionHandler: $0)
        }
    }
}

extension URLSession {
    /// The delegate to call where a task's own does not implement a method: the session's, unless it is the same.
    func delegate(after asked: any URLSessionTaskDelegate) -> (any URLSessionTaskDelegate)? {
        guard let delegate, delegate !== asked else { return nil }
        return delegate as? any URLSessionTaskDelegate
    }
}
