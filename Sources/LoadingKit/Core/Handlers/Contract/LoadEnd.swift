/// The reason for a load's end, as ``LoadContext/ending()`` reports it to the load's handler.
public enum LoadEnd: Sendable {
    /// The response is complete.
    case finished
    /// The session loads another request for the task: it follows a redirect, or waits for a network to retry. Or the
    /// task has become a stream task, which has the connection.
    case replaced
    /// The program has cancelled the task, or the Swift task that waited for it.
    case cancelled
    /// The program has invalidated the session and cancelled its tasks.
    case sessionInvalidated
    /// The task has failed with this error: `URLError.timedOut` after a timeout, or the error that the handler threw.
    case failed(any Error)
    /// The handler that has forwarded the request does not need the response any longer.
    case released
}
