/// Which side of a connection a state machine plays.
public enum HTTP2Role: Sendable, Hashable {
    /// Sends requests.
    case client
    /// Answers them.
    case server
}
