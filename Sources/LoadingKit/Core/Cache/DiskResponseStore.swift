import Foundation
import LoadingKitTransport

/// Where a cache keeps responses beyond its memory and the process's life.
///
/// Any thread may call it. What changes it returns at once and takes effect in order; a later `entries(for:)` sees it.
package protocol DiskResponseStore: AnyObject, Sendable {
    /// Whether there may be responses under a key; true while that is not known. Does not block.
    ///
    /// What another process has stored may be passed over for a second, so that most of what is nowhere costs no reading.
    func mayHave(_ key: CacheKey) -> Bool

    /// The responses under a key, the last stored first. May block.
    func entries(for key: CacheKey) -> [CacheEntry]

    /// Takes note that the responses under a key were used, though they were not read here. Does not block.
    func noteUse(of key: CacheKey)

    /// What all of them take, in bytes. May block.
    var usage: Int { get }

    /// What secrets are hashed with, of which nothing else is kept: under the store's own key, which is made where there is
    /// none. Nil where that cannot be had. May block.
    func keyedHash() -> KeyedHash?

    /// Keeps a response in place of those under the key that it replaces (``CacheEntry/replaces(_:)``). When there is
    /// too much, what was not used for longest goes.
    func store(_ entry: CacheEntry, for key: CacheKey)

    /// Forgets the responses under a key.
    func remove(_ key: CacheKey)

    /// Forgets all responses.
    func removeAll()

    /// Forgets the responses that were stored at or after a date.
    func removeAll(since date: Date)

    /// Changes the most that responses may take, in bytes; what is too much goes.
    func setCapacity(_ capacity: Int)

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}
