import Foundation

/// What a task's program gave to receive what is loaded. The task makes its sink of it.
enum TaskConsumer: Sendable {
    /// The delegate, piece by piece.
    case delegate
    /// The delegate, but for the body, which is put into a file.
    case delegateAndFile(any SpooledFile)
    /// A completion handler, on the delegate queue, whole.
    case completion(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, whole.
    case continuation(LoopContinuation<(Data, URLResponse)>)
    /// A file, and the recipient of its location.
    case file(FileRecipient)
    /// An asynchronous caller that waits for the response, and will read the body piece by piece.
    case bytes(BodyFeed, LoopContinuation<URLResponse>)

    /// Whether the program may get the body piece by piece.
    var takesPieces: Bool {
        switch self {
        case .delegate, .bytes: true
        case .completion, .continuation, .file, .delegateAndFile: false
        }
    }
}

/// What gets the location of a download's file.
enum FileRecipient: Sendable {
    /// The delegate; then the file is deleted.
    case delegate
    /// A completion handler, on the delegate queue; then the file is deleted.
    case completion(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, whose file it is from then on.
    case continuation(LoopContinuation<(URL, URLResponse)>)
}

/// What gets the end of a task, and where.
enum EndRecipient {
    /// The delegate. Until its method is called the program may cancel a task that has succeeded.
    case delegate
    /// The delegate, of a task that is completed by then.
    case delegateOfCompletedTask
    /// A completion handler, on the delegate queue.
    case handler
    /// An asynchronous caller, at once where there is no delegate.
    case caller
}

/// Receives what a task loads: one type for each kind of consumer, with the fields that this kind needs. Confined to the
/// task's loop.
///
/// The engine is given to each function: a sink may read its state, and have it act. What a sink needs done after it took
/// something it returns; the engine does it when the sink's own state is complete.
protocol TaskSink: AnyObject {
    /// The engine has been made.
    func attach(to engine: TaskEngine)
    /// Gets ready for what is loaded, and then has the engine load the request.
    func prepare(_ request: URLRequest, for engine: TaskEngine)

    /// - Parameter isPart: whether the bytes that follow may not be all: a part of a response, or one that has parts.
    func receive(_ response: URLResponse, isPart: Bool, for engine: TaskEngine) -> SinkAction
    /// Bytes that are valid only during the call.
    func receive(_ bytes: UnsafeRawBufferPointer, for engine: TaskEngine) -> SinkAction
    func receive(_ data: Data, for engine: TaskEngine) -> SinkAction
    /// Bytes of the body before they were decoded, which are valid only during the call.
    func receive(coded bytes: UnsafeRawBufferPointer)
    /// Memory for body bytes, so that a read from a socket needs no copy; `bufferWasFilled` follows. Nil: there is none.
    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer?
    func bufferWasFilled(_ count: Int, for engine: TaskEngine) -> SinkAction

    /// The sink for a response that has parts, each of which replaces the one before.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink
    /// The part's bytes have been received; the next part replaces it.
    func partDidEnd(for engine: TaskEngine) -> SinkAction
    /// The sink from now on, where the task has become another.
    func replaced(by sink: any TaskSink) -> any TaskSink

    /// Hands on what was collected so far.
    func flush(for engine: TaskEngine) -> SinkAction
    /// The turn of the loop, in which the sink asked for this, ends.
    func turnDidEnd(for engine: TaskEngine) -> SinkAction
    /// Nothing is held back any more.
    func holdDidEnd(for engine: TaskEngine) -> SinkAction

    /// Decides what is stored of a response that was received whole. See ``LoadReceiver/willCache(_:decide:)``.
    func willCache(
        _ response: CachedURLResponse, for engine: TaskEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// All has been received.
    func finish(for engine: TaskEngine) -> SinkAction
    /// The load is over, and the end is about to be reported, if it is to be reported.
    func loadDidStop(_ engine: TaskEngine) -> SinkAction
    /// The load has failed. Calls `report` when the sink has nothing more to do, with the error to report.
    func settle(_ error: any Error, for engine: TaskEngine, _ report: @escaping (any Error) -> Void)
    func reportEnd(_ error: (any Error)?, for engine: TaskEngine)
}

/// What an engine does after its sink took something.
enum SinkAction {
    case proceed
    /// Lets the load wait until the sink releases it.
    case hold(TaskStage.Hold)
    /// Calls ``TaskSink/turnDidEnd(for:)`` at the end of the loop's turn.
    case flushLater
    /// Loads this request instead.
    case reload(URLRequest)
    case fail(any Error)
}

extension TaskSink {
    func attach(to engine: TaskEngine) {}

    func prepare(_ request: URLRequest, for engine: TaskEngine) { engine.load(prepared: request) }

    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink {
        MixedReplaceSink(self, response, reader)
    }

    func receive(coded bytes: UnsafeRawBufferPointer) {}

    func partDidEnd(for engine: TaskEngine) -> SinkAction { flush(for: engine) }

    func replaced(by sink: any TaskSink) -> any TaskSink { sink }

    func flush(for engine: TaskEngine) -> SinkAction { .proceed }

    func turnDidEnd(for engine: TaskEngine) -> SinkAction { .proceed }

    func holdDidEnd(for engine: TaskEngine) -> SinkAction { .proceed }

    func willCache(
        _ response: CachedURLResponse, for engine: TaskEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        decide(response)
    }

    func finish(for engine: TaskEngine) -> SinkAction { .proceed }

    func loadDidStop(_ engine: TaskEngine) -> SinkAction { flush(for: engine) }

    func settle(_ error: any Error, for engine: TaskEngine, _ report: @escaping (any Error) -> Void) { report(error) }
}

/// Takes nothing of what is loaded: the delegate learns of the task's end alone. A WebSocket's messages go to its link.
final class DiscardingSink: TaskSink {
    func receive(_ response: URLResponse, isPart: Bool, for engine: TaskEngine) -> SinkAction { .proceed }

    func receive(_ bytes: UnsafeRawBufferPointer, for engine: TaskEngine) -> SinkAction { .proceed }

    func receive(_ data: Data, for engine: TaskEngine) -> SinkAction { .proceed }

    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { nil }

    func bufferWasFilled(_ count: Int, for engine: TaskEngine) -> SinkAction { .proceed }

    /// That a WebSocket is closed in order is a cancellation, too.
    func reportEnd(_ error: (any Error)?, for engine: TaskEngine) {
        engine.reportEnd(error, to: .delegateOfCompletedTask) { _ in engine.reportEndToDelegate(error) }
    }
}

extension LoadFailure {
    static var outOfMemory: LoadFailure {
        LoadFailure(.dataLengthExceedsMaximum, "the body is larger than the memory there is")
    }

    static var withoutResponse: LoadFailure {
        LoadFailure(.badServerResponse, "the load finished without a response")
    }
}
