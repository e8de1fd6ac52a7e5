import LoadingKitWebSocket

/// An open WebSocket connection, as the link of its task sees it. Confined to the session's loop.
package protocol WebSocketChannel: AnyObject {
    /// Sends a message after those before it, and tells ``WebSocketLink/sent(_:)`` when the connection has taken it.
    func send(_ message: URLSessionWebSocketTask.Message)
    /// Sends a ping; what it carries comes back with ``WebSocketLink/receive(pong:)``.
    func ping(_ payload: [UInt8])
    /// Sends a close frame after the messages before it. The load ends when it is answered, or after some time.
    func close(_ code: WebSocketCloseCode, reason: String)
    /// The link takes messages again.
    func linkIsReady()
}
