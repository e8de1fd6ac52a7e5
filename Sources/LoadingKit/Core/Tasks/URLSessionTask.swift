import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// A load of one URL in a session. The program resumes, suspends and cancels it; the program or its delegate observes
/// it.
///
/// A task is created suspended; ``resume()`` starts it. All of its members may be used from any thread.
open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {  // `shared` has a mutex
    let shared: Guarded<Shared>
    let sentCount = Atomic<Int64>(0)
    let receivedCount = Atomic<Int64>(0)

    /// Changed only before others have the task: one of a background session may be of an earlier run of the program.
    nonisolated(unsafe) var created: Date

    /// The session's mailbox. It also answers the program's calls to a task that has ended.
    let mailbox: DelegateMailbox?

    /// Runs the load. Used only on the session's event loop.
    nonisolated(unsafe) var engine: (any TaskRunner)?

    /// Whether the load has ended. Used only on the session's event loop.
    @exclusivity(unchecked) nonisolated(unsafe) var hasEnded = false

    /// Whether credentials or cookies were sent with one of its requests, or received with a response: results derived
    /// from it are not for other users. Used only on the session's event loop.
    nonisolated(unsafe) package var isPersonal = false

    /// Whether a program's handler loads for the task. Used only on the session's event loop.
    @exclusivity(unchecked) nonisolated(unsafe) package var hasProgramsHandler = false

    /// The loads whose requests wait, or have waited, for a connection: several where an interceptor forwards more than
    /// one. Used only on the session's event loop.
    @exclusivity(unchecked) private(set) nonisolated(unsafe) var queuedLoads: [any QueuedLoad] = []

    /// Called on the session's event loop with the heads of the task's messages. Set before the task is resumed.
    @exclusivity(unchecked) nonisolated(unsafe) package var observeMessages: (@Sendable (MessageEvent) -> Void)?
    /// Whether the records of transactions have the head as it was sent. Confined to the session's loop.
    @exclusivity(unchecked) nonisolated(unsafe) package var keepsSentHeads = false

    /// The task's ``taskIdentifier``, whatever a subclass returns.
    package let identifier: Int

    /// A task that belongs to no session and loads nothing.
    public override init() {
        mailbox = nil
        identifier = 0
        created = Date()
        shared = Guarded(Shared())
    }

    init(_ session: URLSession, _ request: URLRequest?, identifier: Int, consumer: TaskConsumer?) {
        mailbox = session.core.mailbox
        self.identifier = identifier
        created = Date()
        shared = Guarded(
            Shared(
                session: session, consumer: consumer, originalRequest: request, currentRequest: request,
                expectedToSend: request?.countOfBody ?? 0))
    }

    /// Replaces another task, which has then ended.
    init(_ session: URLSession, continuing other: URLSessionTask) {
        mailbox = session.core.mailbox
        identifier = other.identifier
        created = other.created
        var state = other.shared.withLock { LoopTransfer($0) }.value
        (state.progressUpdate, state.isResumingProgress) = (.none, false)
        let progress = state.progress
        shared = Guarded(state)
        sentCount.store(other.countOfBytesSent, ordering: .relaxed)
        super.init()
        // In one step: another thread may be resuming or suspending the task.
        other.shared.withLock { old in
            shared.withLock { ($0.lifecycle, $0.isPausedByProgress) = (old.lifecycle, old.isPausedByProgress) }
            old.lifecycle.complete()
            old.successor = self
        }
        if let progress { steer(by: progress) }
    }

    /// The task itself: a task is not copied.
    open override func copy() -> Any { self }

    /// The task itself: a task is not copied.
    open func copy(with zone: NSZone?) -> Any { self }

    // MARK: Control

    /// Starts the task, or continues it after as many calls as there were suspensions. Has no effect on a task that is
    /// running or has ended.
    open func resume() { perform { $0.resume() } }

    /// Suspends the task: no bytes are exchanged, the delegate is not called and no timeout runs until ``resume()``.
    /// Calls are counted.
    open func suspend() { perform { $0.suspend() } }

    /// Ends the task with `URLError.cancelled`. Returns at once; the delegate or completion handler is called later.
    open func cancel() { perform { $0.cancel() } }

    /// Cancels the task, and passes its resume data to the handler.
    final func cancel(_ waiting: ResumeDataHandlers, _ handler: @escaping (Data?) -> Void) {
        waiting.append(handler, in: mailbox)
        cancel()
        guard let mailbox else { return waiting.produce(nil, in: nil) }
        // Behind the end of the load, which may be about to produce resume data.
        if state == .completed { mailbox.loop.execute { waiting.produce(nil, in: mailbox) } }
    }

    /// Starts the task of an asynchronous caller, which gets the task's end even if the task was cancelled before.
    func begin(_ consumer: TaskConsumer) {
        // Every action is carried out: the delegate may have resumed or suspended the task in `didCreateTask`.
        let (session, paused) = shared.withLock { shared in
            _ = shared.lifecycle.resume()
            return (shared.session, shared.takePausedProgress())
        }
        session?.core.begin(self, consumer)
        if let paused { endPause(of: paused) }
    }

    private func perform(_ change: (inout TaskLifecycle) -> TaskLifecycle.Action) {
        let (action, session, successor, paused) = shared.withLock {
            (change(&$0.lifecycle), $0.session, $0.successor, $0.takePausedProgress())
        }
        if let successor { return successor.perform(change) }
        session?.core.perform(action, on: self)
        if let paused { endPause(of: paused) }
    }

    // MARK: Held values

    /// The session that the task belongs to; nil after the task's end.
    package var session: URLSession? { shared.withLock { $0.session } }

    /// Whether the body in the task's requests was supplied separately from the task's request.
    var hasBodyBesideRequest: Bool { false }

    /// The program's handlers that wait for the task's resume data; nil for a kind of task without such data.
    var resumeDataHandlers: ResumeDataHandlers? { nil }

    /// The kind of transfer that a background session hands over; nil for a task that runs in the program.
    var transferKind: TransferRecord.Kind? { nil }

    /// Returns the consumer to the object that runs the load.
    func takeConsumer() -> TaskConsumer? {
        shared.withLock { shared in
            shared.prefersIncrementalDelivery = shared.prefersIncrementalDelivery ?? shared.consumer?.takesPieces
            return shared.consumer.take()
        }
    }

    /// The task has ended, and its end was reported. Releases the objects that the task used, because the program may
    /// keep the task. The task's description remains.
    func releaseResources() {
        let withBody = hasBodyBesideRequest
        let gone = shared.withLock { $0.takeWhatIsHeld(withBody: withBody) }
        // Their release may run the program's code: not while the lock is held.
        withExtendedLifetime(gone) {}
    }

    // MARK: Permitted reports

    var delivery: MailboxDelivery {
        let (delivery, successor) = shared.withLock { ($0.delivery, $0.successor) }
        // Outside the lock, as a successor's initializer locks both.
        return successor?.delivery ?? delivery
    }

    // MARK: Called by its engine

    /// Makes the object that runs the task.
    func makeRunner(_ session: URLSession, _ delegates: TaskDelegates?, _ consumer: TaskConsumer) -> any TaskRunner {
        TaskEngine(self, session, delegates, makeSink(consumer, session.core))
    }

    /// Makes the object that receives the task's loaded data.
    func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        switch consumer {
        case .completion(let handler):
            CollectingSink(.completion(handler), limit: core.settings.maximumCollectedBodySize)
        case .continuation(let continuation):
            CollectingSink(.continuation(continuation), limit: core.settings.maximumCollectedBodySize)
        case .bytes(let feed, let continuation): BytesSink(feed, continuation, core.chunks)
        // Only a data task's delegate gets the body, and only a download task has a file.
        case .delegate, .delegateAndFile, .file: DiscardingSink()
        }
    }

    /// Whether the delegate supplies the body, as a stream, when the task starts.
    var requestsBodyStream: Bool { false }

    /// Counts bytes of the response's body, and returns the task's state.
    func noteReceived(_ count: Int) -> State {
        receivedCount.wrappingAdd(Int64(count), ordering: .relaxed)
        return updateReceived()
    }

    /// Updates the progress after bytes were received, and returns the task's state.
    final func updateReceived() -> State {
        let (hasProgress, state) = shared.withLock { ($0.progress != nil, $0.lifecycle.state) }
        if hasProgress { updateProgress() }
        return state
    }

    /// The load has ended. The number of bytes to receive is known now at the latest.
    ///
    /// - Parameter completes: whether the task is completed at once, and not when its delegate gets the end.
    /// - Returns: the task's response.
    final func loadDidFinish(_ error: (any Error)?, completes: Bool) -> URLResponse? {
        let received = receivedCount.load(ordering: .relaxed)
        let (hasProgress, response, former) = shared.withLock { shared in
            if error == nil { shared.settleExpectedToReceive(received) }
            var end = (isFirst: false, former: nil as (any Error)?)
            if completes { end = shared.complete(error, heedsCancellation: false) }
            return (end.isFirst && shared.progress != nil, shared.response, end.former)
        }
        withExtendedLifetime(former) {}
        if hasProgress { updateProgress() }
        return response
    }

    /// Throws where the task was created with a value from which nothing can be loaded.
    func checkCanBegin() throws {}

    /// The error of the load, with the details that the task adds.
    func described(_ error: any Error) -> any Error { error }

    /// The load has ended: answers the program's pending calls for this kind of task.
    func loadDidEnd(_ error: (any Error)?) {}

    /// The task has ended, and its end is about to be reported, if it is reported at all.
    ///
    /// - Parameters:
    ///   - error: the load's error.
    ///   - heedsCancellation: whether a task that the program has cancelled before this call fails with
    ///     `URLError.cancelled`, although the load has succeeded.
    /// - Returns: the task's error from the first call of this method.
    @discardableResult
    func settle(_ error: (any Error)?, heedsCancellation: Bool) -> (any Error)? {
        let (settled, hasProgress, former) = shared.withLock { shared in
            let end = shared.complete(error, heedsCancellation: heedsCancellation)
            return (shared.error, end.isFirst && shared.progress != nil, end.former)
        }
        withExtendedLifetime(former) {}
        if hasProgress { updateProgress() }
        return settled
    }

    // MARK: Observation

    /// A number that is unique among the session's tasks.
    open var taskIdentifier: Int { identifier }

    /// Whether the task is suspended, running, being cancelled, or completed.
    open internal(set) var state: State {
        get { shared.withLock { $0.lifecycle.state } }
        set { shared.withLock { if newValue == .completed { $0.lifecycle.complete() } } }
    }

    /// The request with which the task was created. It does not contain an upload's body after the task's end.
    open var originalRequest: URLRequest? { shared.withLock { $0.originalRequest } }

    /// The URL for which the task was made: that of its first request, which the delegate may have supplied, with
    /// `https` where the host requires it. Values for a single origin, such as a session's credentials, are for this
    /// URL's origin.
    package var firstURL: URL? {
        get { shared.withLock { $0.firstURL ?? $0.originalRequest?.url } }
        set { shared.withLock { $0.firstURL = newValue } }
    }

    /// The request that is being loaded: after a redirect, the new one. It does not contain a stream from the delegate
    /// after the task's end.
    open internal(set) var currentRequest: URLRequest? {
        get { shared.withLock { $0.currentRequest } }
        set { withExtendedLifetime(shared.withLock { exchange(&$0.currentRequest, for: newValue) }) {} }
    }

    /// The delegate has replaced the request when the task's date had come.
    func replaceRequest(by next: URLRequest) {
        currentRequest = next
        firstURL = next.url
        withExtendedLifetime(shared.withLock { exchange(&$0.begunRequest, for: next) }) {}
    }

    /// The response's head, once it was received.
    open internal(set) var response: URLResponse? {
        get { shared.withLock { $0.response } }
        set { withExtendedLifetime(shared.withLock { exchange(&$0.response, for: newValue) }) {} }
    }

    /// The task's error; nil while it is running and when it succeeded.
    open var error: (any Error)? { shared.withLock { $0.error } }

    /// A delegate for this task, called before the session's. Set it before the task is first resumed. The task holds
    /// it until the task's end was reported to it; from then on it is nil.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { shared.withLock { $0.delegate } }
        set { withExtendedLifetime(shared.withLock { exchange(&$0.delegate, for: newValue) }) {} }
    }

    /// Whether the delegate gets the body piece by piece, as it is received. Set it before the task is resumed.
    ///
    /// By default true for tasks whose delegate gets the body, and false for others: a completion handler always gets
    /// the complete body, and a download always the complete file. If false, the delegate gets the complete body as one
    /// piece, or none when the load fails; the body may then have at most
    /// ``URLSessionConfiguration/maximumCollectedBodySize`` bytes. Each part of a `multipart/x-mixed-replace` body is
    /// delivered complete.
    public final var prefersIncrementalDelivery: Bool {
        get { shared.withLock { $0.prefersIncrementalDelivery ?? $0.consumer?.takesPieces } ?? true }
        set { shared.withLock { $0.prefersIncrementalDelivery = newValue } }
    }

    /// From 0 (lowest) to 1 (highest): the order of the requests that wait for a connection. The priority may be
    /// changed while the request waits. Default ``defaultPriority``; values outside the range are clamped.
    open var priority: Float {
        get { shared.withLock { $0.priority } }
        set {
            let (session, successor) = shared.withLock { shared in
                shared.priority = Self.priority(nearestTo: newValue)
                return (shared.lifecycle.hasStarted ? shared.session : nil, shared.successor)
            }
            if let successor { return successor.priority = newValue }
            session?.core.priorityDidChange(self)
            reportChange()
        }
    }

    /// The value in the range of priorities; the default for a value that is not a number.
    package static func priority(nearestTo value: Float) -> Float {
        value.isNaN ? defaultPriority : min(max(value, 0), 1)
    }

    /// A text of the program, for human readers.
    open var taskDescription: String? {
        get { shared.withLock { $0.taskDescription } }
        set {
            shared.withLock { $0.taskDescription = newValue }
            reportChange()
        }
    }

    /// Reports a change of the task to the service that performs its transfer in the background.
    private func reportChange() {
        let (session, priority, text) = shared.withLock { ($0.session, $0.priority, $0.taskDescription) }
        guard let background = session?.core.background, transferKind != nil else { return }
        background.taskDidChange(identifier, priority: priority, taskDescription: text)
    }

    /// The task does not start before this time, even if it is resumed earlier. Nil: no limit. By Apple's documentation
    /// it has no effect on tasks of sessions that are not background sessions. Here it delays these, too.
    open var earliestBeginDate: Date? {
        get { shared.withLock { $0.earliestBeginDate } }
        set { shared.withLock { $0.earliestBeginDate = newValue } }
    }

    /// Bytes of the request's body sent so far.
    open internal(set) var countOfBytesSent: Int64 {
        get { sentCount.load(ordering: .relaxed) }
        set { sentCount.store(newValue, ordering: .relaxed) }
    }

    /// Bytes of the response's body received so far, after decoding.
    open internal(set) var countOfBytesReceived: Int64 {
        get { receivedCount.load(ordering: .relaxed) }
        set { receivedCount.store(newValue, ordering: .relaxed) }
    }

    /// The request body's size in bytes: 0 without a body, and `NSURLSessionTransferSizeUnknown` when it is not known,
    /// as for a stream without `Content-Length`, and for a file until the task starts. After a redirect that drops the
    /// body, the number of bytes that were sent before.
    open internal(set) var countOfBytesExpectedToSend: Int64 {
        get { shared.withLock { $0.expectedToSend } }
        set { shared.withLock { $0.expectedToSend = newValue } }
    }

    /// The response body's size in bytes; `NSURLSessionTransferSizeUnknown` when it is not known.
    open internal(set) var countOfBytesExpectedToReceive: Int64 {
        get { shared.withLock { $0.expectedToReceive } }
        set { shared.withLock { $0.expectedToReceive = newValue } }
    }

    /// The program's estimate of the bytes to send, which ``progress`` uses where the size is not known. In a
    /// background session it also has an effect if it is set before the task is first resumed: among transfers of equal
    /// priority, those of up to 1 MiB, sent and received together, start first.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { shared.withLock { $0.clientExpectsToSend } }
        set {
            shared.withLock { $0.clientExpectsToSend = newValue }
            updateProgress()
        }
    }

    /// The program's estimate of the bytes to receive, which ``progress`` uses where the size is not known; see also
    /// ``countOfBytesClientExpectsToSend``.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { shared.withLock { $0.clientExpectsToReceive } }
        set {
            shared.withLock { $0.clientExpectsToReceive = newValue }
            updateProgress()
        }
    }

    /// The load's progress, in bytes of the request's body and of the response's body. Cancelling it cancels the task,
    /// pausing it suspends the task, and resuming it ends that suspension; the same calls on a parent progress have the
    /// same effect. A progress that is paused several times counts as one suspension. Where ``resume()`` ends the last
    /// suspension, it resumes a paused progress, too.
    ///
    /// For a body of unknown size, the program's estimate counts, or no size; with neither the progress is
    /// indeterminate. It is finished when the task has succeeded, and lacks at least one unit until then. A task that
    /// replaces another also has its progress.
    open var progress: Progress {
        let (made, successor) = shared.withLock { ($0.progress, $0.successor) }
        if let made { return made }
        if let successor { return successor.progress }
        // Not a child of the thread's current progress.
        let fresh = Progress.discreteProgress(totalUnitCount: -1)
        (fresh.isCancellable, fresh.isPausable) = (true, true)
        fresh.kind = .file
        if self is URLSessionDownloadTask {
            fresh.setUserInfoObject(Progress.FileOperationKind.downloading, forKey: .fileOperationKindKey)
        }
        steer(by: fresh)
        let progress = shared.withLock { shared -> Progress in
            let kept = shared.progress ?? fresh
            shared.progress = kept
            return kept
        }
        updateProgress()
        return progress
    }

    /// A low priority, 0.25: above the lowest, which is 0, and below the default.
    public static let lowPriority: Float = 0.25
    /// The default priority, 0.5.
    public static let defaultPriority: Float = 0.5
    /// A high priority, 0.75: above the default, and below the highest, which is 1.
    public static let highPriority: Float = 0.75

    /// The state of a task.
    public enum State: Int, Sendable {
        /// The task is loading.
        case running
        /// The task was not resumed, or was suspended.
        case suspended
        /// The task was cancelled, and its delegate or completion handler is about to be called.
        case canceling
        /// The task has ended.
        case completed
    }
}

extension URLSessionTask: MailboxTask {}

// On the loop.
extension URLSessionTask {
    /// A load waits for a connection, and follows the task's priority until it leaves the queue.
    package func loadIsQueued(_ load: any QueuedLoad) {
        if !queuedLoads.contains(where: { $0 === load }) { queuedLoads.append(load) }
    }

    package func loadDidLeaveQueue(_ load: any QueuedLoad) {
        // Most loads have never waited.
        if !queuedLoads.isEmpty { queuedLoads.removeAll { $0 === load } }
    }
}

extension TaskLifecycle {
    var state: URLSessionTask.State {
        switch phase {
        case .suspended: .suspended
        case .running: .running
        case .canceling: .canceling
        case .completed: .completed
        }
    }
}

/// The size of a transfer when it is not known: -1.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
