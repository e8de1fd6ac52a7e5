import LoadingKitCore
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
        var isBeginning: Bool { if case .begin = change { true } else { false } }
    }

    private let journal: any TransferJournal
    private let loop: EventLoop
    private var pending: [Pending] = []
    private var isScheduled = false
    private var retry: LoopTimer?

    init(_ journal: any TransferJournal, _ loop: EventLoop) {
        self.journal = journal
        self.loop = loop
    }

    /// - Parameters:
    ///   - change: Nil where nothing but the changes before is waited for.
    ///   - completion: Called later, on the loop, when the change is in the journal; with an error where it will not be.
    func add(_ change: JournalChange?, _ completion: (((any Error)?) -> Void)? = nil) {
        let new = Pending(change: change, completion: completion)
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
        do {
            try journal.commit(batch.compactMap(\.change))
            retry?.cancel()
            retry = nil
            finish(batch, nil)
        } catch {
            pending = Self.withoutReplaced(batch.filter { !$0.isBeginning })
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
        var later: Set<String> = []
        let left = changes.reversed().filter { pending in
            guard pending.completion == nil, let row = pending.change?.row else { return true }
            return later.insert(row).inserted
        }
        return left.reversed()
    }

    private func tryAgainLater() {
        retry?.cancel()
        retry = nil
        guard !pending.isEmpty else { return }
        retry = loop.schedule(at: loop.now.advanced(bySeconds: Self.pauseAfterFailure)) { [self] in
            retry = nil
            flush()
        }
    }

    // MARK: Reading, behind what was to be written

    func transfer(_ key: TransferKey) throws -> TransferRecord? {
        if pending.contains(where: { $0.change?.transfer == key }) { flush() }
        return try journal.transfer(key)
    }

    func transfers(
        of session: Int64, _ transform: (TransferRecord) -> TransferRecord
    ) throws -> [TransferRecord] {
        flush()
        return try journal.transfers(of: session, transform)
    }
}

extension JournalChange {
    /// What it writes whole; nil for a change that none of its kind replaces.
    fileprivate var row: String? {
        switch self {
        case .session(let session): "session \(session.number)"
        case .row(let row): "row \(row.key)"
        case .record(let key, _): "record \(key)"
        case .standing(let key, _): "standing \(key)"
        case .forgetSession, .begin, .forget: nil
        }
    }

    /// The transfer that it concerns; nil where it concerns a session.
    fileprivate var transfer: TransferKey? {
        switch self {
        case .session, .forgetSession: nil
        case .begin(let row, _), .row(let row): row.key
        case .record(let key, _), .standing(let key, _), .forget(let key): key
        }
    }
}
