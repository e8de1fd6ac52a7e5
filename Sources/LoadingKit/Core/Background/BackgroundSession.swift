import Dispatch
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// The loop's side of a background session: hands its downloads and uploads to what performs them, and reports what becomes of
/// them to the program.
///
/// It holds the session until that is invalidated, as events may come for a session that the program does not hold.
final class BackgroundSession: @unchecked Sendable {  // confined to the loop, but for the constants
    private enum Phase {
        case attaching
        case attached
        case detached(TransferError)
        case closed
    }

    private static let isInvalid = LoadFailure(.cancelled, "the session was invalidated before the task was made")

    let loop: EventLoop
    private let identifiers = Atomic<Int>(1)
    /// Left when the session is attached, or cannot be.
    private let attachment = DispatchGroup()
    private let isAttached = Guarded<Bool?>(nil)
    /// An error where the transfers cannot be performed: a setting cannot be carried, for one.
    private let support: Result<BackgroundSupport, any Error>
    /// Set when the session is made, before any other thread has it.
    private nonisolated(unsafe) var channel: (any TransferChannel)?
    /// Until it is over.
    private var session: URLSession?
    private var phase = Phase.attaching
    /// The calls that wait until the session's tasks are known.
    private var waiting: [() -> Void] = []
    /// Whether ends came that are from before the session was attached.
    private var deliversEarlierEnds = false
    /// The tasks that were handed over and whose end was not reported, by identifier.
    private var runners: [Int: BackgroundTaskRunner] = [:]

    init(_ support: Result<BackgroundSupport, any Error>, _ core: SessionCore) {
        (self.support, loop) = (support, core.loop)
        attachment.enter()
    }

    // MARK: From any thread

    /// Attaches the session, which is new.
    func attach(_ session: URLSession) {
        self.session = session
        switch support {
        case .failure(let error): didReceive(.detached(TransferError(error)))
        case .success(let support):
            let channel = support.transfers.makeChannel(for: support.description) { [weak self] event in
                self?.didReceive(event)
            }
            // Events may come before this returns, and are answered through the channel.
            self.channel = channel
            channel.attach()
        }
    }

    /// An identifier that no task of the session ever had. Waits until the session is attached.
    func nextIdentifier() -> Int {
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
        let isFirst = isAttached.withLock { value in
            defer { value = now }
            return value == nil
        }
        if isFirst { attachment.leave() }
    }

    /// Hands a task over, and returns when it is in the journal.
    func begin(_ task: URLSessionTask) {
        loop.execute { self.register(task) }
        // The session has ended the task then.
        attachment.wait()
        guard isAttached.withLock({ $0 }) == true else { return }
        let done = DispatchSemaphore(value: 0)
        handOver(task) { done.signal() }
        done.wait()
    }

    /// A task that the program has run so far goes on in the background.
    func takeOver(_ task: URLSessionTask) {
        task.engine = nil
        register(task)
        handOver(task) {}
    }

    /// - Parameter completion: Called when the task is in the journal, or has failed.
    private func handOver(_ task: URLSessionTask, _ completion: @escaping @Sendable () -> Void) {
        let identifier = task.taskIdentifier
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

    func send(_ command: TransferCommand) { channel?.send(command) }

    func taskDidChange(_ identifier: Int, priority: Float, taskDescription: String?) {
        loop.execute { self.runners[identifier]?.taskDidChange(priority, taskDescription) }
    }

    // MARK: On the loop

    /// Calls back when it is known which tasks there are.
    func whenAttached(_ work: @escaping () -> Void) {
        guard case .attaching = phase else { return work() }
        waiting.append(work)
    }

    /// Whether tasks may have transfers.
    private var isLive: Bool {
        switch phase {
        case .attaching, .attached: true
        case .detached, .closed: false
        }
    }

    /// All waits for the first of these phases.
    private func enter(_ next: Phase) {
        phase = next
        for work in waiting { work() }
        waiting = []
    }

    /// A task that was ended while it was handed over, as the session takes none any more, is not to be loaded.
    private func didBegin(_ identifier: Int) {
        if let runner = runners[identifier] {
            runner.didBegin()
        } else {
            send(.cancel(identifier, producingResumeData: false))
        }
    }

    /// The task of a session that is over ends at once.
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
        let runner = BackgroundTaskRunner(task, session, self)
        runners[task.taskIdentifier] = runner
        task.engine = runner
        return runner
    }

