import Foundation

/// Apple's rules for the tasks of a background session. Other tasks could not continue after the program's end: a program
/// that makes one is stopped with Apple's message.
enum BackgroundRules {
    /// The schemes of downloads and uploads. Data tasks, which the program runs itself, may have others.
    static let schemes = ["http", "https"]
    static let completionHandler =
        "Completion handler blocks are not supported in background sessions. Use a delegate instead."
    static let asynchronous = "Asynchronous calls are not supported in background sessions. Use a delegate instead."
    static let uploadOfData = "Upload tasks from NSData are not supported in background sessions."
    static let uploadOfStream = "Upload tasks from a stream are not supported in background sessions."
    static let webSocket = "WebSocket tasks are not supported in background sessions."
    static let stream = "Stream tasks are not supported in background sessions."
    static let noDelegate = "A background session needs a delegate, as its tasks report to nothing else."
}
