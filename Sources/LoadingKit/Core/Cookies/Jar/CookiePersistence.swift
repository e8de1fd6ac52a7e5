/// Where a cookie storage keeps its cookies when the program does not run.
///
/// The storage calls one method at a time. Cookies that end with the session never come here.
package protocol CookiePersistence: Sendable {
    /// A name that differs from those of all other places, and is the same in other processes; nil where there is none.
    var identity: String? { get }

    /// Gives the cookies that are kept, in any order. May block.
    func load() throws -> [CookieRecord]

    /// Keeps changes: all of them or none. Calls back once, from any thread, when they are kept, or with an error. Does
    /// not block.
    func write(_ batch: CookieBatch, completion: @escaping @Sendable ((any Error)?) -> Void)
}

extension CookiePersistence {
    package var identity: String? { nil }
}

/// Changes that are written together.
package enum CookieBatch: Sendable, Equatable {
    /// What changed since the last batch, in order.
    case edits([CookieEdit])
    /// All cookies of the storage. They replace those that were kept before.
    case everything([CookieRecord])
}

/// One change of what is kept.
package enum CookieEdit: Sendable, Equatable {
    /// Keep a cookie, in place of the one with the same identity.
    case save(CookieRecord)
    /// Delete the cookie with this identity.
    case delete(CookieRecord.Identity)
}

extension CookieEdit {
    /// The change to the kept cookies that follows from a change of those in memory; nil where there is none.
    init?(_ change: CookieChange) {
        switch change {
        case .stored(let record, _) where !record.isSessionOnly: self = .save(record)
        case .stored(_, replacing: let old?) where !old.isSessionOnly: self = .delete(old.identity)
        case .removed(let record) where !record.isSessionOnly: self = .delete(record.identity)
        case .stored, .removed: return nil
        }
    }
}

/// Changes of a storage that are to be written. One batch is written at a time, in order; the changes that come
/// meanwhile are the next batch.
///
/// A batch that failed is not tried again. The next one, which a change or a flush begins, has all cookies of the
/// storage.
struct CookieWriteQueue: Sendable {
    typealias Waiter = @Sendable ((any Error)?) -> Void

    /// When more changes wait than this, the next batch has all cookies instead: a slow disk does not make the queue
    /// grow without a bound.
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

    /// Calls `waiter` when all that was added so far is written. Returns true, without a call, when that is the case
    /// already.
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

    /// The next batch, which is being written from now on; nil when one is already, or there is nothing to write.
    mutating func next(everything: () -> [CookieRecord]) -> CookieBatch? {
        guard case .idle = state, needsEverything || !edits.isEmpty else { return nil }
        let batch: CookieBatch =
            needsEverything ? .everything(everything().filter { !$0.isSessionOnly }) : .edits(edits)
        state = .writing(waiters)
        (edits, waiters, needsEverything) = ([], [], false)
        return batch
    }

    /// The batch was written, or the writing failed. Gives the callers that waited for it. After a failure these are
    /// all that wait, as the next batch may come much later.
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
