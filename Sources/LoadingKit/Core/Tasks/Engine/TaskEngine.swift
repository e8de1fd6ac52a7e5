import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Runs one task on its session's event loop, for every scheme: makes the handler, follows redirects, applies timeouts,
/// and passes the loaded data to the task's sink. It is the only owner of the task's state.
///
/// A ``TaskStage`` decides about each next step, which the engine carries out.
///
/// The loop calls the engine as a ``LoopDeadline`` when a timeout may have passed. These calls continue until the
/// load's end, also where the load outlives its task, like the body of streams that a program has captured.
final class TaskEngine: LoopDeadline, SinkEngine, @unchecked Sendable {  // confined to `core.loop`, but for the atomic
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    /// Replaced when a data task becomes a download or a stream task.
    @exclusivity(unchecked) private(set) var task: URLSessionTask
    let core: SessionCore
    let session: URLSession
    /// Nil where neither the task nor the session has a delegate.
    let delegates: TaskDelegates?

    @exclusivity(unchecked) var stage = TaskStage()
    @exclusivity(unchecked) var clock: TaskClock
    @exclusivity(unchecked) var sink: any TaskSink
    /// Made at the first question to the delegate: most tasks have none.
    @exclusivity(unchecked) private(set) var openQuestions: DelegateQuestions?
    @exclusivity(unchecked) var log = TransactionLog()
    /// The stream from which the current load reads its body.
    @exclusivity(unchecked) private(set) var sentStream: InputStream?
    /// The reason for the end of the current load.
    @exclusivity(unchecked) private(set) var loadEnd = LoadEnd.replaced
    /// From the first wait for a network until the task's end.
    @exclusivity(unchecked) private var networkWait: NetworkWait?
    /// ``SessionCore/networkChangeCount`` when the current load began, where the task would wait for a network.
    @exclusivity(unchecked) private var networkChangeCount = 0
    /// Whether a lookup that failed while the networks changed was repeated.
    @exclusivity(unchecked) var hasRepeatedLookup = false
    /// The bodies of requests that wait until the task is resumed.
    @exclusivity(unchecked) private var resumptions: [() -> Void] = []
    /// The number of interim responses in the delegate's mailbox.
    let postedInterims = Atomic<Int>(0)
    /// The last call about sent bytes, and that about written ones.
    @exclusivity(unchecked) var postedSent: PostedBytes?
    @exclusivity(unchecked) var postedWritten: PostedBytes?

    init(_ task: URLSessionTask, _ session: URLSession, _ delegates: TaskDelegates?, _ sink: any TaskSink) {
        self.task = task
        self.session = session
        self.delegates = delegates
        self.sink = sink
        core = session.core
        clock = TaskClock(idle: 0, whole: 0, now: core.loop.now)
        super.init()
        sink.attach(to: self)
    }

    var loop: EventLoop { core.loop }

    var isOver: Bool { stage.isOver }
    var isLoading: Bool { stage.isLoading }
    var hold: TaskStage.Hold { stage.hold }

    var isQueued: Bool { clock.isQueued }

    var currentRequest: URLRequest? { task.currentRequest }

    var expectedToReceive: Int64 { task.countOfBytesExpectedToReceive }

    var canDeliver: Bool { stage.canDeliver }

    // MARK: Control

    func start() {
        guard stage.isNew else { return }
        let (state, request, date) = task.shared.withLock { shared in
            (shared.lifecycle.state, shared.currentRequest, shared.earliestBeginDate)
        }
        guard let request else { return end(with: LoadFailure(.badURL, "the task has no request")) }
        if state == .suspended { pause() }
        begin(request, at: date)
    }

    /// Holds the load back, or resumes it, according to the task's state. After two simultaneous calls on two threads
    /// the notifications may arrive in either order. Therefore only the state counts.
    func followState() {
        switch task.state {
        case .suspended: pause()
        case .running: proceed()
        case .canceling, .completed: break
        }
    }

    private func pause() {
        clock.pause(loop.now)
        stage.suspend()?.receiverDidBlock()
    }

    /// The task is suspended, and the notification of it has not arrived here yet.
    func holdSuspended() {
        stage.hold(for: .suspended)
        clock.pause(loop.now)
    }

    private func proceed() {
        guard isSuspended else { return }
        clock.proceed(loop.now)
        if !isScheduled { scheduleCheck(at: clock.firstCheck) }
        perform(sink.flush(for: self))
        release(.suspended)
        loadPostponed()
        let waiting = resumptions
        resumptions = []
        for proceed in waiting { proceed() }
    }

    var isSuspended: Bool { hold.contains(.suspended) }

    func whenResumed(_ proceed: @escaping () -> Void) { resumptions.append(proceed) }

    func cancel() {
        if isOver { return }
        conclude(.failure(URLError(.cancelled)), because: core.isBeingCancelled ? .sessionInvalidated : .cancelled)
    }

    /// The handshake of a WebSocket is complete: messages have no timeout.
    func connectionDidEstablish() { clock.endIdleLimit() }

    // MARK: Starting

