import Foundation

/// Is told when WebSocket connections open and close.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The handshake is done, and messages go both ways. The protocol is the one of those offered that the server chose;
    /// nil where it chose none.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// The server has sent a close frame, of its own or as an answer. `didCompleteWithError` follows.
    ///
    /// A connection that ends without one, or because the server broke a rule, has an error there alone.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionWebSocketDelegate {
    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        (session.delegate(after: self) as? any URLSessionWebSocketDelegate)?
            .urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    /// Tells the session's delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        (session.delegate(after: self) as? any URLSessionWebSocketDelegate)?
            .urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
    }
}

extension TaskDelegates {
    /// Who is told of a WebSocket task: its own delegate, then the session's. Looked for when there is something to tell,
    /// so that other tasks do without.
    static func webSocket(_ session: URLSession, _ task: URLSessionWebSocketTask) -> (any URLSessionWebSocketDelegate)?
    {
        task.delegate as? any URLSessionWebSocketDelegate ?? (session.delegate as? any URLSessionWebSocketDelegate)
    }
}
