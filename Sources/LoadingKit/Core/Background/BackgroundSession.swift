import Dispatch
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// Passes the tasks of a background session to the performer of its transfers, and reports the transfers' events to the
/// program.
///
/// It holds the session until the session is invalidated: events may come for a session that the program does not hold.
package final class BackgroundSession: SessionBackground, @unchecked Sendable {  // confined to the loop
    private enum Phase {
        case attaching
        case attached
        case detached(TransferError)
        case closed
    }

    private static let isInvalid = LoadFailure(.cancelled, "the session was invalidated before the task was made")

    let loop: EventLoop
    private let identifiers = Atomic<Int>(1)
    /// Left when the session is attached, or has failed to attach.
    private let attachment = DispatchGroup()
    private let isAttached = Guarded<Bool?>(nil)
    /// An error where the transfers cannot be performed, for example because a setting cannot be transmitted.
    private let channels: Result<TransferChannelMaker, any Error>
    /// Set when the session is made, before any other thread uses it.
    private nonisolated(unsafe) var channel: (any TransferChannel)?
    /// Nil after the session's end.
    private var session: URLSession?
    private var phase = Phase.attaching
    /// The calls that wait until the session's tasks are known.
    private var waiting: [() -> Void] = []
    /// Whether new ends arrived that are older than the attachment. Nil when all earlier events were delivered. It remains
    /// where the performer of transfers ends before that, as the next one sends the same ends again.
    private var deliversEarlierEnds: Bool?
    /// The transfers without a runner whose ends have arrived.
    private var endsWithoutRunner: Set<Int> = []
    /// The report of all earlier events that is not made yet. The mailbox's calls hold it.
    private weak var pendingReport: ReportOfAllEvents?
    /// The runners of tasks whose end was not reported yet, by task identifier.
    private var runners: [Int: BackgroundTaskRunner] = [:]

    private init(_ channels: Result<TransferChannelMaker, any Error>, _ core: SessionCore) {
        (self.channels, loop) = (channels, core.loop)
        attachment.enter()
    }

    /// - Parameter channels: returns the channels to the performer of the session's transfers. Where it throws, the session
    ///   is invalidated with that error.
    package static func maker(
        _ channels: @escaping @Sendable (SessionSettings) throws -> TransferChannelMaker
    ) -> @Sendable (SessionCore) -> any SessionBackground {
        { core in BackgroundSession(Result { try channels(core.settings) }, core) }
    }

    // MARK: From any thread

    /// Attaches a new session.
    package func attach(_ session: URLSession) {
        self.session = session
        switch channels {
        case .failure(let error): didReceive(.detached(TransferError(error)))
        case .success(let makeChannel):
            let channel = makeChannel { [weak self] event in self?.didReceive(event) }
            // Events may come before `attach` returns, and are answered through the channel.
            self.channel = channel
            channel.attach()
        }
    }

    package func nextIdentifier() -> Int {
        attachment.wait()
        return identifiers.wrappingAdd(1, ordering: .relaxed).oldValue
    }

    private func didReceive(_ event: TransferEvent) {
        loop.execute { self.handle(event) }
        switch event {
        case .attached(let state):
            identifiers.max(state.nextIdentifier, ordering: .relaxed)
            endAttachment(isAttached: true)
        case .detached: endAttachment(isAttached: false)
        case _: break
        }
    }

    private func endAttachment(isAttached now: Bool) {
        if isAttached.withLock({ exchange(&$0, for: now) }) == nil { attachment.leave() }
    }

    /// Passes a task to the performer of transfers.
    package func begin(_ task: URLSessionTask) {
        loop.execute { self.register(task) }
        // Where the session could not attach, it has already ended the task.
        attachment.wait()
        guard isAttached.withLock({ $0 }) == true else { return }
        let done = DispatchSemaphore(value: 0)
        handOver(task) { done.signal() }
        done.wait()
    }

    package func takeOver(_ task: URLSessionTask) {
        task.engine = nil
        register(task)
        handOver(task) {}
    }

    /// - Parameter completion: called when the task is in the journal, or has failed.
    private func handOver(_ task: URLSessionTask, _ completion: @escaping @Sendable () -> Void) {
        let identifier = task.identifier
        let finish: @Sendable ((any Error)?) -> Void = { [self] error in
            loop.execute {
                if let error {
                    self.runners[identifier]?.end(with: error)
                } else {
                    self.didBegin(identifier)
                }
            }
            completion()
        }
        do {
            let record = try TransferRecord(task)
            channel?.send(.begin(record), descriptors: try record.openUploadFile(), completion: finish)
        } catch {
            finish(error)
        }
    }

    package func send(_ command: TransferCommand) { channel?.send(command) }

    package func taskDidChange(_ identifier: Int, priority: Float, taskDescription: String?) {
        loop.execute { self.runners[identifier]?.taskDidChange(priority, taskDescription) }
    }

    // MARK: On the loop

    package func stateOfTaskDidChange() {
        guard let session, let report = pendingReport else { return }
        session.core.mailbox.post { report.makeIfDue() }
    }

    package func whenAttached(_ work: @escaping () -> Void) {
        guard case .attaching = phase else { return work() }
        waiting.append(work)
    }

    /// Whether the session's tasks can have transfers.
    private var isLive: Bool {
        switch phase {
        case .attaching, .attached: true
        case .detached, .closed: false
        }
    }

    /// Enters a phase, and runs the work that waited for the attachment.
    private func enter(_ next: Phase) {
        phase = next
        for work in waiting { work() }
        waiting = []
    }

    /// The transfer is in the journal. It is cancelled where the task has ended meanwhile.
    private func didBegin(_ identifier: Int) {
        if let runner = runners[identifier] {
            runner.didBegin()
        } else {
            send(.cancel(identifier, producingResumeData: false))
        }
    }

    /// Makes the task's runner. A task of a session that has ended fails at once.
    private func register(_ task: URLSessionTask) {
        guard let session = task.session, task.engine == nil, task.state != .completed else { return }
        let runner = makeRunner(task, session)
        switch phase {
        case .attaching, .attached: if !session.core.admit(task) { runner.end(with: Self.isInvalid) }
        case .detached(let error): runner.end(with: error.error)
        case .closed: runner.end(with: Self.isInvalid)
        }
    }

    private func makeRunner(_ task: URLSessionTask, _ session: URLSession) -> BackgroundTaskRunner {
        session.core.events.note(.taskBegan, task: task.identifier)
        let runner = BackgroundTaskRunner(task, session, self)
        runners[task.identifier] = runner
        task.engine = runner
        return runner
    }

    /// The delegate has returned from the last report of a task's end. The runner remains until the journal has recorded
    /// this: the performer may report the end again before, and the runner ignores it.
    func takeCompletion(of identifier: Int) {
        channel?.send(.take(identifier, .completion), descriptors: []) { [weak self] _ in
            guard let self else { return }
            loop.execute {
                self.runners[identifier] = nil
                self.session?.core.invalidateIfDone()
            }
        }
    }

    /// If the session were invalidated while there are such ends, and the program ended, its next run would get them again.
    package var hasUntakenEnds: Bool { isLive && !runners.isEmpty }

    /// Removes the runner of a task that is not in the journal, and whose end was reported.
    func forget(_ identifier: Int) { runners[identifier] = nil }

    private func handle(_ event: TransferEvent) {
        switch event {
        case .attached(let state): didAttach(state)
        case .detached(let error): didDetach(error)
        case .ended(let identifier, let end):
            if deliver(end, of: identifier), deliversEarlierEnds != nil { deliversEarlierEnds = true }
        case .deliveredEarlierEvents: didDeliverEarlierEvents()
        case .progress(let identifier, _), .didResume(let identifier, _, _), .response(let identifier, _),
            .redirected(let identifier, _), .willBegin(let identifier), .challenge(let identifier, _, _):
            runners[identifier]?.handle(event)
        }
    }

    private var sortedRunners: [BackgroundTaskRunner] { runners.values.sorted { $0.identifier < $1.identifier } }

    /// The session is attached: for the first time, or again after a restart of the daemon.
    private func didAttach(_ state: SessionState) {
        guard isLive else { return }
        deliversEarlierEnds = deliversEarlierEnds ?? false
        // The journal has lost the other tasks: it was damaged or removed.
        let known = Set(state.transfers.map(\.identifier))
        for runner in sortedRunners where !known.contains(runner.identifier) { runner.didLoseTransfer() }
        for record in state.transfers {
            if let runner = runners[record.identifier] {
                runner.didAttachAgain(isSuspended: record.stage == .suspended)
            } else {
                restore(record)
            }
        }
        enter(.attached)
    }

    private func restore(_ record: TransferRecord) {
        let identifier = record.identifier
        guard let session, let task = URLSessionTask.restored(record, in: session) else {
            return send(.cancel(identifier, producingResumeData: false))
        }
        let runner = makeRunner(task, session)
        session.core.adopt(task)
        runner.didBegin(isSuspended: record.stage == .suspended)
    }

    /// An end without a runner belongs to a transfer whose request could not be read. Returns false if the end has arrived
    /// before.
    private func deliver(_ end: TransferStatus, of identifier: Int) -> Bool {
        if let runner = runners[identifier] { return runner.didEnd(end) }
        send(.take(identifier, .completion))
        return endsWithoutRunner.insert(identifier).inserted
    }

    private func didDeliverEarlierEvents() {
        guard deliversEarlierEnds.take() == true, isLive, let session else { return }
        guard let delegates = session.delegates(before: nil) else { return }
        let mailbox = session.core.mailbox
        // The mailbox also has the ends of tasks that the journal has lost, and those of tasks that are not in the background.
        let tasks = mailbox.tasks.values.compactMap { $0 as? URLSessionTask }
            .filter { $0.hasEnded && $0.transferKind != nil }
        let report = ReportOfAllEvents(after: tasks) {
            delegates.first.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        }
        let former = pendingReport
        pendingReport = report
        mailbox.post {
            former?.withdraw()
            report.makeIfDue()
        }
        for task in tasks { mailbox.postEnd(of: task) { report.endWasReported(of: task) } }
    }

    /// Another session with the same identifier was attached, or the performer of transfers is not available.
    private func didDetach(_ error: TransferError) {
        guard isLive else { return }
        enter(.detached(error))
        for runner in sortedRunners { runner.end(with: error.error) }
        if let session { session.core.invalidate(session, because: error.error) }
    }

    /// Ends the session. `completion` is called when the performer of transfers has released the session's identifier:
    /// the delegate, which is informed then, may make a new session with it.
    package func end(_ completion: @escaping @Sendable () -> Void) {
        let wasAttached = if case .attached = phase { true } else { false }
        phase = .closed
        guard wasAttached, let channel else { return close(completion) }
        channel.send(.endSession, descriptors: []) { [self] _ in loop.execute { self.close(completion) } }
    }

    private func close(_ completion: () -> Void) {
        channel?.detach()
        session = nil
        completion()
    }
}

