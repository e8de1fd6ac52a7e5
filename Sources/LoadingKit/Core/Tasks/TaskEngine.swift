import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Runs one task on its session's event loop, whatever the scheme: finds the handler, follows redirects, keeps the
/// time, and tells the task's consumer. It is the one owner of the task's state.
///
/// The loop calls it when its clock is to be looked at. Until it is over that goes on, also where the load outlives its
/// task, as the body of streams that a program has captured does.
final class TaskEngine: LoopDeadline, TaskRunner, @unchecked Sendable {  // confined to `core.loop`
    /// Redirects that a task follows; one more is `URLError.httpTooManyRedirects`.
    static let maximumRedirects = 20

    /// Why nothing may be told to the consumer at the moment.
    struct Hold: OptionSet {
        let rawValue: UInt8
        /// The task is suspended.
        static let suspended = Hold(rawValue: 1)
        /// The delegate has not yet said what to do with the response or a redirect.
        static let undecided = Hold(rawValue: 2)
        /// The delegate, or the reader of `bytes`, is behind.
        static let behind = Hold(rawValue: 4)
        /// A download's file is not yet complete.
        static let writing = Hold(rawValue: 8)
    }

    /// Holds the challenge, so that no other is taken for it.
    private struct OpenChallenge {
        let challenge: URLAuthenticationChallenge
        let decide: ChallengeDecision
    }

    private enum Stage {
        case new
        case loading(any LoopHandler)
        /// What is to be loaded next, at the beginning or after a redirect, once the task is no longer suspended.
        case postponed(URLRequest)
        case ended
    }

    /// Another one from then on when a data task becomes a download or a stream task.
    var task: URLSessionTask
    let core: SessionCore
    let session: URLSession
    var loop: EventLoop { core.loop }

    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    @exclusivity(unchecked) private var stage = Stage.new
    @exclusivity(unchecked) private(set) var hold: Hold = []
    @exclusivity(unchecked) private var isHandlerWaiting = false
    /// Made when the delegate is first asked something: most tasks ask nothing.
    private var openQuestions: OpenQuestions?
    /// The challenges that the delegate was given and has not answered.
    private var openChallenges: [ObjectIdentifier: OpenChallenge] = [:]
    /// How the load ended while the consumer could not be told.
    @exclusivity(unchecked) private var heldEnd: Result<Void, any Error>?
    /// What the delegate is to be asked before that.
    var heldQuestion: (() -> Void)?
    private var redirectCount = 0
    /// The stream that the load under way takes its body from.
    private(set) var sentStream: InputStream?

    @exclusivity(unchecked) var consumer: TaskConsumer
    @exclusivity(unchecked) var collector = BodyCollector()
    /// A piece of the body that a handler is filling, for a consumer that takes pieces.
    @exclusivity(unchecked) var chunk: BodyChunk?
    var willFlushChunk = false
    /// Body bytes that wait in the delegate's mailbox.
    private(set) lazy var backlog = Backlog()
    /// Writes a download's file.
    @exclusivity(unchecked) var spool: DownloadSpool?
    var resuming: Resuming?
    /// While the task waits for a network, and until it is over.
    var networkObserver: NetworkMonitor.Observer?
    var networkTimer: LoopTimer?
    /// Takes a response apart of which each part replaces the one before, which `whole` is the response of.
    @exclusivity(unchecked) var parts: MixedReplaceReader?
    var whole: URLResponse?
    /// Where a download's file is, once it is complete.
    @exclusivity(unchecked) var location: URL?
    let delegate: TaskDelegates
    @exclusivity(unchecked) private var transactions: [TransactionRecord] = []
    @exclusivity(unchecked) private var loadNotes: LoadNotes?
    @exclusivity(unchecked) private var clock: TaskClock
    /// Whether a task waits for the result.
    @exclusivity(unchecked) private var isAwaited = false
    /// Fires when a task with an `earliestBeginDate` is to begin.
    private var timer: LoopTimer?

