import Foundation
import LoadingKitTransport

/// The disk store of a cache, for responses that do not fit into memory, or outlive the process.
///
/// Thread-safe. The methods that change the store return at once, and take effect in order: a later `entries(for:)`
/// sees the change.
package protocol DiskResponseStore: AnyObject, Sendable {
    /// Whether there may be responses under a key; true while this is not known. Does not block.
    ///
    /// A response that another process has stored may not be found for one second. A look-up of a key without a
    /// response therefore seldom reads the disk.
    func mayHave(_ key: CacheKey) -> Bool

    /// The responses under a key, the last stored first. May block.
    func entries(for key: CacheKey) -> [CacheEntry]

    /// Records a use of the responses under a key, which were found in memory. Does not block.
    func noteUse(of key: CacheKey)

    /// The number of bytes that all responses occupy. May block.
    var usage: Int { get }

    /// The hash for secrets; the store contains no secret in another form. The store has its own hash key, and makes it
    /// when it is missing. Nil where the key can be neither read nor made. May block.
    func keyedHash() -> KeyedHash?

    /// Stores a response, and removes the responses under the key that it replaces (``CacheEntry/replaces(_:)``). When
    /// the capacity is exceeded, the least recently used responses are removed.
    func store(_ entry: CacheEntry, for key: CacheKey)

    func remove(_ key: CacheKey)
    func removeAll()
    func removeAll(since date: Date)

    /// Changes the number of bytes that responses may occupy. When they exceed it, the least recently used are removed.
    func setCapacity(_ capacity: Int)

    /// Calls `completion`, on any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// Makes the disk stores of caches: the class `DiskStores` of the module `LoadingKit`, which this module does not import.
package protocol DiskResponseStoreComposition: AnyObject {
    /// Makes the store in a folder; nil stands for the program's own folder.
    static var makeStore: @Sendable (_ folder: URL?) -> (any DiskResponseStore)? { get }
}

enum DiskResponseStores {
    /// Nil in a program without the module `LoadingKit`, whose caches are in memory only. The class is found by its name:
    /// a program may make a cache before it uses anything of that module.
    static let makeStore = (NSClassFromString("LoadingKit.DiskStores") as? any DiskResponseStoreComposition.Type)?
        .makeStore
}

/// The keys that are being read from the disk. A read must not replace a response that was stored meanwhile.
struct DiskReads: Sendable {
    private struct Read: Sendable {
        var readers = 0
        var isOutdated = false
    }

    private var reads: [CacheKey: Read] = [:]

    mutating func begin(_ key: CacheKey) { reads[key, default: Read()].readers += 1 }

    /// The key's responses were stored or removed: a read in progress is outdated.
    mutating func outdate(_ key: CacheKey) { reads[key]?.isOutdated = true }

    mutating func outdateAll() {
        for key in reads.keys { reads[key]?.isOutdated = true }
    }

    /// Ends a read. True when its result is still current.
    mutating func end(_ key: CacheKey) -> Bool {
        guard var read = reads[key] else { return false }
        read.readers -= 1
        reads[key] = read.readers > 0 ? read : nil
        return !read.isOutdated
    }
}
