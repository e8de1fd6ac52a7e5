import Foundation
import LoadingKitCore
import LoadingKitTransport

/// Performs the transfers of background sessions: keeps them in a journal, loads by LoadingKit's own sessions, tries again what
/// has failed, and tells programs that are attached.
///
/// It lives on an event loop of its own, which the journal may block; loads are on other loops. Where a transfer stands is a
/// value, ``TransferState``, whose actions are done here.
package final class TransferService: TransferPerformer, @unchecked Sendable {  // confined to `loop`
    /// What a service gets from outside.
    package struct Environment: Sendable {
        /// The program's configuration for a session: its handlers and stores. The settings of the session come on top.
        package var makeConfiguration: @Sendable (SessionDescription) -> URLSessionConfiguration
        package var wallClock = WallClock.system
        package var time = TimeSource.system
        package var areConditionsGood: @Sendable () -> Bool = { MachineConditions().areGoodForDiscretionaryWork }
        /// Starts a program.
        package var launch: @Sendable (_ command: [String], SessionDescription) -> Void = {
            DetachedProcess.launch($0, for: $1)
        }
        /// From 0 to 1.
        package var random: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// What distinguishes this start of the system from others.
        package var bootIdentifier = MachineConditions.line("/proc/sys/kernel/random/boot_id") ?? ""
        /// How large the file of an upload may be of which a copy is made byte by byte.
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
    var queue = TransferQueue()
    /// Transfers that are not over, and wait neither for the program nor to be resumed.
    var busyCount = 0
    var lastEnd: Int64 = 0
    var lastAttempt: UInt64 = 0
    private var lastSession: Int64 = 0
    private var isStartScheduled = false
    private var idlenessObserver: (@Sendable (Bool) -> Void)?
    private var reportedIdleness: Bool?
    /// Keeps other processes away from the journal and the folder.
    private let lock: ProcessLock?

    /// Puts files on the disk, which may take long.
    static let synchronizers = BlockingPool(name: "LoadingKit-sync", BlockingPool.Limits(usualThreads: 4))

    /// Takes up what the journal has. Blocks.
    ///
    /// - Parameters:
    ///   - folder: Where downloads are put together.
    ///   - lock: What other processes that would use the same journal wait for; held as long as the service is there.
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

    /// Ends what is under way, as if the process ended. What is there goes on in another service.
    package func stop() {
        loop.execute { [self] in
            for session in sessions.values {
                session.client = nil
                session.launchTimer?.cancel()
                session.discretionTimer?.cancel()
                for transfer in session.transfers.values {
                    transfer.alarm?.cancel()
                    transfer.stopAttempt()
                }
                // They hold the session.
                session.transfers = [:]
                session.urlSession?.invalidateAndCancel()
            }
            sessions = [:]
            journal.flush()
        }
        loop.stop()
    }

    private func takeUp(_ contents: JournalContents) {
        lastSession = contents.highestSession
        for record in contents.sessions { _ = try? add(record) }
        for row in contents.transfers {
            guard let session = sessions[row.key.session] else { continue }
            session.record.didUse(row.key.identifier)
            if let number = row.endNumber {
                session.ended[row.key.identifier] = row
                lastEnd = max(lastEnd, number)
            } else {
                add(row, to: session)
            }
        }
        for session in sessions.values {
            removeForgottenFiles(session)
            launchIfNeeded(session)
            forgetIfOver(session)
        }
        scheduleStarts()
    }

    /// Those of transfers whose end was taken before the process ended.
    private func removeForgottenFiles(_ session: ServiceSession) {
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

    /// The highest may be whatever a file says.
    func newSessionNumber() -> Int64 {
        guard lastSession == .max else { return lastSession + 1 }
        return (1...).first { sessions[$0] == nil } ?? .max
    }

    func session(of channel: ServiceChannel) -> ServiceSession? {
        sessions.values.first { $0.client === channel }
    }

    // MARK: Inputs to a transfer's state

    func add(
        _ row: TransferRow, to session: ServiceSession, _ record: TransferRecord? = nil, _ upload: UploadFile? = nil
    ) {
        guard session.transfers[row.key.identifier] == nil else { return }
        let (now, wall) = (loop.now, environment.wallClock.now)
        let state = TransferState(
            isDelayed: row.earliestBeginDate.map { $0 > wall } ?? false, isSuspended: row.isSuspended,
            needsProgram: row.waitsForProgram)
        // Its date may have come while no process ran.
        let asOf = max(row.asOf, row.earliestBeginDate ?? .distantPast)
        let clock = ResourceClock(elapsed: row.elapsed, asOf: asOf, wall: wall, now: now, runs: state.isTimed)
        let transfer = ServiceTransfer(row, state, clock, in: session)
        session.transfers[row.key.identifier] = transfer
        (transfer.record, transfer.upload) = (record, upload)
        session.economize(transfer)
        if state.isBusy { busyCount += 1 }
        if row.waitsForProgram {
            let waited = min(max(wall.timeIntervalSince(row.asOf), 0), Self.longestChallenge)
            transfer.waitEnd = now.advanced(bySeconds: Self.longestChallenge - waited)
        }
        setAlarm(transfer)
        if state.mayStart { perform(.enqueue, transfer) }
    }

    /// Gives a transfer's state an input, and does what it says.
    func input(_ transfer: ServiceTransfer, _ body: (inout TransferState) -> [TransferState.Action]) {
        var state = transfer.state
        let wasBusy = state.isBusy
        let actions = body(&state)
        transfer.state = state
        transfer.clock.setRuns(state.isTimed, loop.now)
        busyCount += (state.isBusy ? 1 : 0) - (wasBusy ? 1 : 0)
        for action in actions { perform(action, transfer) }
        setAlarm(transfer)
        if transfer.attemptNumber == nil { transfer.session.economize(transfer) }
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

    /// Keeps in the journal where a transfer stands.
    private func note(_ transfer: ServiceTransfer) {
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

    func checkIdleness() {
        let isIdle = busyCount == 0 && sessions.values.allSatisfy { !$0.isWanted && $0.launchTimer == nil }
        guard isIdle != reportedIdleness, let idlenessObserver else { return }
        reportedIdleness = isIdle
        idlenessObserver(isIdle)
    }
}

extension TransferState {
    /// Whether the time that passes is the transfer's.
    fileprivate var isTimed: Bool { !isSuspended && phase != .delayed && phase != .asking }

    /// Whether something is to be done without the program.
    fileprivate var isBusy: Bool {
        switch phase {
        case .running, .completing: true
        case .delayed, .asking, .queued, .backingOff: !isSuspended
        case .needsProgram, .over: false
        }
    }
}
