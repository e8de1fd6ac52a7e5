import Foundation
import Glibc
import LoadingKitTransport

/// Runs a background session's task: passes the program's calls to the task's transfer, and reports the transfer's events
/// to the program.
final class BackgroundTaskRunner: TaskRunner, @unchecked Sendable {  // confined to the loop
    private enum Stage {
        /// The transfer is not in the journal yet. The program's calls are passed on when it is.
        case beginning
        case begun
        /// The task's end is being reported.
        case ended
    }

    let task: URLSessionTask
    private let session: URLSession
    private let background: BackgroundSession
    private var stage = Stage.beginning
    /// Whether the last command has suspended the transfer.
    private var isSuspendedThere = false
    /// Whether the runner has called the delegate. Then the reports of the end wait.
    private var hasCalledDelegate = false
    private lazy var questions = DelegateQuestions(background.loop)

    init(_ task: URLSessionTask, _ session: URLSession, _ background: BackgroundSession) {
        (self.task, self.session, self.background) = (task, session, background)
    }

    var identifier: Int { task.identifier }
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

    /// Sends a command, if the transfer is in the journal and has not ended.
    private func send(_ command: TransferCommand) { if case .begun = stage { background.send(command) } }

    func cancel() {
        send(.cancel(identifier, producingResumeData: task.resumeDataHandlers?.isEmpty == false))
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

    /// The daemon was restarted. It may not have received the last command.
    func didAttachAgain(isSuspended: Bool) {
        guard case .begun = stage else { return }
        isSuspendedThere = isSuspended
        passOnState()
    }

    /// The daemon was restarted, and its journal does not contain the transfer.
    func didLoseTransfer() {
        guard case .begun = stage else { return }
        end(with: TransferError.lost.error)
    }

    private func passOnState() {
        switch task.state {
        case .canceling: cancel()
        case .suspended, .running: followState()
        case .completed: break
        }
    }

    // MARK: Events of the transfer

    /// Handles an event of the transfer. The event shows that the transfer is in the journal, even if the thread that
    /// called `resume()` still waits for this. Events after the end are ignored.
    func handle(_ event: TransferEvent) {
        didBegin()
        guard case .begun = stage else { return }
        switch event {
        case .progress(_, let progress): didProgress(progress)
        case .didResume(_, let offset, let expected): didResume(at: offset, expected: expected)
        case .response(_, let response): task.response = response.response
        case .redirected(_, let request): task.currentRequest = request.request(redirectedFrom: task.currentRequest)
        case .willBegin: willBegin()
        case .challenge(_, let number, let challenge): didReceive(challenge, number)
        case .attached, .detached, .ended, .deliveredEarlierEvents: break
        }
    }

    private func tell(else alone: () -> Void = {}, _ call: @escaping @Sendable (TaskDelegates) -> Void) {
        guard let delegates else { return alone() }
        hasCalledDelegate = true
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
        let answer = questions.open {
            [weak self] (disposition: URLSession.DelayedRequestDisposition, other: URLRequest?) in
            self?.answerBeginning(disposition, other, of: request)
        }
        tell(else: { answer((.continueLoading, nil)) }) { [session, task] delegates in
            delegates.willBegin(request, session, task) { answer(($0, $1)) }
        }
    }

    private func answerBeginning(
        _ disposition: URLSession.DelayedRequestDisposition, _ other: URLRequest?, of request: URLRequest
    ) {
        // A performer that was restarted has asked again: one answer counts.
        questions.closeAll()
        if disposition == .cancel { return task.cancel() }
        guard disposition == .useNewRequest, let other else {
            return background.send(.answerBeginning(identifier, TransferRequest(request)))
        }
        do {
            let next = try TransferRequest(forBackground: other)
            try next.checkBody()
            task.replaceRequest(by: other)
            background.send(.answerBeginning(identifier, next))
        } catch {
            refuse(error)
        }
    }

    /// The program's new request cannot be performed. The transfer, which is in the journal, ends with the task.
    private func refuse(_ error: any Error) {
        guard case .begun = stage else { return }
        background.send(.cancel(identifier, producingResumeData: false))
        report(TransferStatus(error: TransferError(error)), takes: true)
    }

    private func didReceive(_ challenge: TransferChallenge, _ number: Int) {
        let send: @Sendable (ChallengeReply) -> Void = { [background, identifier] reply in
            background.send(.answerChallenge(identifier, challenge: number, reply))
        }
        tell(else: { send(ChallengeReply(.performDefaultHandling)) }) { [session, task] delegates in
            let asked = challenge.challenge(session.core.settings)
            // A program may keep the closure, which must not keep its delegate alive.
            delegates.didReceive(asked, session, task) { [core = session.core, weak delegate = delegates.task] in
                let isFromDelegate = core.isAnsweredByDelegates(delegate)
                send(ChallengeReply($0, $1, to: asked, isFromDelegate: isFromDelegate))
            }
        }
    }

    // MARK: The end

    /// The transfer cannot be performed: it is not in the journal, or the performer is not available.
    func end(with error: any Error) {
        report(
            TransferStatus(error: TransferError(URLError(error, url: task.currentRequest?.url))), takes: false)
    }

    /// The transfer has ended. Each part of the end is removed from the journal when the delegate has returned from its
    /// report. If the program ends before, its next run gets the part again. Returns false if the end is already being
    /// reported.
    func didEnd(_ end: TransferStatus) -> Bool { report(end, takes: true) }

    @discardableResult
    private func report(_ end: TransferStatus, takes: Bool) -> Bool {
        switch stage {
        case .beginning, .begun: stage = .ended
        case .ended: return false
        }
        questions.closeAll()
        if takes { task.take(end) }
        let error = end.error.map { completed($0.error) }
        _ = task.loadDidFinish(error, completes: false)
        // The reports of the end wait behind this call, so that a cancel in an earlier call of the delegate is in time. Ends
        // from an earlier run of the program do not wait: they come before the end of their session's events.
        if hasCalledDelegate { core.mailbox.postEnd(of: task, isFirst: true) {} }
        if end.next <= .content, error == nil { reportContent(end.file) }
        task.loadDidEnd(error)
        if end.next <= .metrics {
            let metrics = end.metrics?.metrics(created: task.created) ?? .withoutTransactions(task.created)
            for recorder in core.recorders {
                recorder.record(metrics, error, ofTask: identifier, from: task.firstURL, in: core.identity)
            }
            reportMetrics(metrics, error, takes: takes)
        }
        core.mailbox.postEnd(of: task) { [self] in
            let error = task.settle(error, heedsCancellation: true)
            delegates?.didComplete(error, session, task)
            task.releaseResources()
            if takes { background.takeCompletion(of: identifier) }
        }
        if !takes { background.forget(identifier) }
        core.finished(task, error)
        return true
    }

    /// The error with the URL that failed. Its resume data gets the session's identifier of the URL's user, which the
    /// performer of transfers does not know. An error of another domain stays as it is.
    private func completed(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return error }
        let failure = URLError(error, url: task.currentRequest?.url)
        let begun = task.shared.withLock { $0.firstRequest }?.url
        if let data = failure.downloadTaskResumeData, var resumption = try? ResumeData(data) {
            resumption.user = identifierOfUser(in: [task.currentRequest?.url, begun], at: resumption.url)
            return resumption.encoded.map { failure.adding($0, NSURLSessionDownloadTaskResumeData) } ?? failure
        }
        if let data = failure.uploadTaskResumeData, var resumption = try? UploadResumeData(data) {
            resumption.user = identifierOfUser(in: [begun], at: resumption.url)
            return resumption.encoded.map { failure.adding($0, NSURLSessionUploadTaskResumeData) } ?? failure
        }
        return failure
    }

