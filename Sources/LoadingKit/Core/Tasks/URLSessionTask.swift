import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// A load of one URL in a session: resumed, suspended and cancelled by the program, observed by it or its delegate.
///
/// A task is made suspended; ``resume()`` starts it. All of its members may be used from any thread.
open class URLSessionTask: NSObject, NSCopying, ProgressReporting, @unchecked Sendable {  // `shared` has a mutex
    let shared: Guarded<Shared>
    let sentCount = Atomic<Int64>(0)
    let receivedCount = Atomic<Int64>(0)

    let created: Date

    /// The session's: what a program asks of a task that is over is answered there, too.
    let mailbox: DelegateMailbox?

    /// Runs the load. Touched on the session's event loop alone.
    nonisolated(unsafe) var engine: (any TaskRunner)?

    /// Whether credentials or cookies went with one of its requests, or came with a response: what is made of that is not for
    /// others. Touched on the session's event loop alone.
    nonisolated(unsafe) package var isPersonal = false

    /// Whether a handler of the program's loads for the task. Touched on the session's event loop alone.
    nonisolated(unsafe) package var hasProgramsHandler = false

    /// A number that is unique among the session's tasks.
    public let taskIdentifier: Int

    /// A task that belongs to no session and loads nothing.
    public override init() {
        mailbox = nil
        taskIdentifier = 0
        created = Date()
        shared = Guarded(Shared())
    }

    init(_ session: URLSession, _ request: URLRequest?, identifier: Int, consumer: TaskConsumer?) {
        mailbox = session.core.mailbox
        taskIdentifier = identifier
        created = Date()
        shared = Guarded(
            Shared(
                session: session, consumer: consumer, originalRequest: request, currentRequest: request,
                expectedToSend: request?.httpBody.map { Int64($0.count) } ?? NSURLSessionTransferSizeUnknown))
    }

    /// Goes on in another task's place, which is over then.
    init(_ session: URLSession, continuing other: URLSessionTask) {
        mailbox = session.core.mailbox
        taskIdentifier = other.taskIdentifier
        created = other.created
        let state = other.shared.withLock { LoopTransfer($0) }.value
        shared = Guarded(state)
        sentCount.store(other.countOfBytesSent, ordering: .relaxed)
        super.init()
        // In one step: another thread may be resuming or suspending it.
        other.shared.withLock { old in
            shared.withLock { $0.lifecycle = old.lifecycle }
            old.lifecycle.complete()
            old.successor = self
        }
        if let progress = state.progress { steer(by: progress) }
    }

    /// The task itself: there is one of each.
    open override func copy() -> Any { self }

    /// The task itself: there is one of each.
    open func copy(with zone: NSZone?) -> Any { self }

    // MARK: Control

    /// Starts the task, or lets it go on after as many calls as it was suspended with. Does nothing to a task that is
    /// running or over.
    open func resume() { perform { $0.resume() } }

    /// Suspends the task: no bytes are exchanged, the delegate is not called and no timeout runs until ``resume()``.
    /// Calls are counted.
    open func suspend() { perform { $0.suspend() } }

    /// Ends the task with `URLError.cancelled`. Returns at once; the delegate or completion handler is called later.
    open func cancel() { perform { $0.cancel() } }

    /// Starts the task of an asynchronous caller, which learns of its end also if it was cancelled before.
    func begin(_ consumer: TaskConsumer) {
        // Whatever has to be done: the delegate, in `didCreateTask`, may have resumed or suspended the task.
        let session = shared.withLock { shared in
            _ = shared.lifecycle.resume()
            return shared.session
        }
        session?.core.begin(self, consumer)
    }

    private func perform(_ change: (inout TaskLifecycle) -> TaskLifecycle.Action) {
        let (action, session, successor) = shared.withLock { (change(&$0.lifecycle), $0.session, $0.successor) }
        if let successor { return successor.perform(change) }
        session?.core.perform(action, on: self)
    }

