import Foundation

/// Is told when WebSocket connections open and close.
///
/// Messages come before the close. As long as the program goes on receiving, `didCloseWith` and the end, also of a connection
/// that was lost, are told when the messages that came before were taken: a program that calls
/// ``URLSessionWebSocketTask/receive()`` again after each message has seen them all. It may take 10 seconds from one message to
/// the next call, and a second where no message is left or none was asked for so far. Of a program that does not ask again
/// within that time the end is told, and the messages wait for later calls. What is received with completion handlers is in the
/// order of the delegate queue. Of a program that has closed the connection itself and has not taken
/// all messages, 3 seconds are waited for the next call.
///
/// A pending `receive()` fails when `didCloseWith` has returned.
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
    /// The delegate of a WebSocket task: its own, then the session's. Looked for when there is something to report, so that
    /// other tasks cost nothing.
    static func webSocket(_ session: URLSession, _ task: URLSessionWebSocketTask) -> (any URLSessionWebSocketDelegate)?
    {
        task.delegate as? any URLSessionWebSocketDelegate ?? (session.delegate as? any URLSessionWebSocketDelegate)
    }
}
