/// Why a load has ended, as its handler is told by ``LoadContext/ending()``.
public enum LoadEnd: Sendable {
    /// Its response is complete.
    case finished
    /// The session loads another request for the task: it follows a redirect, or waits for a network to try again. Or the task
    /// has become a stream task, which has the connection.
    case replaced
    /// The program has cancelled the task, or the Swift task that waited for it.
    case cancelled
    /// The program has invalidated the session and cancelled its tasks.
    case sessionInvalidated
    /// The task has failed with this error: `URLError.timedOut` where its time was over, or what the handler threw.
    case failed(any Error)
    /// The handler that has forwarded the request does not want the response any more.
    case released
}
