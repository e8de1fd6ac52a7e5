import Foundation

/// The persistent store of a cookie storage.
///
/// The storage calls one method at a time. Cookies that expire with the session are never passed to it.
package protocol CookiePersistence: Sendable {
    /// The store's name, which is unique, and the same in other processes; nil where there is none.
    var identity: String? { get }

    /// Returns the stored cookies, in any order. May block.
    func load() throws -> [CookieRecord]

    /// A value that changes when another process changes the stored cookies; nil for a store without versions. May
    /// block.
    func version() throws -> String?

    /// Stores changes, in order: all of them or none. Calls `completion` once, on any thread, when they are stored, or
    /// with an error. Does not block.
    func write(_ edits: [CookieEdit], completion: @escaping @Sendable ((any Error)?) -> Void)
}

extension CookiePersistence {
    package var identity: String? { nil }

    package func version() throws -> String? { nil }
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
    ///
    /// A cookie that was removed because it has expired is not deleted: another process may have stored it again.
    init?(_ change: CookieChange, at now: Date) {
        switch change {
        case .stored(let record, _) where !record.isSessionOnly: self = .save(record)
        case .stored(_, replacing: let old?) where !old.isSessionOnly: self = .delete(old.identity)
        case .removed(let record) where !record.isSessionOnly && !record.isExpired(at: now):
            self = .delete(record.identity)
        case .stored, .removed: return nil
        }
    }

    var identity: CookieRecord.Identity {
        switch self {
        case .save(let record): record.identity
        case .delete(let identity): identity
        }
    }
}

/// Changes of a storage that are to be written. One batch is written at a time, in order; changes made meanwhile form
/// the next batch. Of several changes of one cookie a batch has the last.
///
/// The changes of a batch that failed are part of the next batch, which starts with a change or a flush. Nothing else is
/// written: other processes may have changed the other stored cookies.
struct CookieWriteQueue: Sendable {
    typealias Waiter = @Sendable ((any Error)?) -> Void

    /// The largest number of changes in a batch. Beyond it the oldest are dropped and never written, as the disk may be
    /// broken for long.
    private static let mostEdits = 10_000

    private enum State {
        case idle
        case writing([CookieEdit], [Waiter])
    }

    private var state = State.idle
    private var edits: [CookieEdit] = []
    private var waiters: [Waiter] = []
    /// The cookies whose changes may be missing from the stored cookies that are being read; nil at other times.
    private var unread: Set<CookieRecord.Identity>?

    mutating func add(_ changes: [CookieChange], at now: Date) {
        let new = changes.compactMap { CookieEdit($0, at: now) }
        edits += new
        unread?.formUnion(new.map(\.identity))
        if edits.count > 2 * Self.mostEdits { compact() }
    }

    /// The stored cookies are about to be read.
    mutating func beginReading() {
        var pending = edits
        if case .writing(let batch, _) = state { pending += batch }
        unread = Set(pending.map(\.identity))
    }

    /// The stored cookies were read. Returns the cookies whose changes may be missing from them.
    mutating func endReading() -> Set<CookieRecord.Identity> { unread.take() ?? [] }

    /// Keeps the last change of each cookie.
    private mutating func compact() {
        var seen: Set<CookieRecord.Identity> = []
        let latestFirst = edits.reversed().filter { seen.insert($0.identity).inserted }
        edits = latestFirst.prefix(Self.mostEdits).reversed()
    }

    /// Calls `waiter` when all changes added before the call are written. Returns true, and does not call `waiter`,
    /// when they are already written.
    mutating func awaitWritten(orCall waiter: @escaping Waiter) -> Bool {
        guard edits.isEmpty else {
            waiters.append(waiter)
            return false
        }
        switch state {
        case .idle: return true
        case .writing(let batch, let current):
            state = .writing(batch, current + [waiter])
            return false
        }
    }

    /// The next batch, whose write starts now; nil when a batch is already being written, or there is nothing to write.
    mutating func next() -> [CookieEdit]? {
        guard case .idle = state, !edits.isEmpty else { return nil }
        compact()
        let batch = edits
        state = .writing(batch, waiters)
        (edits, waiters) = ([], [])
        return batch
    }

    /// The batch was written, or the write failed. Returns the callers that waited for it. After a failure it returns
    /// all waiting callers, because the next batch may start much later.
    mutating func finish(_ error: (any Error)?) -> [Waiter] {
        guard case .writing(let batch, var done) = state else { return [] }
        state = .idle
        if error != nil {
            edits = batch + edits
            done += waiters
            waiters = []
        }
        return done
    }
}
