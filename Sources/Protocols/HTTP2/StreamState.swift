/// Where a stream stands (RFC 9113 §5.1), for the states in which it is kept:
///
///                          +--------+
///                  send HE |  idle  | recv HE
///                  ,-------|        |-------.
///                  v       +--------+       v
///                             open
///        recv ES (or ES with HE) | send ES (or ES with HE)
///            v                                  v
///     half closed (remote)              half closed (local)
///            |        send ES / recv ES         |
///            `-----------> closed <-------------'
///                  (or RST_STREAM at any time)
///
/// Idle streams have numbers that were never used; closed ones are forgotten, but for those that were reset
/// (``ResetMemory``). The reserved states belong to push, which this implementation refuses.
enum StreamState {
    case open(sending: SendPhase, receiving: ReceivePhase)
    /// This side has sent END_STREAM.
    case halfClosedLocal(receiving: ReceivePhase)
    /// The peer has sent END_STREAM.
    case halfClosedRemote(sending: SendPhase)
}

extension StreamState {
    /// What may be sent; nil after END_STREAM.
    var sending: SendPhase? {
        switch self {
        case .open(let sending, _), .halfClosedRemote(let sending): sending
        case .halfClosedLocal: nil
        }
    }

    /// What has to be received; nil after END_STREAM.
    var receiving: ReceivePhase? {
        switch self {
        case .open(_, let receiving), .halfClosedLocal(let receiving): receiving
        case .halfClosedRemote: nil
        }
    }

    /// The state with the next phase of sending; nil when the stream is closed by it.
    func sent(_ next: SendPhase?) -> StreamState? {
        switch (self, next) {
        case (.open(_, let receiving), let next?): .open(sending: next, receiving: receiving)
        case (.open(_, let receiving), nil): .halfClosedLocal(receiving: receiving)
        case (.halfClosedRemote, let next?): .halfClosedRemote(sending: next)
        case (.halfClosedRemote, nil): nil
        case (.halfClosedLocal, _): self
        }
    }

    /// The state with the next phase of receiving; nil when the stream is closed by it.
    func received(_ next: ReceivePhase?) -> StreamState? {
        switch (self, next) {
        case (.open(let sending, _), let next?): .open(sending: sending, receiving: next)
        case (.open(let sending, _), nil): .halfClosedRemote(sending: sending)
        case (.halfClosedLocal, let next?): .halfClosedLocal(receiving: next)
        case (.halfClosedLocal, nil): nil
        case (.halfClosedRemote, _): self
        }
    }
}
