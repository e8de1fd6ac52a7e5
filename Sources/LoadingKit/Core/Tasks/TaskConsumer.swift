import Foundation

/// Who gets what a task loads.
enum TaskConsumer: Sendable {
    /// The session's delegate, piece by piece.
    case delegate
    /// A completion handler, on the delegate queue, whole.
    case completion(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, whole; and whether it runs on the session's loop.
    case continuation(UnsafeContinuation<(Data, URLResponse), any Error>, isOnLoop: Bool)
    /// An asynchronous caller that waits for the response, and will read the body piece by piece.
    case bytes(BodyFeed, UnsafeContinuation<URLResponse, any Error>)
    /// An asynchronous caller that has the response, and reads the body piece by piece.
    case reading(BodyFeed)
}