    /// Of the URLs, takes the first that has the origin of `url`, by itself or where HSTS has changed it to `https`.
    /// Returns the session's identifier of the user in it.
    private func identifierOfUser(in urls: [URL?], at url: URL) -> String? {
        let known = urls.compactMap { $0 }.flatMap { [$0, $0.withHTTPS ?? $0] }
        return known.first { $0.isSameOrigin(as: url) }.flatMap { core.namedUsers.word(for: $0) }
    }

    private func reportMetrics(_ metrics: URLSessionTaskMetrics, _ error: (any Error)?, takes: Bool) {
        core.mailbox.postEnd(of: task) { [self] in
            task.settle(error, heedsCancellation: true)
            delegates?.didCollect(metrics, session, task)
            if takes { background.send(.take(identifier, .metrics)) }
        }
    }

    /// Reports a download's file, which is deleted when the delegate returns; or the body of the response to an upload, in
    /// one piece. The file is missing where an earlier run of the program has moved it, and has ended before the journal
    /// recorded this. A file that cannot be reached, and a body that cannot be read, fail the task.
    private func reportContent(_ path: String?) {
        core.mailbox.postEnd(of: task) { [self] in
            let file: String?
            do { file = try path.flatMap { try Self.isThere($0) ? $0 : nil } } catch {
                task.settle(URLError(error, url: task.currentRequest?.url), heedsCancellation: true)
                return
            }
            var body: Data?
            if let file, task is URLSessionUploadTask, delegates != nil {
                do { body = try Data(contentsOf: URL(fileURLWithPath: file)) } catch {
                    let failure = LoadFailure(
                        .cannotOpenFile, "the response's body cannot be read: \(error.localizedDescription)")
                    task.settle(URLError(failure, url: task.currentRequest?.url), heedsCancellation: true)
                    return
                }
            }
            defer { background.send(.take(identifier, .content)) }
            guard let file else { return }
            defer { _ = SystemCalls.unlink(file) }
            guard task.settle(nil, heedsCancellation: true) == nil, let delegates else { return }
            if let download = task as? URLSessionDownloadTask {
                delegates.didFinish(session, download, at: URL(fileURLWithPath: file))
            } else if let upload = task as? URLSessionUploadTask, let body, !body.isEmpty {
                delegates.didReceive(body, session, upload)
            }
        }
    }

    /// Whether the file exists. Throws where this cannot be found out: where its folder cannot be reached, for example.
    private static func isThere(_ path: String) throws -> Bool {
        var status = stat()
        let result = SystemCalls.stat(path, &status)
        if result == 0 { return true }
        let folder = (path as NSString).deletingLastPathComponent
        if result == -Int(ENOENT), SystemCalls.stat(folder, &status) == 0 { return false }
        throw DownloadFailure.make(.cannotOpenFile, "the received file \(path) cannot be reached", result)
    }
}
