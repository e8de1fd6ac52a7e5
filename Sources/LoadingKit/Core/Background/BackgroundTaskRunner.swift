import Foundation
import LoadingKitTransport

/// Stands for a background session's task on the session's loop: passes on what the program does to the task, and reports what
/// becomes of its transfer.
final class BackgroundTaskRunner: TaskRunner, @unchecked Sendable {  // confined to the loop
    private enum Stage {
        /// It is being handed over. What the program does meanwhile is passed on when that is done.
        case beginning
        case begun
        /// Its end is being reported.
        case ended
    }

    private let task: URLSessionTask
    private let session: URLSession
    private let background: BackgroundSession
    private var stage = Stage.beginning
    /// Whether the transfer is suspended, by what was sent last.
    private var isSuspendedThere = false
    /// Whether the delegate was told of the task since the runner exists.
    private var hasTold = false

    init(_ task: URLSessionTask, _ session: URLSession, _ background: BackgroundSession) {
        (self.task, self.session, self.background) = (task, session, background)
    }

    var identifier: Int { task.taskIdentifier }
    var isQueued: Bool { false }
    private var core: SessionCore { session.core }
    private var delegates: TaskDelegates? { session.delegates(before: task.delegate) }

    // MARK: Calls by the program

    func start() {}

    func connectionDidEstablish() {}

    func followState() {
        guard case .begun = stage else { return }
        switch task.state {
        case .suspended where !isSuspendedThere: background.send(.suspend(identifier))
        case .running where isSuspendedThere: background.send(.resume(identifier))
        case .suspended, .running, .canceling, .completed: return
        }
        isSuspendedThere.toggle()
    }

    /// Not before the transfer is in the journal, and not when it is over.
    private func send(_ command: TransferCommand) { if case .begun = stage { background.send(command) } }

    func cancel() {
        let asksForData =
            (task as? URLSessionDownloadTask)?.isAskedForResumeData ?? (task as? URLSessionUploadTask)?
            .isAskedForResumeData ?? false
        send(.cancel(identifier, producingResumeData: asksForData))
    }

    func taskDidChange(_ priority: Float, _ taskDescription: String?) {
        send(.change(identifier, priority: priority, taskDescription: taskDescription))
    }

    /// The transfer is in the journal.
    func didBegin(isSuspended: Bool = false) {
        guard case .beginning = stage else { return }
        stage = .begun
        isSuspendedThere = isSuspended
        passOnState()
    }

    /// The daemon was started anew. It may not have received what was sent last.
    func didAttachAgain(isSuspended: Bool) {
        guard case .begun = stage else { return }
        isSuspendedThere = isSuspended
        passOnState()
    }

    /// The daemon was started anew, and knows nothing of the transfer.
    func didLoseTransfer() {
        guard case .begun = stage else { return }
        let text = "the transfer is lost: the journal of background sessions was damaged or removed"
        end(with: LoadFailure(.backgroundSessionWasDisconnected, text))
    }

    private func passOnState() {
        switch task.state {
        case .canceling: cancel()
        case .suspended, .running: followState()
        case .completed: break
        }
    }

    // MARK: Events of the transfer

    /// An event of the transfer: so it is in the journal, also where the thread that called `resume()` has not gone on yet. While
    /// its end is being reported there is nothing else to tell.
    func handle(_ event: TransferEvent) {
        didBegin()
        guard case .begun = stage else { return }
        switch event {
        case .progress(_, let progress): didProgress(progress)
        case .didResume(_, let offset, let expected): didResume(at: offset, expected: expected)
        case .response(_, let response): task.response = response.response
        case .redirected(_, let request): task.currentRequest = request.request
        case .willBegin: willBegin()
        case .challenge(_, let number, let challenge): didReceive(challenge, number)
        case .attached, .detached, .ended, .deliveredEarlierEvents: break
        }
    }

    private func tell(else alone: () -> Void = {}, _ call: @escaping @Sendable (TaskDelegates) -> Void) {
        guard let delegates else { return alone() }
        hasTold = true
        core.mailbox.post(for: task) { call(delegates) }
    }

    private func didProgress(_ progress: TransferProgress) {
        let (sent, received) = (task.countOfBytesSent, task.countOfBytesReceived)
        task.take(progress)
        if let download = task as? URLSessionDownloadTask {
            guard progress.received > received else { return }
            tell { [session] delegates in
                delegates.didWrite(
                    progress.received &- received, session, download, total: progress.received,
                    expected: progress.expectedToReceive)
            }
        } else if progress.sent > sent {
            tell { [session, task] delegates in
                delegates.didSend(
                    session, task, progress.sent &- sent, total: progress.sent, expected: progress.expectedToSend)
            }
        }
    }

