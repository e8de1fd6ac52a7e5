import Foundation

/// Receives the events of WebSocket connections: their opening and their close.
///
/// Received messages precede the close. As long as the program continues to receive, `didCloseWith` and the task's end,
/// also those of a lost connection, are reported after the program has taken all earlier messages. A program that calls
/// ``URLSessionWebSocketTask/receive()`` again after each message therefore receives them all. The session waits up to
/// 10 seconds from one message to the next call, and one second where no message is left or the program has not called
/// `receive()` yet. If the program does not call again within that time, the end is reported, and the messages remain
/// for later calls. Messages received with completion handlers arrive in the order of the delegate queue. If the
/// program has closed the connection itself and has not taken all messages, the session waits up to 3 seconds for the
/// next call.
///
/// A pending `receive()` fails after `didCloseWith` has returned.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    /// The handshake is complete, and messages can be sent in both directions. `protocol` is the offered subprotocol
    /// that the server selected; nil where it selected none.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)

    /// The server has sent a close frame, either first or in reply to the client's. `didCompleteWithError` follows.
    ///
    /// A connection that ends without a close frame, or because the server violated the protocol, is reported only
    /// there, as an error.
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSessionWebSocketDelegate {
    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        (session.delegate(after: self) as? any URLSessionWebSocketDelegate)?
            .urlSession(session, webSocketTask: webSocketTask, didOpenWithProtocol: `protocol`)
    }

    /// Calls the session's delegate.
    public func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        (session.delegate(after: self) as? any URLSessionWebSocketDelegate)?
            .urlSession(session, webSocketTask: webSocketTask, didCloseWith: closeCode, reason: reason)
    }
}

extension TaskDelegates {
    /// The delegates of a WebSocket task: its own, then the session's. They are determined only when there is an event
    /// to report, so that other tasks have no cost.
    static func webSocket(_ session: URLSession, _ task: URLSessionWebSocketTask) -> (any URLSessionWebSocketDelegate)?
    {
        task.delegate as? any URLSessionWebSocketDelegate ?? (session.delegate as? any URLSessionWebSocketDelegate)
    }
}
