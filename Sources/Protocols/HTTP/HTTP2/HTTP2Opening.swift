/// How a connection has begun: what the client and the server have sent on it, one for the first time.
///
/// The client may send requests before the server's SETTINGS have come (RFC 9113 §3.4). The server sends those before
/// anything else, so that one that has answered has sent them.
///
/// ```
///   unused ──noteRequest──▶ used ───────────────┐
///     │ noteSettings          │ noteSettings    │ noteAnswer
///     ▼                       ▼                 ▼
///   ready ───noteRequest──▶ inUse ─noteAnswer─▶ answered
/// ```
enum HTTP2Opening: Hashable, CaseIterable {
    /// Nothing was carried, and the server's SETTINGS have not come.
    case unused
    /// Requests were sent, and the server's SETTINGS have not come.
    case used
    /// The server's SETTINGS have come, and nothing was carried.
    case ready
    /// The server's SETTINGS have come, and it has answered none of the requests.
    case inUse
    /// The server has answered a request.
    case answered

    init() { self = .unused }

    var hasSettings: Bool {
        switch self {
        case .unused, .used: false
        case .ready, .inUse, .answered: true
        }
    }

    var hasAnswered: Bool { self == .answered }

    /// A request is about to be sent. Gives whether there was one before.
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

    /// The server's SETTINGS have come.
    mutating func noteSettings() {
        switch self {
        case .unused: self = .ready
        case .used: self = .inUse
        case .ready, .inUse, .answered: break
        }
    }

    /// A response has come. Gives whether it is the first.
    mutating func noteAnswer() -> Bool {
        switch self {
        case .unused, .used, .ready, .inUse:
            self = .answered
            return true
        case .answered: return false
        }
    }
}
