/// Which side of a WebSocket connection this is. A client masks its frames, a server does not (RFC 6455 §5.1).
public enum WebSocketRole: Sendable, Hashable {
    case client
    case server
}
