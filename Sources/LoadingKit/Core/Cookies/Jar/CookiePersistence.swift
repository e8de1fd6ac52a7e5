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
