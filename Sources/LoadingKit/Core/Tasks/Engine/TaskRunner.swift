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
}
