import Foundation
import LoadingKitPrimitives

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
    /// Delete the cookies that were stored between two dates, both included. The deletion may be written late: cookies
    /// that other processes have stored after it was made stay.
    case deleteAll(since: Date, until: Date)
}

extension CookieEdit {
    /// The change of the stored cookies that follows from a change of those in memory; nil where there is none.
    ///
    /// A cookie that was removed because it has expired is not deleted: another process may have stored it again. A
    /// cookie that the program or a server has removed is deleted even if this process did not have it.
    init?(_ change: CookieChange, at now: Date) {
        switch change {
        case .stored(let record, _) where !record.isSessionOnly: self = .save(record)
        case .stored(_, replacing: let old?) where !old.isSessionOnly: self = .delete(old.identity)
        case .removed(let record) where !record.isSessionOnly && !record.isExpired(at: now):
            self = .delete(record.identity)
        case .removedByProgram(let identity), .removedByServer(let identity): self = .delete(identity)
        case .removedAll(let date): self = .deleteAll(since: date, until: now)
        case .stored, .removed: return nil
        }
    }
}

/// Changes of a storage that are to be written. One batch is written at a time, in order; changes made meanwhile form
/// the next batch. Of several changes of one cookie a batch has the last.
///
/// A server may remove the same cookie with each response. Where this process does not have the cookie, its deletion is
/// written once a minute.
///
/// The changes of a batch that failed are part of the next batch, which starts with a change or a flush. Nothing else is
/// written: other processes may have changed the other stored cookies.
struct CookieWriteQueue: Sendable {
    typealias Waiter = @Sendable ((any Error)?) -> Void

    /// The largest number of changes in a batch. Beyond it the oldest are dropped and never written, as the disk may be
    /// broken for long.
    private static let mostEdits = 10_000
    /// The time between two deletions of a cookie that only servers remove, in seconds.
    private static let timeBetweenDeletions = 60.0
    /// The largest number of cookies whose last deletions are known.
    private static let mostDeletions = 256

    /// The batch that is being written.
    private var writing: (edits: [CookieEdit], waiters: [Waiter])?
    private var edits: [CookieEdit] = []
    private var waiters: [Waiter] = []
    /// The changes that may be missing from the stored cookies that are being read; nil at other times.
    private var unread: UnreadCookieEdits?
    /// The times of the last deletions that servers have caused.
    private var deletions: [CookieRecord.Identity: Date] = [:]

    mutating func add(_ changes: [CookieChange], at now: Date) {
        let new = changes.compactMap { makeEdit($0, at: now) }
        edits += new
        unread?.add(new)
        if edits.count > 2 * Self.mostEdits { compact() }
    }

    /// The change of the stored cookies; nil where there is none, or where a server repeats it too soon.
    private mutating func makeEdit(_ change: CookieChange, at now: Date) -> CookieEdit? {
        if case .removedByServer(let identity) = change {
            if let last = deletions[identity], abs(now.timeIntervalSince(last)) < Self.timeBetweenDeletions {
                return nil
            }
            if deletions.count >= Self.mostDeletions { deletions = [:] }
            deletions[identity] = now
        }
        return CookieEdit(change, at: now)
    }

    /// The stored cookies are about to be read.
    mutating func beginReading() {
        unread = UnreadCookieEdits(edits + (writing?.edits ?? []))
    }

    /// The stored cookies were read. Returns the changes that may be missing from them.
    mutating func endReading() -> UnreadCookieEdits { unread.take() ?? UnreadCookieEdits() }

    /// Keeps the last change of each cookie, and each deletion by date that no later one includes.
    private mutating func compact() {
        var seen: Set<CookieRecord.Identity> = []
        var last: (since: Date, until: Date)?
        let latestFirst = edits.reversed().filter { edit in
            switch edit {
            case .save(let record): return seen.insert(record.identity).inserted
            case .delete(let identity): return seen.insert(identity).inserted
            case .deleteAll(let since, let until):
                if let last, last.since <= since, until <= last.until { return false }
                last = (since, until)
                return true
            }
        }
        edits = latestFirst.prefix(Self.mostEdits).reversed()
    }

    /// Calls `waiter` when all changes added before the call are written. Returns true, and does not call `waiter`,
    /// when they are already written.
    mutating func awaitWritten(orCall waiter: @escaping Waiter) -> Bool {
        guard edits.isEmpty else {
            waiters.append(waiter)
            return false
        }
        writing?.waiters.append(waiter)
        return writing == nil
    }

    /// The next batch, whose write starts now; nil when a batch is already being written, or there is nothing to write.
    mutating func next() -> [CookieEdit]? {
        guard writing == nil, !edits.isEmpty else { return nil }
        compact()
        writing = (edits, waiters)
        (edits, waiters) = ([], [])
        return writing?.edits
    }

    /// The batch was written, or the write failed. Returns the callers that waited for it. After a failure it returns
    /// all waiting callers, because the next batch may start much later.
    mutating func finish(_ error: (any Error)?) -> [Waiter] {
        guard let (batch, done) = writing.take() else { return [] }
        guard error != nil else { return done }
        edits = batch + edits
        return done + exchange(&waiters, for: [])
    }
}

/// The changes that may be missing from the stored cookies that a process has read.
struct UnreadCookieEdits: Sendable {
    /// The cookies that were saved or deleted one by one.
    private(set) var identities: Set<CookieRecord.Identity> = []
    /// The cookies that were stored between these dates were deleted; nil where no such deletion is missing.
    private var deleted: (since: Date, until: Date)?

    init(_ edits: [CookieEdit] = []) { add(edits) }

    mutating func add(_ edits: [CookieEdit]) {
        for edit in edits {
            switch edit {
            case .save(let record): identities.insert(record.identity)
            case .delete(let identity): identities.insert(identity)
            case .deleteAll(let since, let until):
                let known = deleted ?? (since, until)
                deleted = (min(known.since, since), max(known.until, until))
            }
        }
    }

    /// Whether one of the changes replaces or deletes a cookie that was read.
    func hasChange(of record: CookieRecord) -> Bool {
        if identities.contains(record.identity) { return true }
        guard let deleted else { return false }
        return deleted.since <= record.stored && record.stored <= deleted.until
    }
}
