import Foundation

/// Receives the events of stream tasks.
public protocol URLSessionStreamDelegate: URLSessionTaskDelegate {
    /// The reading side is closed: the peer has sent everything, or the program has closed it with a call to the task.
    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask)

    /// The writing side is closed, after a call to the task.
    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask)

    /// A better route to the host than that of the connection has become available, for example through a new network.
    /// A program may connect again.
    func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask)

    /// The task was captured: these two streams have the connection. They are not open yet, and the program must close
    /// them. The task reports no further events.
    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream)
}

extension URLSessionStreamDelegate {
    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        next(session)?.urlSession(session, readClosedFor: streamTask)
    }

    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        next(session)?.urlSession(session, writeClosedFor: streamTask)
    }

    /// Calls the session's delegate.
    public func urlSession(_ session: URLSession, betterRouteDiscoveredFor streamTask: URLSessionStreamTask) {
        next(session)?.urlSession(session, betterRouteDiscoveredFor: streamTask)
    }

    /// Calls the session's delegate.
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
