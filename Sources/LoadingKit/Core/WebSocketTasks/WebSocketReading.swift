import LoadingKitPrimitives

/// Records how a program receives messages, and determines how long the connection's end waits for it.
///
/// To a program that continues to receive, the end is reported after it has taken all earlier messages. Whether it
/// continues is unknown until it requests the next message. The wait therefore has a limit.
struct WebSocketReading {
    /// The time between one message and the request for the next, where there are more, in seconds.
    private static let processingTime = 10.0
    /// The same time after the program has closed the connection itself, and has probably stopped, in seconds.
    private static let closingTime = 3.0
    /// The time in which a caller that received the last message may run and request another; also for a program that
    /// has not yet requested any. In seconds.
    private static let askingTime = 1.0

    private var programHasClosed = false
    private(set) var usesHandlers = false
    /// The number of asynchronous calls that received a message without a further call after them.
    private var unanswered = 0
    private var given: MonotonicTime?
    private(set) var requestCount = 0

    mutating func programDidRequest() {
        requestCount &+= 1
        if unanswered > 0 { unanswered -= 1 }
    }

    /// For handlers, the delegate queue determines the order.
    mutating func programDidReceive(toHandler isHandler: Bool, _ now: MonotonicTime) {
        if isHandler { usesHandlers = true } else { unanswered += 1 }
        given = now
    }

    /// The program has processed the messages that it received before its close.
    mutating func programDidClose() {
        programHasClosed = true
        unanswered = 0
    }

    /// The time until which the end waits for the program's request; nil where it does not wait.
    ///
    /// - Parameters:
    ///   - hasMessages: whether there are messages that the program has not taken.
    ///   - began: the time at which the connection ended.
    ///   - turned: the time at which the delegate queue had completed the work that waited at the end.
    func deadline(hasMessages: Bool, began: MonotonicTime, turned: MonotonicTime?) -> MonotonicTime? {
        guard hasMessages else {
            return unanswered > 0 ? given?.advanced(bySeconds: Self.askingTime) : nil
        }
        let asks = (turned ?? began).advanced(bySeconds: Self.askingTime)
        guard let given else { return asks }
        return max(asks, given.advanced(bySeconds: programHasClosed ? Self.closingTime : Self.processingTime))
    }
}
