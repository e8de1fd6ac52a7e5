import Foundation

/// The program's recipient of a task's loaded data. The task makes its sink from it.
enum TaskConsumer: Sendable {
    /// The delegate, piece by piece.
    case delegate
    /// The delegate, except for the body, which is written to a file.
    case delegateAndFile(any SpooledFile)
    /// A completion handler, on the delegate queue, with the complete body.
    case completion(@Sendable (Data?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, with the complete body.
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

/// The recipient of the location of a download's file.
enum FileRecipient: Sendable {
    /// The delegate; then the file is deleted.
    case delegate
    /// A completion handler, on the delegate queue; then the file is deleted.
    case completion(@Sendable (URL?, URLResponse?, (any Error)?) -> Void)
    /// An asynchronous caller, which then owns the file.
    case continuation(LoopContinuation<(URL, URLResponse)>)
}

/// The recipient of a task's end.
enum EndRecipient {
    /// The delegate. Until its method is called, the program may cancel a task that has succeeded.
    case delegate
    /// The delegate of a task that is already completed.
    case delegateOfCompletedTask
    /// A completion handler, on the delegate queue.
    case handler
    /// An asynchronous caller, at once where there is no delegate.
    case caller
}

/// Receives a task's loaded data: one type for each kind of consumer, with the fields that this kind needs. Confined to
/// the task's loop.
///
/// Each function gets the engine: a sink may read its state, and call it. A sink returns the action that it requires
/// after an event; the engine carries it out when the sink's own state is complete.
protocol TaskSink: AnyObject {
    /// The engine has been made.
    func attach(to engine: any SinkEngine)
    /// Prepares for the load, and then has the engine load the request.
    func prepare(_ request: URLRequest, for engine: any SinkEngine)

    /// - Parameter isPart: whether the bytes that follow may be incomplete: a part of a response, or a response with
    ///   parts.
    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction
    /// Bytes that are valid only during the call.
    func receive(_ bytes: UnsafeRawBufferPointer, for engine: any SinkEngine) -> SinkAction
    func receive(_ data: Data, for engine: any SinkEngine) -> SinkAction
    /// Bytes of the body before they were decoded, which are valid only during the call.
    func receive(coded bytes: UnsafeRawBufferPointer)
    /// Memory for body bytes, so that a read from a socket needs no copy; `bufferWasFilled` follows. Nil: there is
    /// none.
    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer?
    func bufferWasFilled(_ count: Int, for engine: any SinkEngine) -> SinkAction

    /// The sink for a response with parts, each of which replaces the one before it.
    func split(_ response: URLResponse, by reader: MixedReplaceReader) -> any TaskSink
    /// The part's bytes have been received; the next part replaces it.
    func partDidEnd(for engine: any SinkEngine) -> SinkAction
    /// The sink from now on, where another task has replaced this one.
    func replaced(by sink: any TaskSink) -> any TaskSink

    /// Delivers the bytes collected up to now.
    func flush(for engine: any SinkEngine) -> SinkAction
    /// The turn of the loop ends in which the sink requested this call.
    func turnDidEnd(for engine: any SinkEngine) -> SinkAction
    /// Nothing is held back any longer.
    func holdDidEnd(for engine: any SinkEngine) -> SinkAction

    /// Decides about storing a completely received response. See ``LoadReceiver/willCache(_:decide:)``.
    func willCache(
        _ response: CachedURLResponse, for engine: any SinkEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void)

    /// Everything has been received.
    func finish(for engine: any SinkEngine) -> SinkAction
    /// The load has ended, and its end is about to be reported, if it is reported at all.
    func loadDidStop(_ engine: any SinkEngine) -> SinkAction
    /// The load has failed. Calls `report` with the error when the sink has finished its work.
    func settle(_ error: any Error, for engine: any SinkEngine, _ report: @escaping (any Error) -> Void)
    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine)
}

/// The action of an engine after an event for its sink.
enum SinkAction {
    case proceed
    /// Lets the load wait until the sink releases it.
    case hold(TaskStage.Hold)
    /// Calls ``TaskSink/turnDidEnd(for:)`` at the end of the loop's turn.
    case flushLater
    /// Calls ``TaskSink/turnDidEnd(for:)`` at the end of the next turn, after a pause in which more bytes may arrive.
    case flushAfterPause
    /// Loads this request instead.
    case reload(URLRequest)
    case fail(any Error)
}

extension TaskSink {
    func attach(to engine: any SinkEngine) {}

    func prepare(_ request: URLRequest, for engine: any SinkEngine) { engine.load(prepared: request) }

    func receive(coded bytes: UnsafeRawBufferPointer) {}

    func partDidEnd(for engine: any SinkEngine) -> SinkAction { flush(for: engine) }

    func replaced(by sink: any TaskSink) -> any TaskSink { sink }

    func flush(for engine: any SinkEngine) -> SinkAction { .proceed }

    func turnDidEnd(for engine: any SinkEngine) -> SinkAction { .proceed }

    func holdDidEnd(for engine: any SinkEngine) -> SinkAction { .proceed }

    func willCache(
        _ response: CachedURLResponse, for engine: any SinkEngine,
        decide: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        decide(response)
    }

    func finish(for engine: any SinkEngine) -> SinkAction { .proceed }

    func loadDidStop(_ engine: any SinkEngine) -> SinkAction { flush(for: engine) }

    func settle(_ error: any Error, for engine: any SinkEngine, _ report: @escaping (any Error) -> Void) {
        report(error)
    }
}

/// Ignores the loaded data: the delegate gets only the task's end. A WebSocket's messages go to its link.
final class DiscardingSink: TaskSink {
    func receive(_ response: URLResponse, isPart: Bool, for engine: any SinkEngine) -> SinkAction { .proceed }

    func receive(_ bytes: UnsafeRawBufferPointer, for engine: any SinkEngine) -> SinkAction { .proceed }

    func receive(_ data: Data, for engine: any SinkEngine) -> SinkAction { .proceed }

    func buffer(atMost count: Int) -> UnsafeMutableRawBufferPointer? { nil }

    func bufferWasFilled(_ count: Int, for engine: any SinkEngine) -> SinkAction { .proceed }

    /// An orderly close of a WebSocket is a cancellation, too.
    func reportEnd(_ error: (any Error)?, for engine: any SinkEngine) {
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
