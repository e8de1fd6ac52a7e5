/// Where a cookie storage keeps its cookies when the program does not run.
///
/// The storage calls one method at a time. Cookies that end with the session never come here.
package protocol CookiePersistence: Sendable {
    /// What tells it from others, in other processes too; nil where nothing does.
    var identity: String? { get }

    /// Gives what is kept, in any order. May block.
    func load() throws -> [CookieRecord]

    /// Keeps changes, all of them or none, and says when they are safe, or what went wrong. Does not block; calls back
    /// once, from any thread.
    func write(_ batch: CookieBatch, completion: @escaping @Sendable ((any Error)?) -> Void)
}

extension CookiePersistence {
    package var identity: String? { nil }
}

/// Changes that are written together.
package enum CookieBatch: Sendable, Equatable {
    /// What changed since the last batch, in order.
    case edits([CookieEdit])
    /// All the cookies that there are: what was kept before is void.
    case everything([CookieRecord])
}

/// One change of what is kept.
package enum CookieEdit: Sendable, Equatable {
    /// Keep it, in place of one of the same identity.
    case save(CookieRecord)
    /// Keep it no longer.
    case delete(CookieRecord.Identity)
}

extension CookieEdit {
    /// What a change of the cookies in memory changes of what is kept; nil where that is nothing.
    init?(_ change: CookieChange) {
        switch change {
        case .stored(let record, _) where !record.isSessionOnly: self = .save(record)
        case .stored(_, replacing: let old?) where !old.isSessionOnly: self = .delete(old.identity)
        case .removed(let record) where !record.isSessionOnly: self = .delete(record.identity)
        case .stored, .removed: return nil
        }
    }
}