    private func begin(_ request: URLRequest, at date: Date?) {
        guard let delay = date?.timeIntervalSince(core.settings.wallClock.now) else { return begin(request) }
        guard delay > 0 else { return beginDelayed(request) }
        // The timer holds the engine until it fires or is cancelled at the task's end, which always occurs. The loop's
        // time is the start of its turn: the date may not quite have come when the timer fires.
        let timer = loop.schedule(at: loop.now.advanced(bySeconds: min(delay, WallClock.longestLook))) {
            self.begin(request, at: self.task.earliestBeginDate)
        }
        if !stage.waitForBeginDate(timer) { timer.cancel() }
    }

    /// The program may supply another request now than when it created the task.
    private func beginDelayed(_ request: URLRequest) {
        guard let delegates else { return begin(request) }
        guard stage.prepare() else { return }
        let answer = questions.open { [self] disposition, other in
            search { self.decide(disposition, request, other) }
        }
        core.mailbox.post(for: task) { [session, task] in
            delegates.willBegin(request, session, task) { answer(($0, $1)) }
        }
    }

    private func decide(
        _ disposition: URLSession.DelayedRequestDisposition, _ request: URLRequest, _ other: URLRequest?
    ) {
        guard !isOver else { return }
        switch disposition {
        case .continueLoading: begin(request)
        case .cancel: cancel()
        case .useNewRequest:
            var next = other ?? request
            // The body of an upload task belongs to the task.
            if task.hasBodyBesideRequest, !next.hasBody { next = next.withBody(of: request) }
            task.replaceRequest(by: next)
            // The body of an upload task may be a stream that its delegate gives later.
            if !task.hasBodyBesideRequest { task.countOfBytesExpectedToSend = next.countOfBody }
            begin(next)
        }
    }

    private func begin(_ request: URLRequest) {
        guard stage.prepare() else { return }
        clock = TaskClock(
            idle: core.idleTimeout(of: request), whole: core.settings.timeoutIntervalForResource, now: loop.now)
        if isSuspended { clock.pause(loop.now) }
        scheduleCheck(at: clock.firstCheck)
        prepare(request)
    }

    func load(prepared request: URLRequest) {
        if stage.requestIsPrepared(request) { load(request) }
    }

    // MARK: Time

    private func scheduleCheck(at time: MonotonicTime) { if time < .distantFuture { loop.schedule(self, at: time) } }

    /// Ends the task when a timeout has passed, unless the peer was silent and the load has another answer.
    override func deadlineDidPass() {
        guard !isOver, !clock.isPaused else { return }
        switch clock.check(loop.now, stall: stage.handler?.stall) {
        case .silent(let failure):
            guard stage.handler?.answerAtDeadline() == true else { return end(with: failure) }
            noteActivity()
            if !isOver { scheduleCheck(at: clock.firstCheck) }
        case .expired(let failure): end(with: failure)
        case .checkAgain(let time): scheduleCheck(at: time)
        }
    }

    func noteActivity() { clock.noteActivity(loop.now) }

    // MARK: Loading

    private func load(_ request: URLRequest) {
        do {
            let handler = try core.makeLoad(request, task: task, isOwnRequest: true, from: nil)
            guard stage.beginLoading(handler) else { return }
            clock.isQueued = false
            if core.settings.waitsForConnectivity { networkChangeCount = core.networkChangeCount }
            if sentStream !== request.httpBodyStream { BodyStreamReader.close(sentStream) }
            sentStream = request.httpBodyStream
            // An earlier request of the task may have sent bytes.
            if request.hasBody {
                task.countOfBytesSent = 0
                task.countOfBytesExpectedToSend = request.countOfBody
            }
            core.events.note(.loadBegan, task: task.identifier)
            if delegates != nil { log.loadDidBegin(request, loop.now) }
            handler.begin(self)
        } catch {
            end(with: error)
        }
    }

    /// Loads the postponed request, unless the task is suspended: then it is loaded when the task is resumed.
    func loadPostponed() {
        guard let request = stage.takePostponed() else { return }
        noteActivity()
        load(request)
    }

    /// Loads another request in place of the current one.
    func reload(_ request: URLRequest) {
        guard let handler = stage.replaceLoad(by: request) else { return }
        task.currentRequest = request
        // An answer to one of the former load's questions would count for this load.
        openQuestions?.closeAll()
        updateHeld()
        end(handler)
        search { self.loadPostponed() }
    }

    /// Performs work that may search for a handler. Where the search calls the program's code, it is not made in a thread
    /// that has taken the turn: that one may hold a lock for which the code waits.
    private func search(_ work: @escaping @Sendable () -> Void) {
        if core.registry.callsProgram { loop.executeOnOwnThread(work) } else { work() }
    }

    /// The load has failed because there is no network, and is retried when there may be one.
    func waitForNetwork(with request: URLRequest) {
        guard let handler = stage.waitForNetwork(with: request) else { return }
        // The next load neither gets the answers nor waits for them.
        openQuestions?.closeAll()
        updateHeld()
        clock.isQueued = true
        end(handler)
        guard !isOver else { return }
        let wait = networkWait ?? NetworkWait(self)
        wait.begin(hasMissedChange: networksHaveChanged)
        guard networkWait == nil else { return }
        networkWait = wait
        guard let delegates else { return }
        core.mailbox.post(for: task) { [session, task] in
            delegates.task?.urlSession(session, taskIsWaitingForConnectivity: task)
        }
    }