    /// The delegate has returned from the last of a task's end. When that is known, the transfer is over for good: until then
    /// its end may be given out again, which is of no interest.
    func takeCompletion(of identifier: Int) {
        channel?.send(.take(identifier, .completion), descriptors: []) { [weak self] _ in
            guard let self else { return }
            loop.execute {
                self.runners[identifier] = nil
                self.session?.core.invalidateIfDone()
            }
        }
    }

    /// Whether ends that were reported are still in the journal. A program that ends when the session is invalidated would be
    /// told them again.
    var hasUntakenEnds: Bool { isLive && !runners.isEmpty }

    /// A task's end was reported that nothing is in the journal of.
    func forget(_ identifier: Int) { runners[identifier] = nil }

    private func handle(_ event: TransferEvent) {
        switch event {
        case .attached(let state): didAttach(state)
        case .detached(let error): didDetach(error)
        case .ended(let identifier, let end):
            deliversEarlierEnds = true
            deliver(end, of: identifier)
        case .deliveredEarlierEvents: didDeliverEarlierEvents()
        case .progress(let identifier, _), .didResume(let identifier, _, _), .response(let identifier, _),
            .redirected(let identifier, _), .willBegin(let identifier), .challenge(let identifier, _, _):
            runners[identifier]?.handle(event)
        }
    }

    private var sortedRunners: [BackgroundTaskRunner] { runners.values.sorted { $0.identifier < $1.identifier } }

    /// The session is attached; not for the first time where the daemon was started anew.
    private func didAttach(_ state: SessionState) {
        guard isLive else { return }
        deliversEarlierEnds = false
        // Tasks that were handed over, and of which nothing is known any more: the journal was damaged, or removed.
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

    /// An end without a task is of one whose request cannot be read.
    private func deliver(_ end: TransferStanding, of identifier: Int) {
        if let runner = runners[identifier] { runner.didEnd(end) } else { send(.take(identifier, .completion)) }
    }

    private func didDeliverEarlierEvents() {
        guard isLive, deliversEarlierEnds, let session else { return }
        deliversEarlierEnds = false
        guard let delegates = session.delegates(before: nil) else { return }
        session.core.mailbox.post { delegates.didFinishEvents(session) }
    }

    /// Another session of that identifier is attached, or what performs transfers cannot be had.
    private func didDetach(_ error: TransferError) {
        guard isLive else { return }
        enter(.detached(error))
        for runner in sortedRunners { runner.end(with: error.error) }
        if let session { session.core.invalidate(session, because: error.error) }
    }

    /// The session is over. Calls back when what performs transfers knows that: from then on a session may be made anew with its
    /// identifier, as the delegate may when it is told.
    func end(_ completion: @escaping @Sendable () -> Void) {
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

extension TransferRecord {
    /// The file of an upload, open: what performs the upload need not have the right to open it.
    fileprivate func openUploadFile() throws -> [OwnedDescriptor] {
        guard let path = uploadFile else { return [] }
        let result = SystemCalls.open(path, O_RDONLY)
        guard result >= 0 else {
            let code: URLError.Code = result == -Int(ENOENT) ? .fileDoesNotExist : .noPermissionsToReadFile
            throw DownloadFailure.make(code, "the file \(path) cannot be opened", result)
        }
        return [OwnedDescriptor(Int32(clamping: result))]
    }
}
