import Foundation

/// Is told of stream tasks.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// Nothing more will be read: the peer has sent all, or the task was told to read no more.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// Nothing more will be written: the task was told so.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// There is a better way to the host now than the one that the connection takes, such as a network that came up. A
    /// program may want to connect anew.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The task was captured: the connection is these two streams', which are not open yet, and the program's to close.
    /// Nothing more is told of the task.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
    /// Tells the session's delegate.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        next(session)?.urlSession(session, readClosedFor: streamTask)
    }

    /// Tells the session's delegate.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        next(session)?.urlSession(session, writeClosedFor: streamTask)
    }

    /// Tells the session's delegate.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        next(session)?.urlSession(session, betterRouteDiscoveredFor: streamTask)
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        next(session)?.urlSession(session, streamTask: streamTask, didBecome: inputStream, outputStream: outputStream)
    }

    private func next(_ session: URLSession) -> (any URLSessionStreamDelegate)? {
        session.delegate(after: self) as? any URLSessionStreamDelegate
    }
}