    init(_ task: URLSessionTask, _ session: URLSession, _ consumer: TaskConsumer) {
        self.task = task
        self.session = session
        self.consumer = consumer
        core = session.core
        delegate = TaskDelegates(session, task)
        clock = TaskClock(idle: 0, whole: 0, now: core.loop.now)
        super.init()
        if case .continuation = consumer {
            isAwaited = true
            loop.awaitedResults += 1
        }
    }

    // MARK: Control

    func start() {
        guard case .new = stage else { return }
        if case .bytes(let feed, _) = consumer {
            feed.onDemand = { [weak self] in self?.release(.behind) }
            feed.onCancel = { [weak self] in self?.cancel() }
        }
        guard let request = task.currentRequest else {
            return end(with: LoadFailure(.badURL, "the task has no request"))
        }
        followState()
        beginWhenDue(request)
    }

    private func beginWhenDue(_ request: URLRequest) {
        guard let delay = task.earliestBeginDate?.timeIntervalSinceNow else { return begin(request) }
        guard delay > 0 else { return beginDelayed(request) }
        // It holds this object until it fires, or until the task's end, which always comes. The loop's time is that of
        // its turn's begin, so that the date may not quite have come then.
        timer = loop.schedule(at: loop.now.advanced(bySeconds: delay)) { self.beginWhenDue(request) }
    }

    /// Holds the load back, or lets it go on, as the task's state says. Of two calls from two threads at once the notes
    /// may arrive in either order, so it is the state that counts.
    func followState() {
        switch task.state {
        case .suspended: pause()
        case .running: proceed()
        case .canceling, .completed: break
        }
    }

    private func pause() {
        holdSuspended()
        guard case .loading(let handler) = stage, !isHandlerWaiting else { return }
        isHandlerWaiting = true
        handler.receiverIsBusy()
    }

    private func holdSuspended() {
        hold.insert(.suspended)
        clock.pause(loop.now)
    }

    private func proceed() {
        guard hold.contains(.suspended) else { return }
        clock.proceed(loop.now)
        if !isScheduled { look(at: clock.firstLook) }
        flushChunk()
        release(.suspended)
        loadPostponed()
    }

    var questions: OpenQuestions {
        if let openQuestions { return openQuestions }
        let made = OpenQuestions(loop)
        openQuestions = made
        return made
    }

    var isOver: Bool {
        if case .ended = stage { true } else { false }
    }

    var isQueued: Bool { clock.isQueued }

    func cancel() { end(with: URLError(.cancelled)) }

    /// A WebSocket's handshake is done.
    func isEstablished() { clock.endIdleLimit() }

    // MARK: Loading

    /// The program may have another wish than when it made the task.
    private func beginDelayed(_ request: URLRequest) {
        guard delegate.exist else { return begin(request) }
        let answer = questions.ask { [self] disposition, other in decide(disposition, request, other) }
        core.mailbox.post(for: task) { [delegate, session, task] in
            delegate.willBegin(request, session, task) { answer(($0, $1)) }
        }
    }

    private func decide(
        _ disposition: URLSession.DelayedRequestDisposition, _ request: URLRequest, _ other: URLRequest?
    ) {
        switch disposition {
        case .continueLoading: begin(request)
        case .cancel: cancel()
        case .useNewRequest:
            let request = other ?? request
            task.currentRequest = request
            task.firstURL = request.url
            begin(request)
        }
    }

    private func begin(_ request: URLRequest) {
        guard case .new = stage else { return }
        timer = nil
        clock = TaskClock(
            idle: core.idleTimeout(of: request), whole: core.settings.timeoutIntervalForResource, now: loop.now)
        if hold.contains(.suspended) { clock.pause(loop.now) }
        look(at: clock.firstLook)
        prepare(request)
    }

    func loadUnlessSuspended(_ request: URLRequest) {
        stage = .postponed(request)
        if !hold.contains(.suspended) { load(request) }
    }

    private func look(at time: MonotonicTime) { if time < .distantFuture { loop.schedule(self, at: time) } }

    /// Ends the task when its time is over.
    override func deadlineDidPass() {
        guard !isOver, !clock.isPaused else { return }
        switch clock.check(loop.now) {
        case .expired(let failure): end(with: failure)
        case .look(let time): look(at: time)
        }
    }