/// Reports once that all earlier events were delivered. The report comes after the ends that wait, except those of tasks
/// that the program has suspended, which may wait for ever.
private final class ReportOfAllEvents: @unchecked Sendable {  // used by the mailbox's calls, one at a time
    private var waiting: [Int: URLSessionTask]
    private var report: (() -> Void)?

    init(after tasks: [URLSessionTask], _ report: @escaping () -> Void) {
        waiting = Dictionary(tasks.map { ($0.identifier, $0) }) { $1 }
        self.report = report
    }

    func endWasReported(of task: URLSessionTask) {
        waiting[task.identifier] = nil
        makeIfDue()
    }

    /// Another report is made instead of this one.
    func withdraw() { report = nil }

    func makeIfDue() { if waiting.values.allSatisfy({ $0.delivery == .waits }) { report.take()?() } }
}

extension TransferRecord {
    /// The open file of an upload. The process that performs the upload may lack the permission to open it.
    fileprivate func openUploadFile() throws -> [OwnedDescriptor] {
        guard let path = uploadFile else { return [] }
        // Opened without blocking, as it may be a pipe, which is then refused.
        let result = SystemCalls.open(path, O_RDONLY | O_NONBLOCK)
        guard result >= 0 else {
            let code: URLError.Code = result == -Int(ENOENT) ? .fileDoesNotExist : .noPermissionsToReadFile
            throw DownloadFailure.make(code, "the file \(path) cannot be opened", result)
        }
        return [OwnedDescriptor(Int32(clamping: result))]
    }
}
