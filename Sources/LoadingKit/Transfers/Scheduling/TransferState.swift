import LoadingKitCore

/// Where a transfer stands that is not over: a value with one method for each input, which gives what is to be done.
///
///     delayed ──date──▶ asking ──answer──▶ queued ──turn──▶ running ──all received──▶ completing ──▶ over
///                                            ▲                 │
///                                            ├── backingOff ◀──┤ broken
///                                            └─ needsProgram ◀─┘ challenged
///
/// A suspended transfer keeps its phase; what would start it waits until it is resumed.
struct TransferState: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// Its date has not come.
        case delayed
        /// The program was asked whether it begins.
        case asking
        /// It waits its turn.
        case queued
        /// An attempt is under way.
        case running
        /// The last attempt has failed. It waits for the next one.
        case backingOff
        /// A challenge waits for the program.
        case needsProgram
        /// All was received, and is put in its place.
        case completing
        case over
    }

    enum Action: Equatable, Sendable {
        /// It may be started in its turn.
        case enqueue
        /// It may not any more.
        case dequeue
        case startAttempt
        case stopAttempt
        case suspendAttempt
        case resumeAttempt
        case askProgram
        /// The next attempt may be made after so many seconds.
        case pause(seconds: Double)
        case complete
        case end(TransferError?)
        /// To be kept in the journal.
        case note
        /// The program is needed.
        case callProgram
    }

    private(set) var phase: Phase
    private(set) var isSuspended: Bool
    /// After attempts that have failed one after the other without bringing anything. It doubles up to five minutes.
    private var pause = DoublingPause(from: 1, to: 300)

    init(isDelayed: Bool = false, isSuspended: Bool = false, needsProgram: Bool = false) {
        phase = needsProgram ? .needsProgram : isDelayed ? .delayed : .queued
        self.isSuspended = isSuspended
    }

    /// Whether the queue may start it.
    var mayStart: Bool { phase == .queued && !isSuspended }
    var isLive: Bool { phase == .running || phase == .completing }

    // MARK: The program's wishes

    /// - Parameter canContinue: Whether what is under way can be continued by a later attempt. Then it is stopped: suspended, it
    ///   would keep a connection, and others waiting for its place.
    mutating func suspend(canContinue: Bool) -> [Action] {
        guard !isSuspended, phase != .over else { return [] }
        isSuspended = true
        switch phase {
        case .queued: return [.note, .dequeue]
        case .running where canContinue:
            phase = .queued
            return [.note, .stopAttempt]
        case .running: return [.note, .suspendAttempt]
        case .delayed, .asking, .backingOff, .needsProgram, .completing, .over: return [.note]
        }
    }

    mutating func resume() -> [Action] {
        guard isSuspended, phase != .over else { return [] }
        isSuspended = false
        switch phase {
        case .queued: return [.note, .enqueue]
        case .running: return [.note, .resumeAttempt]
        case .delayed, .asking, .backingOff, .needsProgram, .completing, .over: return [.note]
        }
    }

    /// Also where the resource time-out is over, or the longest wait for a program.
    mutating func cancel(_ error: TransferError) -> [Action] {
        guard phase != .over else { return [] }
        defer { phase = .over }
        return leaving + [.end(error)]
    }

    /// What is there is about to be taken for resume data; then it is cancelled.
    mutating func stopForResumeData() -> [Action] {
        guard phase != .over, phase != .completing else { return [] }
        defer { phase = .completing }
        return leaving
    }

    /// What is to be done when the phase ends before its time.
    private var leaving: [Action] {
        switch phase {
        case .queued: [.dequeue]
        case .running, .completing: [.stopAttempt]
        case .delayed, .asking, .backingOff, .needsProgram, .over: []
        }
    }

    // MARK: Beginning

    mutating func dateDidCome(isAttached: Bool) -> [Action] {
        guard phase == .delayed else { return [] }
        guard isAttached else { return enqueue() }
        phase = .asking
        return [.askProgram]
    }

    /// - Parameter mayBegin: False where the program cancels the transfer.
    mutating func programDidAnswer(mayBegin: Bool, _ cancelled: TransferError) -> [Action] {
        guard phase == .asking else { return [] }
        return mayBegin ? enqueue() : cancel(cancelled)
    }

    /// The program has gone, and does not answer any more.
    ///
    /// - Parameter isChallenged: Whether the program has challenges to answer.
    mutating func programDidDetach(isChallenged: Bool) -> [Action] {
        switch phase {
        case .asking: return enqueue()
        case .running where isChallenged: return needProgram()
        case .running, .delayed, .queued, .backingOff, .needsProgram, .completing, .over: return []
        }
    }

    mutating func programDidAttach() -> [Action] {
        guard phase == .needsProgram else { return [] }
        return [.note] + enqueue()
    }

    private mutating func enqueue() -> [Action] {
        phase = .queued
        return isSuspended ? [] : [.enqueue]
    }

    mutating func turnDidCome() -> [Action] {
        guard mayStart else { return [] }
        phase = .running
        return [.startAttempt]
    }

    // MARK: An attempt

    /// - Parameter randomness: From 0 to 1: how much of the longest pause is taken.
    mutating func attemptDidFail(_ failure: AttemptFailure, randomness: Double) -> [Action] {
        guard phase == .running || phase == .completing else { return [] }
        switch failure {
        case .final(let error):
            phase = .over
            return [.end(error)]
        case .startOver:
            return enqueue()
        case .broken:
            phase = .backingOff
            // Any part of it ("full jitter"), so that the transfers that one failure has broken do not all come back together.
            return [.note, .pause(seconds: pause.next() * randomness)]
        }
    }

    /// Something was received or sent.
    mutating func attemptDidProgress() { pause.reset() }

    /// A challenge came that only the program can answer, which is not there.
    mutating func needProgram() -> [Action] {
        guard phase == .running else { return [] }
        phase = .needsProgram
        return [.stopAttempt, .note, .callProgram]
    }

    mutating func pauseDidEnd() -> [Action] { phase == .backingOff ? enqueue() : [] }

    mutating func attemptDidSucceed() -> [Action] {
        guard phase == .running else { return [] }
        phase = .completing
        return [.complete]
    }

    mutating func didComplete() -> [Action] {
        guard phase == .completing else { return [] }
        phase = .over
        return [.end(nil)]
    }
}