    // MARK: What it holds

    /// The session that the task belongs to, until the task is over.
    var session: URLSession? { shared.withLock { $0.session } }

    /// Whether the body in the task's requests was given beside the one that the task was made with.
    var hasBodyBesideRequest: Bool { false }

    /// What a background session hands over; nil for a task that runs in the program.
    var transferKind: TransferRecord.Kind? { nil }

    /// Gives the consumer to what runs the load.
    func takeConsumer() -> TaskConsumer? {
        shared.withLock { shared in
            shared.prefersIncrementalDelivery = shared.prefersIncrementalDelivery ?? shared.consumer?.takesPieces
            return shared.consumer.take()
        }
    }

    /// The task is over, and its end was reported. Releases what the task worked with, as the program may keep the task.
    /// What describes the task stays.
    func letGo() {
        let withBody = hasBodyBesideRequest
        let gone = shared.withLock { $0.takeWhatIsHeld(withBody: withBody) }
        // As they go code of the program's may run: not while the lock is held.
        withExtendedLifetime(gone) {}
    }

    // MARK: What may be reported

    /// What may be reported of the task now.
    enum Delivery {
        case goesOn
        /// The task is suspended, or waits for an answer about the cache.
        case waits
        /// The program has cancelled the task.
        case endsOnly
    }

    var delivery: Delivery {
        shared.withLock { shared in
            if shared.lifecycle.wasCancelled { return .endsOnly }
            return shared.lifecycle.state == .suspended || shared.awaitsCacheAnswer ? .waits : .goesOn
        }
    }

    // MARK: What its engine calls

    /// Makes what runs the task.
    func makeRunner(_ session: URLSession, _ delegates: TaskDelegates?, _ consumer: TaskConsumer) -> any TaskRunner {
        TaskEngine(self, session, delegates, makeSink(consumer, session.core))
    }

    /// Makes what receives what the task loads.
    func makeSink(_ consumer: TaskConsumer, _ core: SessionCore) -> any TaskSink {
        switch consumer {
        case .completion(let handler):
            CollectingSink(.completion(handler), limit: core.settings.maximumCollectedBodySize)
        case .continuation(let continuation):
            CollectingSink(.continuation(continuation), limit: core.settings.maximumCollectedBodySize)
        case .bytes(let feed, let continuation): BytesSink(feed, continuation, core)
        // The body is a data task's delegate's, and a file a download task's.
        case .delegate, .delegateAndFile, .file: DiscardingSink()
        }
    }

    /// Whether the delegate gives the body, as a stream, when the task begins.
    var requestsBodyStream: Bool { false }

    /// Counts bytes of the response's body, and gives the task's state.
    func noteReceived(_ count: Int) -> State {
        receivedCount.wrappingAdd(Int64(count), ordering: .relaxed)
        return updateReceived()
    }

    /// Brings the progress up to date after bytes were received, and gives the task's state.
    final func updateReceived() -> State {
        let (hasProgress, state) = shared.withLock { ($0.progress != nil, $0.lifecycle.state) }
        if hasProgress { updateProgress() }
        return state
    }

    /// The load is over. How much there was to receive is known now at the latest.
    ///
    /// - Parameter completes: whether the task is completed at once, and not when its delegate gets the end.
    /// - Returns: the task's response.
    final func loadDidFinish(_ error: (any Error)?, completes: Bool) -> URLResponse? {
        let received = receivedCount.load(ordering: .relaxed)
        let (hasProgress, response) = shared.withLock { shared in
            if error == nil { shared.settleExpectedToReceive(received) }
            let isFirst = completes && shared.complete(error, heedsCancellation: false)
            return (isFirst && shared.progress != nil, shared.response)
        }
        if hasProgress { updateProgress() }
        return response
    }

    /// Throws where the task was made with something that nothing can be loaded from.
    func checkCanBegin() throws {}

