import Foundation
import LoadingKitCore
import LoadingKitPrimitives
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
        package var conditions: any SystemConditions = MachineConditions()
        /// Starts a program.
        package var launch: @Sendable (_ command: [String], SessionDescription) -> Void = {
            LaunchedProgram.start($0, $1)
        }
        /// From 0 to 1.
        package var random: @Sendable () -> Double = { Double.random(in: 0...1) }
        /// What distinguishes this start of the system from others.
        package var bootIdentifier = BootIdentifier.current

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
    var expirations = TimeTable<MonotonicTime>()
    var pauses = TimeTable<MonotonicTime>()
    var dates = TimeTable<Date>()
    var alarm: LoopTimer?
    /// Transfers that are not over, and wait neither for the program nor to be resumed.
    var busyCount = 0
    var lastEnd: Int64 = 0
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
            alarm?.cancel()
            for session in sessions.values {
                session.client = nil
                session.launchTimer?.cancel()
                session.discretionTimer?.cancel()
                for live in session.live.values { live.stop() }
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
        let (now, wall) = (loop.now, environment.wallClock.now)
        for summary in contents.transfers {
            guard let session = sessions[summary.key.session] else { continue }
            let identifier = summary.key.identifier
            session.record.didUse(identifier)
            if let number = summary.endNumber {
                session.ended[identifier] = number
                lastEnd = max(lastEnd, number)
            } else {
                add(summary, to: session, now, wall)
            }
        }
        for session in sessions.values {
            removeForgottenFiles(session)
            launchIfNeeded(session)
            forgetIfOver(session)
        }
        scheduleAlarm()
        scheduleStarts()
    }

    /// Those of transfers whose end was taken before the process ended.
    private func removeForgottenFiles(_ session: ServiceSession) {
        for identifier in session.folder.leftIdentifiers()
        where session.transfers[identifier] == nil && session.ended[identifier] == nil {
            _ = SystemCalls.unlink(session.folder.path(of: identifier))
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

    func add(_ summary: TransferSummary, to session: ServiceSession, _ now: MonotonicTime, _ wall: Date) {
        guard session.transfers[summary.key.identifier] == nil else { return }
        let begin = summary.earliestBeginDate
        let state = TransferState(
            isDelayed: begin.map { $0 > wall } ?? false, isSuspended: summary.isSuspended,
            needsProgram: summary.waitsForProgram)
        // Its date may have come while no process ran.
        let asOf = max(summary.asOf, begin ?? .distantPast)
        let clock = ResourceClock(elapsed: summary.elapsed, asOf: asOf, wall: wall, now: now, runs: state.isTimed)
        session.transfers[summary.key.identifier] = ServiceSession.Entry(summary: summary, state: state, clock: clock)
        if state.isBusy { busyCount += 1 }
        if summary.waitsForProgram {
            let waited = min(max(wall.timeIntervalSince(summary.asOf), 0), Self.longestChallenge)
            setChallengeDeadline(summary.key, session, after: Self.longestChallenge - waited)
        } else {
            setExpiry(summary.key, session)
        }
        if state.phase == .delayed, let begin { dates.set(begin, for: summary.key) }
        if state.mayStart { perform(.enqueue, summary.key.identifier, session) }
    }

    /// Gives a transfer's state an input, and does what it says.
    func input(_ identifier: Int, _ session: ServiceSession, _ body: (inout TransferState) -> [TransferState.Action]) {
        guard var state = session.transfers[identifier]?.state else { return }
        let (wasBusy, wasTimed) = (state.isBusy, state.isTimed)
        let actions = body(&state)
        session.transfers[identifier]?.state = state
        session.transfers[identifier]?.clock.setRuns(state.isTimed, loop.now)
        busyCount += (state.isBusy ? 1 : 0) - (wasBusy ? 1 : 0)
        for action in actions { perform(action, identifier, session) }
        if state.isTimed != wasTimed { setExpiry(session.key(identifier), session) }
    }

    private func perform(_ action: TransferState.Action, _ identifier: Int, _ session: ServiceSession) {
        let key = session.key(identifier)
        switch action {
        case .enqueue:
            queue.insert(key, priority: session.transfers[identifier]?.summary.priority ?? 0.5)
            holdIfDiscretionary(session)
            scheduleStarts()
        case .dequeue: queue.remove(key)
        case .startAttempt: startAttempt(identifier, session)
        case .stopAttempt: stopAttempt(identifier, session)
        case .suspendAttempt: session.live[identifier]?.task?.suspend()
        case .resumeAttempt: session.live[identifier]?.task?.resume()
        case .askProgram: session.client?.receive(.willBegin(identifier))
        case .pause(let seconds):
            pauses.set(loop.now.advanced(bySeconds: seconds), for: key)
            scheduleAlarm()
        case .endPause: pauses.remove(key)
        case .complete: complete(identifier, session)
        case .end(let error): end(identifier, session, error)
        case .note: note(identifier, session)
        case .callProgram:
            setChallengeDeadline(key, session, after: Self.longestChallenge)
            launchIfNeeded(session)
        }
    }

    /// Keeps in the journal where a transfer stands.
    private func note(_ identifier: Int, _ session: ServiceSession) {
        guard var entry = session.transfers[identifier] else { return }
        entry.summary.isSuspended = entry.state.isSuspended
        entry.summary.waitsForProgram = entry.state.phase == .needsProgram
        entry.summary.elapsed = entry.clock.elapsed(loop.now)
        entry.summary.asOf = environment.wallClock.now
        session.transfers[identifier] = entry
        journal.add(.summary(entry.summary))
    }

    // MARK: Starting in turn

    func scheduleStarts() {
        guard !isStartScheduled else { return }
        isStartScheduled = true
        loop.executeLater { [self] in
            isStartScheduled = false
            while let key = queue.popNext() {
                guard let session = sessions[key.session], session.transfers[key.identifier]?.state.mayStart ?? false
                else {
                    queue.didStop(key)
                    continue
                }
                input(key.identifier, session) { $0.turnDidCome() }
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

/// What distinguishes one start of the system from others.
package enum BootIdentifier {
    package static let current =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}
