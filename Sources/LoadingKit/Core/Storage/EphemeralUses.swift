import LoadingKitPrimitives

/// Counts the sessions that use a store of an ephemeral configuration. The store is cleared when the last of them is
/// invalidated.
package final class EphemeralUses: Sendable {
    private let count = Guarded(0)

    package init() {}

    func begin() { count.withLock { $0 += 1 } }

    /// - Returns: whether no session uses the store any longer.
    func end() -> Bool {
        count.withLock { count in
            count -= 1
            return count == 0
        }
    }
}

/// A store that an ephemeral configuration may create for itself.
package protocol EphemeralStore: AnyObject {
    /// Nil for every other store, whose data belongs to the program. Set before any other thread has the store.
    var ephemeralUses: EphemeralUses? { get set }
    func clear()
}