    private func load(_ request: URLRequest) {
        do {
            let handler = try core.makeLoad(request, task: task, isOwnRequest: true, from: 0)
            stage = .loading(handler)
            if sentStream !== request.httpBodyStream { BodyStreamReader.close(sentStream) }
            sentStream = request.httpBodyStream
            if delegate.exist {
                loadNotes = LoadNotes(request, loop.now, transactionCount: transactions.count)
            }
            handler.begin(self)
        } catch {
            end(with: error)
        }
    }

    private func follow(_ request: URLRequest) {
        task.currentRequest = request
        loadAnew(request)
    }

    /// The load has come to nothing, and is tried again later.
    func stopLoading(postponing request: URLRequest) {
        if case .loading(let handler) = stage { end(handler) }
        isHandlerWaiting = false
        stage = .postponed(request)
        clock.isQueued = true
    }

    /// Tries again, unless the task is suspended: then it is tried when that ends.
    func loadPostponed() {
        guard case .postponed(let request) = stage, !hold.contains(.suspended) else { return }
        clock.isQueued = false
        noteActivity()
        load(request)
    }

    /// Loads another request in place of the one that is being loaded.
    func loadAnew(_ request: URLRequest) {
        guard case .loading(let handler) = stage else { return }
        isHandlerWaiting = false
        end(handler)
        hold.remove(.undecided)
        loadUnlessSuspended(request)
    }

    private func end(_ handler: any LoopHandler) {
        handler.end()
        if let record = loadNotes.take()?.record(transactionCount: transactions.count) { collect(record) }
    }

    // MARK: Holding back

    /// Says whether the handler may go on, and remembers that it waits.
    func flow() -> Flow {
        if isOver { return .wait }
        guard !hold.isEmpty else { return .more }
        isHandlerWaiting = true
        return .wait
    }

    func hold(for reason: Hold) {
        hold.insert(reason)
        updateHeld()
    }

    /// The connection of the load under way, where its response has left it to the program.
    func takeConnection() throws -> TakenConnection? {
        guard case .loading(let handler) = stage else { return nil }
        return try handler.takeConnection()
    }

    private func updateHeld() {
        clock.isHeld = !hold.isEmpty || !openChallenges.isEmpty
        if !clock.isHeld { noteActivity() }
    }

    func release(_ reason: Hold) {
        hold.remove(reason)
        guard hold.isEmpty, !isOver else { return }
        updateHeld()
        if parts != nil, splitOn() == .wait { return }
        if let question = heldQuestion.take() { question() }
        if let heldEnd { return conclude(heldEnd) }
        guard isHandlerWaiting, case .loading(let handler) = stage else { return }
        isHandlerWaiting = false
        handler.receiverIsReady()
    }

    // MARK: The end

    /// Ends the load at once, whatever is held back.
    func end(with error: any Error) {
        if isOver { return }
        conclude(.failure(error))
    }

    private func endInOrder(_ result: Result<Void, any Error>) {
        if isOver { return }
        if task.state == .suspended { holdSuspended() }
        if case .success = result, finishParts() == .wait, !isOver {
            heldEnd = result
            return
        }
        if isOver { return }
        if let spool, case .success = result {
            hold(for: .writing)
            heldEnd = result
            return finishFile(spool)
        }
        if hold.isEmpty { conclude(result) } else { heldEnd = result }
    }

    private func conclude(_ result: Result<Void, any Error>) {
        stop()
        let error = failure(of: result)
        if let spool, case .failure = result { settleFile(spool, error) { [self] in tell($0) } } else { tell(error) }
    }

    /// Ends the load, and tells nobody.
    func stop() {
        let last = stage
        stage = .ended
        heldEnd = nil
        heldQuestion = nil
        openChallenges = [:]
        openQuestions?.closeAll()
        if isAwaited { loop.awaitedResults -= 1 }
        isAwaited = false
        loop.unschedule(self)
        timer?.cancel()
        timer = nil
        stopWaitingForNetwork()
        if case .loading(let handler) = last { end(handler) }
        BodyStreamReader.close(sentStream)
        flushChunk()
    }

    /// Whether a delegate is told of the end, whose program may cancel the task up to then. That a WebSocket is closed in
    /// order is a cancellation, too.
    private var tellsDelegate: Bool { consumer.isDelegate && delegate.exist && !(task is URLSessionWebSocketTask) }

