import Foundation
import LoadingKitTransport

/// The engine of a task, as the task's sink uses it: it runs the load, and reports to the task's delegate.
protocol SinkEngine: TaskRunner, Sendable {
    var loop: EventLoop { get }

    // The load.
    var isOver: Bool { get }
    /// The reasons why nothing may be reported to the program now.
    var hold: TaskStage.Hold { get }
    /// Whether the sink may report more to the program.
    var canDeliver: Bool { get }
    func load(prepared request: URLRequest)
    /// Loads a request other than the task's first one.
    func load(changed request: URLRequest)
    /// Makes a response, or one of its parts with its own head, the task's response.
    func note(_ response: URLResponse)
    func release(_ reason: TaskStage.Hold)
    func performNow(_ action: SinkAction)
    /// Ends the load, and reports nothing.
    func stop()

    // The task.
    var currentRequest: URLRequest? { get }
    var expectedToReceive: Int64 { get }
    /// The support of the request's scheme for byte ranges.
    var ranges: RangeSupport { get }
    func keepsContentCodings(of request: URLRequest) -> Bool
    var maximumDecompressionRatio: Int { get }
    /// The data from which another task resumes the download; nil where it cannot be resumed.
    func resumeData(_ make: (URLRequest, HTTPURLResponse, _ firstURL: URL?) -> ResumeData?) -> Data?

    // The delegate of a data task.
    var hasDelegate: Bool { get }
    /// Whether the delegate may receive the body.
    var delegateTakesData: Bool { get }
    /// Whether the delegate may refuse to have a response stored.
    var mayRefuseCaching: Bool { get }
    /// Has the delegate decide about the response. The load waits for the decision, and continues accordingly.
    func requestDisposition(of response: URLResponse) -> SinkAction
    /// - Parameter done: called on the delegate queue when the delegate has the piece.
    func deliver(_ piece: Data, _ done: @escaping @Sendable () -> Void)
    func requestCaching(of response: CachedURLResponse, _ decide: @escaping @Sendable (CachedURLResponse?) -> Void)

    // The delegate of a download.
    /// The download has `offset` bytes of an earlier one.
    func didResume(at offset: Int64, of expected: Int64, informsDelegate: Bool)
    func didWrite(_ count: Int64, total: Int64)
    /// The file is deleted when the delegate returns.
    func didFinish(at location: URL)

    // The end.
    /// Completes the task. Calls `result` before it reports the metrics, and then `last` with the task's response.
    func reportEnd(
        _ error: (any Error)?, to recipient: EndRecipient, result: () -> Void, last: (URLResponse?) -> Void)
    /// Reports the end to the delegate, as the last call.
    func reportEndToDelegate(_ error: (any Error)?)
    /// Calls a completion handler, as the last call.
    func reportEndToHandler(_ call: @escaping @Sendable () -> Void)
    /// Resumes an asynchronous caller, after the delegate, if there is one, has received all earlier events.
    func resume<Value: Sendable>(_ continuation: LoopContinuation<Value>, with result: Result<Value, any Error>)
}

extension SinkEngine {
    /// Carries out the action that the sink returned.
    @inline(__always)
    func perform(_ action: SinkAction) {
        if case .proceed = action { return }
        performNow(action)
    }

    func reportEnd(_ error: (any Error)?, to recipient: EndRecipient, last: (URLResponse?) -> Void) {
        reportEnd(error, to: recipient, result: {}, last: last)
    }

    /// Reports the end to an asynchronous caller. A load without a response has failed.
    ///
    /// - Parameter discard: called before the report where the caller does not get the value.
    func reportEnd<Value: Sendable>(
        _ error: (any Error)?, to caller: LoopContinuation<(Value, URLResponse)>, _ value: () -> Value?,
        discard: () -> Void = {}
    ) {
        reportEnd(error, to: .caller) { response in
            if error == nil, let response, let value = value() {
                resume(caller, with: .success((value, response)))
            } else {
                discard()
                resume(
                    caller,
                    with: .failure(error ?? URLError(LoadFailure.withoutResponse, url: currentRequest?.url)))
            }
        }
    }
}
