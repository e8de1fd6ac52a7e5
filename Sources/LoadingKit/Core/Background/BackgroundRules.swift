import Foundation

/// Apple's rules for the tasks of a background session. Other tasks could not continue after the program's end: a program
/// that makes one is stopped with Apple's message.
enum BackgroundRules {
    static let completionHandler =
        "Completion handler blocks are not supported in background sessions. Use a delegate instead."
    static let asynchronous = "Asynchronous calls are not supported in background sessions. Use a delegate instead."
    static let uploadOfData = "Upload tasks from NSData are not supported in background sessions."
    static let uploadOfStream = "Upload tasks from a stream are not supported in background sessions."
    static let webSocket = "WebSocket tasks are not supported in background sessions."
    static let stream = "Stream tasks are not supported in background sessions."
    static let noDelegate = "A background session needs a delegate, as its tasks report to nothing else."
}

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
