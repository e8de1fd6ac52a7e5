extension URLSession {
    /// An identifier for a new task with this consumer.
    func newIdentifier(for consumer: TaskConsumer?) -> Int {
        guard let background = core.background else { return core.nextIdentifier() }
        switch consumer {
        case .delegate, .delegateAndFile, .file(.delegate): return background.nextIdentifier()
        case .completion, .file(.completion): preconditionFailure(BackgroundRules.completionHandler)
        case nil, .continuation, .bytes, .file(.continuation): preconditionFailure(BackgroundRules.asynchronous)
        }
    }

    /// Stops a program that makes a task that a background session cannot have.
    func requireForeground(_ message: String) { precondition(core.background == nil, message) }
}
