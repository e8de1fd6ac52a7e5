import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// Writes what a turn of the service's loop changes into the journal together. Confined to the service's loop.
///
/// Where the journal cannot be written, a transfer is not begun; all other changes are tried again.
final class JournalWriter {
    /// In seconds.
    private static let pauseAfterFailure = 5.0

    private struct Pending {
        /// Nil: what came before is awaited.
        let change: JournalChange?
        let completion: (((any Error)?) -> Void)?

        /// Whether it fails rather than being tried again.
        var isBeginning: Bool {
            switch change {
            case .begin: true
            case .session, .forgetSession, .summary, .standing, .description, .end, .forget, nil: false
            }
        }
    }

    private let journal: any TransferJournal
    private let loop: EventLoop
    private var pending: [Pending] = []
    /// The transfers that these concern.
    private var pendingKeys: Set<TransferKey> = []
    private var isScheduled = false
    private var retry: LoopTimer?

    init(_ journal: any TransferJournal, _ loop: EventLoop) {
        self.journal = journal
        self.loop = loop
    }

    /// - Parameter completion: Called later, on the loop, when the change is in the journal; with an error where it will not be.
    func add(_ change: JournalChange, _ completion: (((any Error)?) -> Void)? = nil) {
        if let key = change.key { pendingKeys.insert(key) }
        append(Pending(change: change, completion: completion))
    }

    /// Calls back later, on the loop, when all changes before are in the journal.
    func afterCommit(_ completion: @escaping ((any Error)?) -> Void) {
        append(Pending(change: nil, completion: completion))
    }

    private func append(_ new: Pending) {
        pending.append(new)
        // Somebody waits for a transfer to begin: the pause is not for that.
        guard !isScheduled, retry == nil || new.isBeginning else { return }
        isScheduled = true
        loop.executeLater { [self] in
            isScheduled = false
            flush()
        }
    }

    func flush() {
        guard !pending.isEmpty else { return }
        let batch = pending
        pending = []
        pendingKeys = []
        do {
            try journal.commit(batch.compactMap(\.change))
            retry?.cancel()
            retry = nil
            finish(batch, nil)
        } catch {
            pending = Self.withoutReplaced(batch.filter { !$0.isBeginning })
            pendingKeys = Set(pending.compactMap { $0.change?.key })
            finish(batch.filter(\.isBeginning), error)
            tryAgainLater()
        }
    }

    private func finish(_ changes: [Pending], _ error: (any Error)?) {
        let completions = changes.compactMap(\.completion)
        guard !completions.isEmpty else { return }
        loop.executeLater { for completion in completions { completion(error) } }
    }

    /// Without the changes that a later one replaces: while the journal cannot be written, they do not heap up.
    private static func withoutReplaced(_ changes: [Pending]) -> [Pending] {
        var later: Set<JournalChange.Row> = []
        let left = changes.reversed().filter { pending in
            guard pending.completion == nil, let row = pending.change?.replacedRow else { return true }
            return later.insert(row).inserted
        }
        return left.reversed()
    }

    private func tryAgainLater() {
        retry?.cancel()
        retry =
            pending.isEmpty
            ? nil
            : loop.schedule(at: loop.now.advanced(bySeconds: Self.pauseAfterFailure)) { [self] in
                retry = nil
                flush()
            }
    }

    // MARK: Reading, behind what was to be written

    func transfer(_ key: TransferKey) throws -> JournaledTransfer? {
        if pendingKeys.contains(key) { flush() }
        return try journal.transfer(key)
    }

    func transfers<Value: Sendable>(
        of session: Int64, _ transform: (JournaledTransfer) throws -> Value
    ) throws -> [Value] {
        flush()
        return try journal.transfers(of: session, transform)
    }

    func end(of key: TransferKey) throws -> TransferEnd? {
        if pendingKeys.contains(key) { flush() }
        return try journal.end(of: key)
    }
}

extension JournalChange {
    /// What a change writes whole.
    fileprivate enum Row: Hashable {
        case session(Int64)
        case summary(TransferKey)
        case standing(TransferKey)
        case description(TransferKey)
    }

    /// Nil for a change that none of its kind replaces.
    fileprivate var replacedRow: Row? {
        switch self {
        case .session(let session): .session(session.number)
        case .summary(let summary): .summary(summary.key)
        case .standing(let key, _): .standing(key)
        case .description(let key, _): .description(key)
        case .forgetSession, .begin, .end, .forget: nil
        }
    }

    /// The transfer that it concerns; nil where it concerns a session.
    fileprivate var key: TransferKey? {
        switch self {
        case .session, .forgetSession: nil
        case .begin(let transfer): transfer.summary.key
        case .summary(let summary): summary.key
        case .standing(let key, _), .description(let key, _), .end(let key, _, _), .forget(let key): key
        }
    }
}
