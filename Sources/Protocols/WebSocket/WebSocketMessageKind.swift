/// What a message consists of.
public enum WebSocketMessageKind: Sendable, Hashable {
    /// UTF-8.
    case text
    /// Any bytes.
    case binary

    var opcode: WebSocketOpcode {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }
}
