/// Runs one task on its session's event loop: the only owner of the task's state.
protocol TaskRunner: AnyObject {
    func start()
    /// Holds the task back, or resumes it, according to the task's state.
    func followState()
    func cancel()
    func end(with error: any Error)
    /// The handshake of the task's connection is complete.
    func connectionDidEstablish()
    /// Whether the task waits in the queue for a connection.
    var isQueued: Bool { get }
    /// Whether a load of the task has to wait because the task is suspended.
    var isSuspended: Bool { get }
    /// Calls `proceed` when the suspended task is resumed. It is not called if the task ends before.
    func whenResumed(_ proceed: @escaping () -> Void)
}

extension TaskRunner {
    // A runner without a load.
    var isSuspended: Bool { false }
    func whenResumed(_ proceed: @escaping () -> Void) {}
}
