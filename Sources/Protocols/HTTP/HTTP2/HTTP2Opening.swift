/// The beginning of a connection: whether the client has sent a request, and the server its SETTINGS and a response.
///
/// The client may send requests before the server's SETTINGS arrive (RFC 9113 §3.4). The server sends its SETTINGS
/// before any other frame, so a server that has responded has sent them.
///
/// ```
///   unused ──noteRequest──▶ used ───────────────┐
///     │ noteSettings          │ noteSettings    │ noteAnswer
///     ▼                       ▼                 ▼
///   ready ───noteRequest──▶ inUse ─noteAnswer─▶ answered
/// ```
enum HTTP2Opening: Hashable, CaseIterable {
    /// No request was sent, and the server's SETTINGS have not arrived.
    case unused
    /// Requests were sent, and the server's SETTINGS have not arrived.
    case used
    /// The server's SETTINGS have arrived, and no request was sent.
    case ready
    /// The server's SETTINGS have arrived, and it has responded to none of the requests.
    case inUse
    /// The server has responded to a request.
    case answered

    init() { self = .unused }

    var hasSettings: Bool {
        switch self {
        case .unused, .used: false
        case .ready, .inUse, .answered: true
        }
    }

    var hasAnswered: Bool { self == .answered }

    /// Returns whether there was a request before.
    mutating func noteRequest() -> Bool {
        switch self {
        case .unused:
            self = .used
            return false
        case .ready:
            self = .inUse
            return false
        case .used, .inUse, .answered: return true
        }
    }

    mutating func noteSettings() {
        switch self {
        case .unused: self = .ready
        case .used: self = .inUse
        case .ready, .inUse, .answered: break
        }
    }

    /// Returns whether the response is the first.
    mutating func noteAnswer() -> Bool {
        switch self {
        case .unused, .used, .ready, .inUse:
            self = .answered
            return true
        case .answered: return false
        }
    }
}