    /// Whether the networks have changed since the current load began.
    var networksHaveChanged: Bool { networkChangeCount != core.networkChangeCount }

    private func end(_ handler: any LoopHandler) {
        handler.end()
        log.loadDidEnd()
    }

    // MARK: Holding back

    func performNow(_ action: SinkAction) {
        switch action {
        case .proceed: break
        case .hold(let reason): if !isOver { hold(for: reason) }
        case .flushLater: loop.executeAtEndOfTurn { [weak self] in self?.turnDidEnd() }
        case .flushAfterPause: loop.executeAfterPause { [weak self] in self?.turnDidEnd() }
        case .reload(let request):
            log.redirectsOfPart = 0
            reload(request)
        case .fail(let error): end(with: error)
        }
    }

    private func turnDidEnd() { perform(sink.turnDidEnd(for: self)) }

    func hold(for reason: TaskStage.Hold) {
        stage.hold(for: reason)
        updateHeld()
    }

    func updateHeld() {
        clock.isHeld = !hold.isEmpty || openQuestions?.isEmpty == false
        if !clock.isHeld { noteActivity() }
    }

    /// Removes a reason, and leaves the load as it is: another load replaces it.
    func removeHold(_ reason: TaskStage.Hold) {
        stage.release(reason)
        guard canDeliver else { return }
        updateHeld()
        perform(sink.holdDidEnd(for: self))
    }

    func release(_ reason: TaskStage.Hold) {
        // The delegate may be deciding about the response of another load that was forwarded for the task.
        if reason == .undecided, openQuestions?.hasResponses == true { return }
        removeHold(reason)
        switch stage.proceed() {
        case .nothing: break
        case .proceed(let handler): handler.receiverDidBecomeReady()
        case .conclude(let result): conclude(result)
        }
    }

    // MARK: Questions to the delegate

    var questions: DelegateQuestions {
        if let openQuestions { return openQuestions }
        let made = DelegateQuestions(loop)
        openQuestions = made
        return made
    }

    /// Counts a redirect, and returns the number of redirects since the sink last requested another part.
    func noteRedirect(_ response: URLResponse) -> Int {
        noteActivity()
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        core.events.note(.redirected(status: UInt16(truncatingIfNeeded: status)), task: task.identifier)
        log.didRedirect(response, loop.now)
        return log.redirectsOfPart
    }

    // MARK: Another task in place of this one

    /// Continues a data task as another task, with another sink, and reports it to its delegate.
    func become(
        _ successor: URLSessionTask, _ sink: any TaskSink,
        _ report: @escaping @Sendable (TaskDelegates, URLSession) -> Void
    ) {
        let old = task
        core.replace(old, by: successor)
        // The former task has no end of its own at which its handlers would be called.
        old.resumeDataHandlers?.produce(nil, in: core.mailbox)
        task = successor
        self.sink = sink
        core.mailbox.postEnd(of: successor) { [delegates, session] in
            if let delegates { report(delegates, session) }
            old.releaseResources()
        }
    }

    /// The connection of the current load, where its response has handed it over to the program.
    func takeConnection() throws -> TakenConnection? {
        try stage.handler?.takeConnection()
    }

    // MARK: The end

    /// Ends the load at once, also while data is held back.
    func end(with error: any Error) {
        if isOver { return }
        conclude(.failure(error))
    }

    func endInOrder(_ result: Result<Void, any Error>) {
        guard stage.loadDidEnd(result) else { return }
        if task.state == .suspended { holdSuspended() }
        if case .success = result { perform(sink.finish(for: self)) }
        if canDeliver { conclude(result) }
    }

    private func conclude(_ result: Result<Void, any Error>, because reason: LoadEnd? = nil) {
        switch result {
        case .success:
            loadEnd = .finished
            stop()
            sink.reportEnd(nil, for: self)
        case .failure(let error):
            let error = recorded(HandlerError.unwrapped(error, url: task.currentRequest?.url), from: error)
            loadEnd = reason ?? .failed(error)
            stop()
            sink.settle(task.described(error), for: self) { [self] in sink.reportEnd($0, for: self) }
        }
    }

    func stop() {
        if isOver { return }
        let last = stage.end()
        openQuestions?.closeAll()
        perform(sink.loadDidStop(self))
        loop.unschedule(self)
        networkWait.take()?.stop()
        resumptions = []
        switch last {
        case .loading(let handler, _): end(handler)
        case .waitingForBeginDate(let timer): timer.cancel()
        case .new, .preparing, .postponed, .waitingForNetwork, .ended: break
        }
        BodyStreamReader.close(sentStream)
    }

    /// The metrics of the transactions up to now.
    var metrics: URLSessionTaskMetrics {
        log.metrics(WallClockAnchor(loop), created: task.created)
    }
}