    /// The error that the load has failed with, with what the task adds to it.
    func described(_ error: any Error) -> any Error { error }

    /// The load is over: what the program has asked of a task of this kind is answered.
    func loadDidEnd(_ error: (any Error)?) {}

    /// The task is over, and its end is about to be reported, if it is to be reported.
    ///
    /// - Parameters:
    ///   - error: what the load has failed with.
    ///   - heedsCancellation: whether a task that the program has cancelled up to here has failed with
    ///     `URLError.cancelled`, though the load has succeeded.
    /// - Returns: what the task has failed with, when it was settled first.
    @discardableResult
    func settle(_ error: (any Error)?, heedsCancellation: Bool) -> (any Error)? {
        let (settled, hasProgress) = shared.withLock { shared in
            let isFirst = shared.complete(error, heedsCancellation: heedsCancellation)
            return (shared.error, isFirst && shared.progress != nil)
        }
        if hasProgress { updateProgress() }
        return settled
    }

    // MARK: Observation

    /// Whether the task is suspended, running, being cancelled, or over.
    open internal(set) var state: State {
        get { shared.withLock { $0.lifecycle.state } }
        set { shared.withLock { if newValue == .completed { $0.lifecycle.complete() } } }
    }

    /// The request that the task was made with. The body of an upload is not part of it once the task is over.
    open var originalRequest: URLRequest? { shared.withLock { $0.originalRequest } }

    /// The URL that the task was made for: of the request that it began with, which the delegate may have given; secured
    /// where its host asks for that. What is for one origin alone, such as a session's credentials, is for that of this URL.
    package var firstURL: URL? {
        get { shared.withLock { $0.firstURL ?? $0.originalRequest?.url } }
        set { shared.withLock { $0.firstURL = newValue } }
    }

    /// The request that is being loaded: after a redirect, the new one. A stream that the delegate gave for it is not part of
    /// it once the task is over.
    open internal(set) var currentRequest: URLRequest? {
        get { shared.withLock { $0.currentRequest } }
        set { shared.withLock { $0.currentRequest = newValue } }
    }

    /// The response's head, once it was received.
    open internal(set) var response: URLResponse? {
        get { shared.withLock { $0.response } }
        set { shared.withLock { $0.response = newValue } }
    }

    /// What the task failed with; nil while it is running and when it succeeded.
    open var error: (any Error)? { shared.withLock { $0.error } }

    /// A delegate for this task, called before the session's. Set it before the task is first resumed. The task holds it
    /// until the task's end was reported to it; from then on it is nil.
    open var delegate: (any URLSessionTaskDelegate)? {
        get { shared.withLock { $0.delegate } }
        set { shared.withLock { $0.delegate = newValue } }
    }

    /// Whether the delegate gets the body piece by piece, as it is received. Set it before the task is resumed.
    ///
    /// By default true for tasks whose delegate gets the body, and false for others: a completion handler and a download get it
    /// whole in any case. If false, the delegate gets the whole body as one piece, or none when the load fails; it may have
    /// ``URLSessionConfiguration/maximumCollectedBodySize`` bytes then. Each part of a `multipart/x-mixed-replace` body is whole.
    public final var prefersIncrementalDelivery: Bool {
        get { shared.withLock { $0.prefersIncrementalDelivery ?? $0.consumer?.takesPieces } ?? true }
        set { shared.withLock { $0.prefersIncrementalDelivery = newValue } }
    }

    /// From 0 (lowest) to 1 (highest): which of the requests that wait for a connection goes first.
    /// Default ``defaultPriority``; values outside are bounded.
    open var priority: Float {
        get { shared.withLock { $0.priority } }
        set {
            shared.withLock { $0.priority = newValue.isNaN ? Self.defaultPriority : min(max(newValue, 0), 1) }
            reportChange()
        }
    }

    /// Text of the program's own, for people.
    open var taskDescription: String? {
        get { shared.withLock { $0.taskDescription } }
        set {
            shared.withLock { $0.taskDescription = newValue }
            reportChange()
        }
    }

