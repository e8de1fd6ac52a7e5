/// One stream of a connection (RFC 9113 §5.1), while it is neither idle nor closed:
///
///                     ┌────────┐
///            ┌────────┤  idle  ├────────┐         idle:   its identifier was not used yet
///            │        └────────┘        │         closed: it was, and the stream is gone
///            ▼      sent or received    ▼
///     half-closed ◀──────  open  ──────▶ half-closed
///       (local)    END_STREAM sent │ received  (remote)
///            │                     │            │
///            └─────▶  closed  ◀────┴────────────┘    END_STREAM the other way, or RST_STREAM either way
struct HTTP2Stream: Sendable {
    enum State: Sendable {
        case open
        /// This side has sent END_STREAM.
        case halfClosedLocal
        /// The peer has sent END_STREAM.
        case halfClosedRemote
    }

    /// How far the peer's message is.
    enum Message: Sendable {
        case awaitsHead(interims: Int)
        case body
    }

    var state: State
    var message = Message.awaitsHead(interims: 0)
    /// Bytes that may be sent; below 0 where the peer has made the window smaller (RFC 9113 §6.9.2).
    var sendWindow: Int
    var receiving: HTTP2ReceiveWindow
    /// Bytes of the body that are still to come by the message's `Content-Length`.
    var expectedBytes: UInt64?
    /// Whether the response is to a HEAD request: its `Content-Length` is of a body that does not come.
    var isAnswerToHead = false
}

/// What the peer may send, on a stream or on all of a connection, and what of it the consumer has not taken yet.
struct HTTP2ReceiveWindow: Sendable {
    /// How much the peer may have on its way, in bytes, together with what waits here.
    var target: Int
    /// What the peer may send now.
    private(set) var window: Int
    /// What it has sent and the consumer has not taken.
    private(set) var waiting = 0

    init(target: Int, window: Int) {
        self.target = target
        self.window = window
    }

    /// A change of the setting opens the window at once (RFC 9113 §6.9.2).
    mutating func raise(to newTarget: Int) {
        window += max(0, newTarget - target)
        target = max(target, newTarget)
    }

    /// False when the peer has sent more than it might.
    mutating func receive(_ count: Int) -> Bool {
        window -= count
        waiting += count
        return window >= 0
    }

    /// Gives by how much the window is to be opened, once that is worth a frame.
    mutating func consume(_ count: Int) -> Int? {
        waiting = max(0, waiting - count)
        let room = target - waiting - window
        guard room > 0, room >= target / 2 else { return nil }
        window += room
        return room
    }
}