    private func tell(_ error: (any Error)?) {
        // A stream task's end is told when the program has read up to it.
        if case .stream = consumer { return tellEnd(error) }
        // How much there was to receive is known now at the latest.
        if error == nil {
            task.shared.withLock { $0.settleExpectedToReceive(task.receivedCount.load(ordering: .relaxed)) }
        }
        if !tellsDelegate { task.settle(error, heedsCancellation: false) }
        if error == nil, let location { tellLocation(location) }
        (task as? URLSessionDownloadTask)?.produce(
            (error as? URLError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data)
        (task as? URLSessionWebSocketTask)?.link?.end(error)
        if delegate.exist { tellMetrics(error) }
        tellEnd(error)
        // Else behind the last that is told, on the delegate queue.
        if !delegate.exist, !consumer.isHandler { task.letGo() }
        core.finished(task)
    }

    private func failure(of result: Result<Void, any Error>) -> (any Error)? {
        guard case .failure(let error) = result else { return nil }
        return HandlerError.unwrapped(error, url: task.currentRequest?.url)
    }

    private func tellMetrics(_ error: (any Error)?) {
        let isLast = !consumer.isHandler && !consumer.isDelegate
        core.mailbox.postEnd(of: task) { [delegate, session, task, metrics] in
            task.settle(error, heedsCancellation: true)
            delegate.didCollect(metrics, session, task)
            if isLast { task.letGo() }
        }
    }

    /// Up to now.
    var metrics: URLSessionTaskMetrics {
        let anchor = WallClockAnchor(date: Date(), monotonicTime: loop.now)
        return URLSessionTaskMetrics(
            transactionMetrics: transactions.map { record in
                URLSessionTaskTransactionMetrics(
                    request: record.request, response: record.response, timings: record.timings, anchor: anchor)
            },
            taskInterval: DateInterval(start: min(task.created, anchor.date), end: anchor.date),
            redirectCount: redirectCount)
    }
}

// MARK: - LoadReceiver

extension TaskEngine: LoadReceiver {
    func receive(_ response: URLResponse) -> Flow {
        parts = partsReader(of: response)
        whole = parts == nil ? nil : response
        return begin(response)
    }

    func begin(_ response: URLResponse) -> Flow {
        noteActivity()
        let hasProgress = task.shared.withLock { shared in
            shared.response = response
            shared.expectedToReceive = response.expectedContentLength
            return shared.progress != nil
        }
        if hasProgress { task.updateProgress() }
        loadNotes?.note(response, loop.now)
        deliver(response)
        return flow()
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        count(bytes.count)
        if parts != nil { return split(bytes) }
        deliver(bytes)
        return flow()
    }

    func receive(_ data: Data) -> Flow {
        count(data.count)
        if parts != nil { return data.withUnsafeBytes { split($0) } }
        deliver(data)
        return flow()
    }

    func bodyBufferFilled(_ count: Int) -> Flow {
        self.count(count)
        deliverBuffer(count)
        return flow()
    }

    private func count(_ bytes: Int) {
        noteActivity()
        // A stream task counts what it reads.
        if case .stream = consumer {} else { task.receivedCount.wrappingAdd(Int64(bytes), ordering: .relaxed) }
        let (hasProgress, state) = task.shared.withLock { ($0.progress != nil, $0.lifecycle.state) }
        if hasProgress { task.updateProgress() }
        // The note of it may still be on its way here.
        if state == .suspended { holdSuspended() }
    }

    func receive(informational response: HTTPURLResponse) {
        noteActivity()
        guard delegate.exist else { return }
        core.mailbox.post(for: task) { [delegate, session, task] in
            delegate.didReceive(informational: response, session, task)
        }
    }

