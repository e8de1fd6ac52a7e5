import Foundation

/// Who gets what a task loads.
enum TaskConsumer: Sendable {
    /// The session's delegate, piece by piece.
    case delegate
    /// A completion handler, on the delegate queue, whole.
    case completion(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, whole.
    case continuation(LoopContinuation<(Data, URLResponse)>)
    /// A file, and whoever is told where it is.
    case file(FileRecipient)
    /// A stream task, as it is read.
    case stream(StreamBody)
    /// An asynchronous caller that waits for the response, and will read the body piece by piece.
    case bytes(BodyFeed, LoopContinuation<URLResponse>)
    /// An asynchronous caller that has the response, and reads the body piece by piece.
    case reading(BodyFeed)

    /// Whether the end of the load is told on the delegate queue, where there is a delegate or not.
    var isHandler: Bool {
        switch self {
        case .completion, .file(.completion): true
        case .delegate, .continuation, .file, .stream, .bytes, .reading: false
        }
    }

    /// Whether a delegate is told of the load's end, where there is one.
    var isDelegate: Bool {
        switch self {
        case .delegate, .file(.delegate): true
        case .completion, .continuation, .file, .stream, .bytes, .reading: false
        }
    }
}

/// Who is told where the file of a download is.
enum FileRecipient: Sendable {
    /// The session's delegate; then the file is deleted.
    case delegate
    /// A completion handler, on the delegate queue; then the file is deleted.
    case completion(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, whose file it is from then on.
    case continuation(LoopContinuation<(URL, URLResponse)>)
}
