import LoadingKitCore

/// The state of a transfer that is not over. Each input is a method, which returns the actions to perform.
///
///     delayed ──date──▶ asking ──answer──▶ queued ──turn──▶ running ──all received──▶ completing ──▶ over
///                                            ▲                 │
///                                            ├── backingOff ◀──┤ broken
///                                            └─ needsProgram ◀─┘ challenged
///
/// A suspended transfer keeps its phase. An input that would start it takes effect when it is resumed.
struct TransferState: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        /// The transfer's begin date has not come.
        case delayed
        /// The program was asked whether the transfer begins.
        case asking
        /// The transfer waits in the queue for its turn.
        case queued
        case running
        /// The last attempt has failed. The transfer waits for the next attempt.
        case backingOff
        /// An authentication challenge waits for the program.
        case needsProgram
        /// The whole response was received. The file is moved to its destination.
        case completing
        case over
    }

    enum Action: Equatable, Sendable {
        case enqueue
        case dequeue
        case startAttempt
        case stopAttempt
        case suspendAttempt
        case resumeAttempt
        case askProgram
        /// Make the next attempt after this number of seconds.
        case pause(seconds: Double)
        case complete
        case end(TransferError?)
        case note
        case callProgram
    }

    private(set) var phase: Phase
    private(set) var isSuspended: Bool
    /// The pause after consecutive attempts that have failed without progress. It doubles up to five minutes.
    private var pause = DoublingPause(from: 1, to: 300)

    init(isDelayed: Bool = false, isSuspended: Bool = false, needsProgram: Bool = false) {
        phase = needsProgram ? .needsProgram : isDelayed ? .delayed : .queued
        self.isSuspended = isSuspended
    }

    /// Whether the queue may start the transfer.
    var mayStart: Bool { phase == .queued && !isSuspended }
    var isLive: Bool { phase == .running || phase == .completing }

    // MARK: Commands of the program

    /// - Parameter canContinue: Whether a later attempt can continue the current one. Then the current attempt is
    ///   stopped: a suspended attempt would occupy a connection, and block other transfers that wait.
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

    /// Also used for the end of a transfer whose resume data was made: its resource timeout has expired, a challenge has
    /// waited too long for the program, or it has failed.
    mutating func cancel(_ error: TransferError) -> [Action] {
        guard phase != .over else { return [] }
        defer { phase = .over }
        return leaving + [.end(error)]
    }

    /// Stops the transfer so that its received part becomes resume data. It ends afterwards. A download that is being
    /// completed stops, too: its end would name the file that has become resume data.
    mutating func stopForResumeData() -> [Action] {
        guard phase != .over else { return [] }
        defer { phase = .completing }
        return leaving
    }

    /// The actions that are necessary when the phase ends early.
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

    /// The program has detached, and will not answer any more.
    ///
    /// - Parameter isChallenged: Whether challenges wait for the program's answer.
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

    /// - Parameter randomness: From 0 to 1: the fraction of the longest pause that is used.
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
            // A random part of the whole pause ("full jitter"), so that transfers do not all retry at the same time.
            return [.note, .pause(seconds: pause.next() * randomness)]
        }
    }

    /// The attempt has received bytes that no earlier attempt has received.
    mutating func attemptDidProgress() { pause.reset() }

    /// A challenge arrived that only the program can answer, and no program is attached.
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

    /// The whole content is in its file. An attempt that has just begun may find that file at its destination, where an
    /// earlier attempt has put it.
    mutating func didComplete() -> [Action] {
        guard isLive else { return [] }
        phase = .over
        return [.end(nil)]
    }
}