    func redirect(
        to request: URLRequest, refusal: LoadFailure?, response: URLResponse, decide: @escaping (Bool) -> Void
    ) {
        noteActivity()
        redirectCount += 1
        loadNotes?.note(response, loop.now)
        guard redirectCount <= Self.maximumRedirects else {
            return end(with: LoadFailure(.httpTooManyRedirects, "the server redirected \(redirectCount) times"))
        }
        let settle = { [self] (next: URLRequest?) in
            guard case .loading = stage else { return }
            guard let next else {
                release(.undecided)
                return decide(false)
            }
            if let refusal, next.url == request.url { return refuse(next, refusal) }
            renewBody(of: next) { [self] request in
                release(.undecided)
                decide(true)
                follow(request)
            }
        }
        guard delegate.exist, let response = response as? HTTPURLResponse else { return settle(request) }
        hold(for: .undecided)
        let answer = questions.ask(settle)
        core.mailbox.post(for: task) { [delegate, session, task] in
            delegate.willRedirect(session, task, response, request, answer)
        }
    }

    /// What no handler loads is said to be that, as it is of any task; the rest is not for servers to ask for.
    private func refuse(_ request: URLRequest, _ refusal: LoadFailure) {
        guard core.registry.find(request, task: nil) == nil else { return end(with: refusal) }
        task.currentRequest = request
        end(with: LoadFailure.noHandler(for: request))
    }

    /// A body's stream that was read from is of no use to the next request: the program is asked for another, unless it
    /// has put one into the request.
    private func renewBody(of request: URLRequest, _ proceed: @escaping (URLRequest) -> Void) {
        guard let stream = request.httpBodyStream, stream === sentStream else {
            return proceed(request)
        }
        needNewBodyStream { [self] stream in
            guard case .loading = stage else { return }
            guard let stream else {
                return end(
                    with: LoadFailure(
                        .requestBodyStreamExhausted,
                        "the redirect needs the request's body again, and the delegate gave no new body stream"))
            }
            var request = request
            request.httpBodyStream = stream
            proceed(request)
        }
    }

    var answersChallenges: Bool { delegate.exist }

    var challengeDelegate: AnyObject? { delegate.ownChallenged(core) }

    func challenge(_ challenge: URLAuthenticationChallenge, decide: @escaping ChallengeDecision) {
        noteActivity()
        guard delegate.exist else { return decide(.performDefaultHandling, nil) }
        openChallenges[ObjectIdentifier(challenge)] = OpenChallenge(challenge: challenge, decide: decide)
        updateHeld()
        let answer = questions.ask { [self] disposition, credential in
            takeDecision(of: challenge)?(disposition, credential)
        }
        core.mailbox.post(for: task) { [delegate, session, task] in
            delegate.didReceive(challenge, session, task) { answer(($0, $1)) }
        }
    }

    func withdraw(_ challenge: URLAuthenticationChallenge) { _ = takeDecision(of: challenge) }

    private func takeDecision(of challenge: URLAuthenticationChallenge) -> ChallengeDecision? {
        guard let open = openChallenges.removeValue(forKey: ObjectIdentifier(challenge)) else { return nil }
        updateHeld()
        return open.decide
    }

    func needNewBodyStream(_ give: @escaping (InputStream?) -> Void) {
        guard delegate.exist else { return give(nil) }
        let answer = questions.ask(give)
        core.mailbox.post(for: task) { [delegate, session, task] in delegate.needNewBodyStream(session, task, answer) }
    }

    func sentBody(_ count: Int, expected: Int64) {
        noteActivity()
        let (total, _) = task.sentCount.wrappingAdd(Int64(count), ordering: .relaxed)
        task.countOfBytesExpectedToSend = expected
        task.updateProgress()
        guard delegate.exist else { return }
        core.mailbox.post(for: task) { [delegate, session, task] in
            delegate.didSend(session, task, Int64(count), total: total &+ Int64(count), expected: expected)
        }
    }

    func noteActivity() { clock.noteActivity(loop.now) }

    func setQueued(_ isQueued: Bool) {
        clock.isQueued = isQueued
        noteActivity()
    }

    func collect(_ transaction: @autoclosure () -> TransactionRecord) {
        if delegate.exist { transactions.append(transaction()) }
    }

    func finish() {
        loadNotes?.timings.responseEnd = loop.now
        endInOrder(.success(()))
    }

    func fail(_ error: any Error) { if !waitsForNetwork(after: error) { endInOrder(.failure(error)) } }
}
