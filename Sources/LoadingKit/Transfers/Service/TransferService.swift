import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Performs the transfers of background sessions: keeps them in a journal, loads with LoadingKit's own sessions,
/// retries failed attempts, and reports to attached programs.
///
/// The service has an event loop of its own, which the journal may block; loads run on other loops. The state of a
/// transfer is a value, ``TransferState``. The service performs the actions that the state returns.
package final class TransferService: TransferPerformer, @unchecked Sendable {  // confined to `loop`
    package struct Environment: Sendable {
        /// The program's handlers and stores for a session. The session's settings are applied to them.
        package var makeConfiguration: @Sendable (SessionDescription) -> URLSessionConfiguration
        package var wallClock = WallClock.system
        package var time = TimeSource.system
        package var areConditionsGood: @Sendable () -> Bool = { MachineConditions().areGoodForDiscretionaryWork }
        package var launch: @Sendable (_ command: [String], SessionDescription) -> Void = {
            DetachedProcess.launch($0, for: $1)
        }
        /// A random number from 0 to 1.
        package var random: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// An identifier of the current boot of the system.
        package var bootIdentifier = MachineConditions.bootIdentifier()
        /// The greatest size of an upload's file that is copied byte by byte.
        var largestCopy = UploadFile.largestCopy

        package init(makeConfiguration: @escaping @Sendable (SessionDescription) -> URLSessionConfiguration) {
            self.makeConfiguration = makeConfiguration
        }
    }

    package let loop: EventLoop
    let environment: Environment
    let folder: String
    let journal: JournalWriter
    var sessions: [Int64: ServiceSession] = [:]
    /// Sessions in the journal whose settings this version does not know, with their transfers. They stay as they are until
    /// the program makes the session with settings that are known.
    var unread: [Int64: (record: JournaledSession, rows: [TransferRow])] = [:]
    var queue = TransferQueue()
    /// The number of transfers that are not over, and wait neither for the program nor to be resumed.
    var busyCount = 0
    var lastEnd: Int64 = 0
    /// The number of the last challenge. A late answer to a challenge of an earlier attempt, or of an earlier process,
    /// must not decide another challenge: no number is used again, and each service begins at a random one.
    var lastChallenge = Int.random(in: 1...1 << 52)
    private var lastSession: Int64 = 0
    private var isStartScheduled = false
    private var idlenessObserver: (@Sendable (Bool) -> Void)?
    private var reportedIdleness: Bool?
    /// Keeps other processes away from the journal and the folder.
    private let lock: ProcessLock?

    /// Synchronizes files, which may take long.
    static let synchronizers = BlockingPool(name: "LoadingKit-sync", BlockingPool.Limits(threads: 4))

    /// Continues the transfers that are in the journal. Blocks.
    ///
    /// - Parameters:
    ///   - folder: The folder in which downloads are assembled.
    ///   - lock: The lock that excludes other processes from the same journal; held during the service's lifetime.
    package init(
        journal: any TransferJournal, folder: URL, lock: ProcessLock? = nil, _ environment: Environment
    ) throws {
        let contents = try journal.load()
        let loop = EventLoop(name: "LoadingKit-bg", time: environment.time)
        self.loop = loop
        self.lock = lock
        self.environment = environment
        self.folder = folder.path
        self.journal = JournalWriter(journal, loop)
        loop.execute { self.takeUp(contents) }
    }

    /// Stops all transfers, as if the process ended. Another service can continue them.
    package func stop() {
        loop.execute { [self] in
            for session in sessions.values {
                session.client = nil
                session.cancelTimers()
                for transfer in session.transfers.values {
                    transfer.alarm?.cancel()
                    transfer.stopAttempt()
                }
                // The transfers hold the session.
                session.transfers = [:]
                session.urlSession?.invalidateAndCancel()
            }
            sessions = [:]
            journal.flush()
        }
        loop.stop()
    }

    private func takeUp(_ contents: JournalContents) {
        journal.didFlush = { [weak self] in self?.checkIdleness() }
        lastSession = contents.highestSession
        for record in contents.sessions {
            do { awaitProgram(try add(record)) } catch {
                unread[record.number] = (record, [])
                let (identifier, program) = (record.description.identifier, record.description.program)
                StoreLog().warn("the transfers of the session \(identifier) of \(program) wait: \(error)")
            }
        }
        for row in contents.transfers {
            unread[row.key.session]?.rows.append(row)
            if let session = sessions[row.key.session] { takeUp(row, of: session) }
        }
        PartFolder.removeOldKept(below: folder)
        for session in sessions.values {
            removeForgottenFiles(session)
            launchIfNeeded(session)
            forgetIfOver(session)
        }
        scheduleStarts()
    }

    /// Continues a transfer that is in the journal, or keeps its end for the program.
    func takeUp(_ row: TransferRow, of session: ServiceSession) {
        session.record.didUse(row.key.identifier)
        guard let number = row.endNumber else { return add(row, to: session) }
        session.ended[row.key.identifier] = row
        lastEnd = max(lastEnd, number)
    }

    /// Removes the files of transfers whose end was taken before the process ended, and old files that resume data names.
    func removeForgottenFiles(_ session: ServiceSession) {
        PartFolder.removeOldKept(in: session.folder.path)
        for identifier in session.folder.leftIdentifiers()
        where session.transfers[identifier] == nil && session.ended[identifier] == nil {
            session.folder.remove(identifier)
        }
    }

    // MARK: Sessions

    func add(_ record: JournaledSession) throws -> ServiceSession {
        let session = try ServiceSession(record, in: folder)
        sessions[record.number] = session
        lastSession = max(lastSession, record.number)
        return session
    }

    /// The highest number comes from a file, which may contain any value.
    func newSessionNumber() -> Int64 {
        guard lastSession == .max else { return lastSession + 1 }
        return (1...).first { sessions[$0] == nil && unread[$0] == nil } ?? .max
    }

    func session(of channel: ServiceChannel) -> ServiceSession? {
        sessions.values.first { $0.client === channel }
    }

    // MARK: Inputs to a transfer's state

    /// - Parameter isNew: Whether the program has just begun the transfer, and did not begin it in an earlier process.
    func add(
        _ row: TransferRow, to session: ServiceSession, isNew: Bool = false, _ record: TransferRecord? = nil,
        _ upload: UploadFile? = nil
    ) {
        guard session.transfers[row.key.identifier] == nil else { return }
        let (now, wall) = (loop.now, environment.wallClock.now)
        // The program is also asked whether the transfer begins where the date has passed: where the transfer is new, or
        // where the program that the session waits for may not have answered the previous service.
        let isAsked = isNew || session.returnTimer != nil
        let isDelayed = row.earliestBeginDate.map { $0 > wall || isAsked } ?? false
        let state = TransferState(
            isDelayed: isDelayed, isSuspended: row.isSuspended, needsProgram: row.waitsForProgram)
        // The begin date may have come while no process ran.
        let asOf = row.asOf.isOfUnsetClock ? row.asOf : max(row.asOf, row.earliestBeginDate ?? .distantPast)
        let clock = ResourceClock(elapsed: row.elapsed, asOf: asOf, wall: wall, now: now, runs: state.isTimed)
        let transfer = ServiceTransfer(row, state, clock, in: session)
        session.transfers[row.key.identifier] = transfer
        (transfer.record, transfer.upload) = (record, upload)
        session.economize(transfer)
        if state.isBusy { busyCount += 1 }
        if row.waitsForProgram {
            let waited = min(ResourceClock.seconds(from: row.asOf, to: wall), Self.longestChallenge)
            transfer.waitEnd = now.advanced(bySeconds: Self.longestChallenge - waited)
        }
        // From now on the time counts, also while no process runs.
        if row.asOf.isOfUnsetClock, !wall.isOfUnsetClock { note(transfer) }
        setAlarm(transfer)
        if state.mayStart { perform(.enqueue, transfer) }
    }

    /// Passes an input to a transfer's state, and performs the actions that it returns.
    func input(_ transfer: ServiceTransfer, _ body: (inout TransferState) -> [TransferState.Action]) {
        var state = transfer.state
        let wasBusy = state.isBusy
        let actions = body(&state)
        transfer.state = state
        transfer.clock.setRuns(state.isTimed, loop.now)
        busyCount += (state.isBusy ? 1 : 0) - (wasBusy ? 1 : 0)
        for action in actions { perform(action, transfer) }
        setAlarm(transfer)
        if transfer.permission == nil { transfer.session.economize(transfer) }
    }

    private func perform(_ action: TransferState.Action, _ transfer: ServiceTransfer) {
        let session = transfer.session
        switch action {
        case .enqueue:
            queue.insert(
                transfer.key, priority: transfer.row.priority, expectedBytes: transfer.row.expectedBytes)
            holdIfDiscretionary(session)
            scheduleStarts()
        case .dequeue: queue.remove(transfer.key)
        case .startAttempt: startAttempt(transfer)
        case .stopAttempt: stopAttempt(transfer)
        case .suspendAttempt: transfer.attempt?.task?.suspend()
        case .resumeAttempt: transfer.attempt?.task?.resume()
        case .askProgram: session.client?.receive(.willBegin(transfer.identifier))
        case .pause(let seconds): transfer.waitEnd = loop.now.advanced(bySeconds: seconds)
        case .complete: complete(transfer)
        case .end(let error): end(transfer, error)
        case .note: note(transfer)
        case .callProgram:
            transfer.waitEnd = loop.now.advanced(bySeconds: Self.longestChallenge)
            launchIfNeeded(session)
        }
    }

    func note(_ transfer: ServiceTransfer) {
        transfer.row.isSuspended = transfer.state.isSuspended
        transfer.row.waitsForProgram = transfer.state.phase == .needsProgram
        transfer.row.elapsed = transfer.clock.elapsed(loop.now)
        transfer.row.asOf = environment.wallClock.now
        journal.add(.row(transfer.row))
    }

    // MARK: Starting in turn

    func scheduleStarts() {
        guard !isStartScheduled else { return }
        isStartScheduled = true
        loop.executeLater { [self] in
            isStartScheduled = false
            while let key = queue.popNext() {
                guard let transfer = sessions[key.session]?.transfers[key.identifier], transfer.state.mayStart else {
                    queue.didStop(key)
                    continue
                }
                input(transfer) { $0.turnDidCome() }
            }
            checkIdleness()
        }
    }

    // MARK: Idleness

    package func observeIdleness(_ change: @escaping @Sendable (Bool) -> Void) {
        loop.execute { [self] in
            idlenessObserver = change
            reportedIdleness = nil
            checkIdleness()
        }
    }

    /// If this process ended before the journal has the ends of transfers, the next process would repeat the transfers.
    func checkIdleness() {
        let isDone = busyCount == 0 && !journal.hasPending
        let isIdle =
            isDone && sessions.values.allSatisfy { !$0.isWanted && $0.launchTimer == nil && $0.returnTimer == nil }
        guard isIdle != reportedIdleness, let idlenessObserver else { return }
        reportedIdleness = isIdle
        idlenessObserver(isIdle)
    }
}

extension TransferState {
    /// Whether the passing time counts as the transfer's active time.
    fileprivate var isTimed: Bool { !isSuspended && phase != .delayed && phase != .asking }

    /// Whether the transfer has work to do that does not need the program.
    fileprivate var isBusy: Bool {
        switch phase {
        case .running, .completing: true
        case .delayed, .asking, .queued, .backingOff: !isSuspended
        case .needsProgram, .over: false
        }
    }
}
