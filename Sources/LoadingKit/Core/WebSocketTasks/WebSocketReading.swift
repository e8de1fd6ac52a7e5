import LoadingKitPrimitives

/// What is known of how a program receives messages, and with that how long the connection's end waits for it.
///
/// To a program that goes on receiving the end is reported when it has taken the messages before that. Whether it goes on
/// is not known before it requests the next message, so that the wait has a limit.
struct WebSocketReading {
    /// How long a program may take from one message to asking for the next, where there are more, in seconds.
    private static let processingTime = 10.0
    /// The same once the program has closed the connection itself, and may well have stopped, in seconds.
    private static let closingTime = 3.0
    /// How long a caller that was given the last message may take until it runs and requests another; likewise a program that
    /// has not yet requested any, in seconds.
    private static let askingTime = 1.0

    private var programHasClosed = false
    /// Whether a completion handler was given a message.
    private(set) var usesHandlers = false
    /// How many asynchronous calls were given a message and not followed by another call.
    private var unanswered = 0
    private var given: MonotonicTime?
    /// How many messages the program has requested.
    private(set) var requestCount = 0

    mutating func programDidRequest() {
        requestCount &+= 1
        if unanswered > 0 { unanswered -= 1 }
    }

    /// Of handlers the order is that of the delegate queue.
    mutating func programDidReceive(toHandler isHandler: Bool, _ now: MonotonicTime) {
        if isHandler { usesHandlers = true } else { unanswered += 1 }
        given = now
    }

    /// Up to here it has what it was given.
    mutating func programDidClose() {
        programHasClosed = true
        unanswered = 0
    }

    /// Until when the end waits for the program to ask; nil where it does not.
    ///
    /// - Parameters:
    ///   - hasMessages: whether there are some that it has not taken.
    ///   - began: when the connection ended.
    ///   - turned: when what had waited in the delegate queue at the end was done.
    func deadline(hasMessages: Bool, began: MonotonicTime, turned: MonotonicTime?) -> MonotonicTime? {
        guard hasMessages else {
            return unanswered > 0 ? given?.advanced(bySeconds: Self.askingTime) : nil
        }
        let asks = (turned ?? began).advanced(bySeconds: Self.askingTime)
        guard let given else { return asks }
        return max(asks, given.advanced(bySeconds: programHasClosed ? Self.closingTime : Self.processingTime))
    }
}
