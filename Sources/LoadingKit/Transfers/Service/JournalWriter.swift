import LoadingKitCore
import LoadingKitPersistence
import LoadingKitTransport

/// Collects the changes of one turn of the service's event loop, and writes them into the journal together. Confined
/// to the service's loop.
///
/// Where the journal cannot be written, the begin of a transfer fails; all other changes are retried. A change whose values
/// cannot be stored always fails, so that no other change waits for it.
final class JournalWriter {
    /// The pause before a retry, in seconds.
    private static let pauseAfterFailure = 5.0

    private struct Pending {
        /// Nil for an entry that only waits for the changes before it.
        let change: JournalChange?
        let completion: (((any Error)?) -> Void)?

        /// Whether the change fails instead of being retried.
        var isBeginning: Bool { if case .begin = change { true } else { false } }
    }

    private let journal: any TransferJournal
    private let loop: EventLoop
    private var pending: [Pending] = []
    private var isScheduled = false
    private var retry: LoopTimer?
    /// Called later, on the loop, when changes were written, or could not be written.
    var didFlush: () -> Void = {}
    /// Whether there are changes that the journal does not have yet.
    var hasPending: Bool { !pending.isEmpty }

    init(_ journal: any TransferJournal, _ loop: EventLoop) {
        self.journal = journal
        self.loop = loop
    }

    /// - Parameters:
    ///   - change: Nil to wait only for the earlier changes.
    ///   - completion: Called later, on the loop, when the change is in the journal; with an error where it cannot be
    ///     written.
    func add(_ change: JournalChange?, _ completion: (((any Error)?) -> Void)? = nil) {
        let new = Pending(change: change, completion: completion)
        pending.append(new)
        // A caller waits for the transfer to begin, so the pause before a retry does not apply.
        guard !isScheduled, retry == nil || new.isBeginning else { return }
        isScheduled = true
        loop.executeLater { [self] in
            isScheduled = false
            flush()
        }
    }

    func flush() {
        guard !pending.isEmpty else { return }
        var batch = pending
        pending = []
        do {
            try commit(&batch)
            retry?.cancel()
            retry = nil
            finish(batch, nil)
        } catch {
            pending = Self.withoutReplaced(batch.filter { !$0.isBeginning })
            finish(batch.filter(\.isBeginning), error)
            tryAgainLater()
        }
        loop.executeLater { [self] in didFlush() }
    }

    /// Writes the changes. Those that the journal refuses fail, and are removed from the batch.
    private func commit(_ batch: inout [Pending]) throws {
        while true {
            do {
                return try journal.commit(batch.compactMap(\.change))
            } catch let refusal as RefusedChange {
                let places = batch.indices.filter { batch[$0].change != nil }
                guard places.indices.contains(refusal.index) else { throw refusal.error }
                finish([batch.remove(at: places[refusal.index])], refusal.error)
            }
        }
    }

    private func finish(_ changes: [Pending], _ error: (any Error)?) {
        let completions = changes.compactMap(\.completion)
        guard !completions.isEmpty else { return }
        loop.executeLater { for completion in completions { completion(error) } }
    }

    /// Removes replaced changes, so that they do not accumulate while the journal cannot be written.
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

    // MARK: Reading, after the pending writes

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
    /// The journal's row that the change overwrites; nil for a change that no other change replaces.
    fileprivate var row: String? {
        switch self {
        case .session(let session): "session \(session.number)"
        case .row(let row): "row \(row.key)"
        case .record(let key, _): "record \(key)"
        case .status(let key, _): "status \(key)"
        case .forgetSession, .begin, .forget: nil
        }
    }

    /// The transfer of the change; nil where the change concerns a session.
    fileprivate var transfer: TransferKey? {
        switch self {
        case .session, .forgetSession: nil
        case .begin(let row, _), .row(let row): row.key
        case .record(let key, _), .status(let key, _), .forget(let key): key
        }
    }
}
