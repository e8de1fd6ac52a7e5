/// The persistent store of a cookie storage.
///
/// The storage calls one method at a time. Cookies that expire with the session are never passed to it.
package protocol CookiePersistence: Sendable {
    /// The store's name, which is unique, and the same in other processes; nil where there is none.
    var identity: String? { get }

    /// Returns the stored cookies, in any order. May block.
    func load() throws -> [CookieRecord]

    /// Stores changes: all of them or none. Calls `completion` once, on any thread, when they are stored, or with an
    /// error. Does not block.
    func write(_ batch: CookieBatch, completion: @escaping @Sendable ((any Error)?) -> Void)
}

extension CookiePersistence {
    package var identity: String? { nil }
}

package enum CookieBatch: Sendable, Equatable {
    /// The changes since the last batch, in order.
    case edits([CookieEdit])
    /// All cookies of the storage. They replace the stored cookies.
    case everything([CookieRecord])
}

/// One change of the stored cookies.
package enum CookieEdit: Sendable, Equatable {
    /// Store a cookie, and replace the one with the same identity.
    case save(CookieRecord)
    /// Delete the cookie with this identity.
    case delete(CookieRecord.Identity)
}

extension CookieEdit {
    /// The change of the stored cookies that follows from a change of those in memory; nil where there is none.
    init?(_ change: CookieChange) {
        switch change {
        case .stored(let record, _) where !record.isSessionOnly: self = .save(record)
        case .stored(_, replacing: let old?) where !old.isSessionOnly: self = .delete(old.identity)
        case .removed(let record) where !record.isSessionOnly: self = .delete(record.identity)
        case .stored, .removed: return nil
        }
    }
}

/// Changes of a storage that are to be written. One batch is written at a time, in order; changes made meanwhile form
/// the next batch.
///
/// A batch that failed is not retried. The next batch, which starts with a change or a flush, has all cookies of the
/// storage.
struct CookieWriteQueue: Sendable {
    typealias Waiter = @Sendable ((any Error)?) -> Void

    /// When more changes than this wait, the next batch has all cookies instead: with a slow disk the queue still has a
    /// bounded size.
    private static let mostEdits = 6000

    private enum State {
        case idle
        case writing([Waiter])
    }

    private var state = State.idle
    private var edits: [CookieEdit] = []
    private var needsEverything = false
    private var waiters: [Waiter] = []

    mutating func add(_ changes: [CookieChange]) {
        guard !needsEverything else { return }
        edits += changes.compactMap { CookieEdit($0) }
        if edits.count > Self.mostEdits { startOver() }
    }

    private mutating func startOver() {
        edits = []
        needsEverything = true
    }

    /// Calls `waiter` when all changes added before the call are written. Returns true, and does not call `waiter`,
    /// when they are already written.
    mutating func awaitWritten(orCall waiter: @escaping Waiter) -> Bool {
        guard edits.isEmpty, !needsEverything else {
            waiters.append(waiter)
            return false
        }
        switch state {
        case .idle: return true
        case .writing(let current):
            state = .writing(current + [waiter])
            return false
        }
    }

    /// The next batch, whose write starts now; nil when a batch is already being written, or there is nothing to write.
    mutating func next(everything: () -> [CookieRecord]) -> CookieBatch? {
        guard case .idle = state, needsEverything || !edits.isEmpty else { return nil }
        let batch: CookieBatch =
            needsEverything ? .everything(everything().filter { !$0.isSessionOnly }) : .edits(edits)
        state = .writing(waiters)
        (edits, waiters, needsEverything) = ([], [], false)
        return batch
    }

    /// The batch was written, or the write failed. Returns the callers that waited for it. After a failure it returns
    /// all waiting callers, because the next batch may start much later.
    mutating func finish(_ error: (any Error)?) -> [Waiter] {
        guard case .writing(var done) = state else { return [] }
        state = .idle
        if error != nil {
            startOver()
            done += waiters
            waiters = []
        }
        return done
    }
}