    private func didResume(at offset: Int64, expected: Int64) {
        guard let download = task as? URLSessionDownloadTask else { return }
        task.receivedCount.store(offset, ordering: .relaxed)
        task.shared.withLock { $0.expectedToReceive = expected }
        tell { [session] in $0.didResume(session, download, at: offset, expected: expected) }
    }

    private func willBegin() {
        guard let request = task.originalRequest else { return }
        let answer: @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void = { [self] in
            answerBeginning($0, $1, of: request)
        }
        tell(else: { answer(.continueLoading, nil) }) { [session, task] in $0.willBegin(request, session, task, answer)
        }
    }

    private func answerBeginning(
        _ disposition: URLSession.DelayedRequestDisposition, _ other: URLRequest?, of request: URLRequest
    ) {
        if disposition == .cancel { return task.cancel() }
        var request = request
        if disposition == .useNewRequest, let other {
            request = other
            task.currentRequest = other
        }
        background.send(.answerBeginning(identifier, TransferRequest(request)))
    }

    private func didReceive(_ challenge: TransferChallenge, _ number: Int) {
        let answer: URLSession.ChallengeAnswer = { [background, identifier] disposition, credential in
            let reply = ChallengeReply(disposition, credential)
            background.send(.answerChallenge(identifier, challenge: number, reply))
        }
        tell(else: { answer(.performDefaultHandling, nil) }) { [session, task] delegates in
            delegates.didReceive(challenge.challenge(session.core.settings), session, task, answer)
        }
    }

    // MARK: The end

    /// The transfer cannot be performed: nothing of it is in the journal, or can be reached.
    func end(with error: any Error) {
        report(
            TransferStanding(error: TransferError(URLError(error, url: task.currentRequest?.url))), takes: false)
    }

    /// The transfer is over. Each part of that is taken when the delegate has returned from it, so that a program that ends
    /// meanwhile is given it again.
    func didEnd(_ end: TransferStanding) { report(end, takes: true) }

    private func report(_ end: TransferStanding, takes: Bool) {
        switch stage {
        case .beginning, .begun: stage = .ended
        case .ended: return
        }
        let error = end.error?.error
        if takes { task.take(end) }
        _ = task.loadDidFinish(error, completes: false)
        // The calls of the end wait behind it: a cancel that the program makes in an earlier call is in time. The ends of an
        // earlier run of the program do not wait, and are before the end of their session's events.
        if hasTold { core.mailbox.postEnd(of: task, isFirst: true) {} }
        if end.next <= .content, error == nil { reportContent(end.file) }
        task.loadDidEnd(error)
        if end.next <= .metrics { reportMetrics(end.metrics?.metrics ?? emptyMetrics, error, takes: takes) }
        core.mailbox.postEnd(of: task) { [self] in
            let error = task.settle(error, heedsCancellation: true)
            delegates?.didComplete(error, session, task)
            task.letGo()
            if takes { background.takeCompletion(of: identifier) }
        }
        if !takes { background.forget(identifier) }
        core.finished(task)
    }

    /// Of a transfer that has ended without an attempt.
    private var emptyMetrics: URLSessionTaskMetrics {
        let now = Date()
        return URLSessionTaskMetrics(
            transactionMetrics: [], taskInterval: DateInterval(start: min(task.created, now), end: now),
            redirectCount: 0)
    }

    private func reportMetrics(_ metrics: URLSessionTaskMetrics, _ error: (any Error)?, takes: Bool) {
        core.mailbox.postEnd(of: task) { [self] in
            task.settle(error, heedsCancellation: true)
            delegates?.didCollect(metrics, session, task)
            if takes { background.send(.take(identifier, .metrics)) }
        }
    }

    /// A download's file is the program's until the delegate returns. It is not there where the program has moved it, and ended
    /// before that was noted. The body of the response to an upload comes in one piece.
    private func reportContent(_ path: String?) {
        core.mailbox.postEnd(of: task) { [self] in
            defer { background.send(.take(identifier, .content)) }
            guard let path, FileManager.default.fileExists(atPath: path) else { return }
            defer { _ = SystemCalls.unlink(path) }
            guard task.settle(nil, heedsCancellation: true) == nil, let delegates else { return }
            if let download = task as? URLSessionDownloadTask {
                delegates.didFinish(session, download, at: URL(fileURLWithPath: path))
            } else if let upload = task as? URLSessionUploadTask,
                let body = try? Data(contentsOf: URL(fileURLWithPath: path)), !body.isEmpty
            {
                delegates.didReceive(body, session, upload)
            }
        }
    }
}
