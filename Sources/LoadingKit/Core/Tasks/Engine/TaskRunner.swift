/// Runs one task on its session's event loop: the one owner of the task's state.
protocol TaskRunner: AnyObject {
    func start()
    /// Holds the task back, or lets it go on, as the task's state says.
    func followState()
    func cancel()
    func end(with error: any Error)
    /// The handshake of the task's connection is done.
    func connectionDidEstablish()
    /// Whether the task waits its turn for a connection.
    var isQueued: Bool { get }
}