    /// What performs the task's transfer in the background has to know what is changed of it.
    private func reportChange() {
        let (session, priority, text) = shared.withLock { ($0.session, $0.priority, $0.taskDescription) }
        guard let background = session?.core.background, transferKind != nil else { return }
        background.taskDidChange(taskIdentifier, priority: priority, taskDescription: text)
    }

    /// The task does not begin before this time, however early it is resumed. Nil: at once.
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

    /// The request body's size in bytes; `NSURLSessionTransferSizeUnknown` when it is not known.
    open internal(set) var countOfBytesExpectedToSend: Int64 {
        get { shared.withLock { $0.expectedToSend } }
        set { shared.withLock { $0.expectedToSend = newValue } }
    }

    /// The response body's size in bytes; `NSURLSessionTransferSizeUnknown` when it is not known.
    open internal(set) var countOfBytesExpectedToReceive: Int64 {
        get { shared.withLock { $0.expectedToReceive } }
        set { shared.withLock { $0.expectedToReceive = newValue } }
    }

    /// The program's guess of the bytes to send, which ``progress`` goes by where the size is not known. In a background session it
    /// counts when it is set before the task is first resumed, too: among transfers of equal priority those of up to 1 MiB, sent
    /// and received together, begin first.
    open var countOfBytesClientExpectsToSend: Int64 {
        get { shared.withLock { $0.clientExpectsToSend } }
        set {
            shared.withLock { $0.clientExpectsToSend = newValue }
            updateProgress()
        }
    }

    /// The program's guess of the bytes to receive, which ``progress`` goes by where the size is not known; and see
    /// ``countOfBytesClientExpectsToSend``.
    open var countOfBytesClientExpectsToReceive: Int64 {
        get { shared.withLock { $0.clientExpectsToReceive } }
        set {
            shared.withLock { $0.clientExpectsToReceive = newValue }
            updateProgress()
        }
    }

    /// The load's progress, in bytes of the request's body and of the response's. Cancelling it cancels the task, pausing it
    /// suspends the task, and resuming it resumes the task; so does what is done to a progress that it is a child of.
    ///
    /// Of a body whose size is not known yet, the program's guess counts, or none; with neither it is indeterminate. It is
    /// finished when the task has succeeded. A task that takes another's place has its progress, too.
    open var progress: Progress {
        if let made = shared.withLock({ $0.progress }) { return made }
        let fresh = Progress(totalUnitCount: -1)
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

    private func steer(by progress: Progress) {
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.suspend() }
        progress.resumingHandler = { [weak self] in self?.resume() }
    }

    /// Brings the progress up to date, where the program has read it.
    func updateProgress() {
        guard let progress = shared.withLock({ $0.progress }) else { return }
        let done = countOfBytesSent &+ countOfBytesReceived
        let total = shared.withLock { $0.totalBytes(sent: countOfBytesSent, done: done) }
        // An empty body is done, too, and a total of 0 would not say so.
        let isEmpty = total == 0 && done == 0 && state == .completed
        progress.totalUnitCount = isEmpty ? 1 : total
        progress.completedUnitCount = isEmpty ? 1 : done
    }

    /// The lowest priority, 0.
    public static let lowPriority: Float = 0.0
    /// The priority of tasks that set none, 0.5.
    public static let defaultPriority: Float = 0.5
    /// The highest priority, 1.
    public static let highPriority: Float = 1.0

    /// Where a task stands.
    public enum State: Int, Sendable {
        /// It is loading.
        case running
        /// It was not resumed, or was suspended.
        case suspended
        /// It was cancelled, and its delegate or completion handler is about to be called.
        case canceling
        /// It is over.
        case completed
    }
}

/// The size of a transfer when it is not known: -1.
public let NSURLSessionTransferSizeUnknown: Int64 = -1
