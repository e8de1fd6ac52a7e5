import Foundation
import LoadingKitPrimitives
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

    /// Removes the responses under a key.
    func remove(_ key: CacheKey)

    /// Removes all responses.
    func removeAll()

    /// Removes the responses that were stored at or after a date.
    func removeAll(since date: Date)

    /// Changes the number of bytes that responses may occupy. When they exceed it, the least recently used are removed.
    func setCapacity(_ capacity: Int)

    /// Calls `completion`, on any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// Hands over the function that makes disk stores: the class ``DiskResponseStores/compositionName`` of `LoadingKit`.
package protocol DiskResponseStoreComposition: AnyObject {
    static func handOverDiskStores()
}

/// Makes the disk stores of caches. They are in a module that this module does not import: the module `LoadingKit`
/// hands over the function that makes them, once. When a program makes a cache before it uses anything of that module,
/// the cache finds the class by its name and calls it. In a program without that module caches are in memory only.
package enum DiskResponseStores {
    /// - Parameter folder: Nil for the program's own folder.
    package typealias Make = @Sendable (_ folder: URL?) -> (any DiskResponseStore)?

    private struct State {
        var make: Make?
        /// The pending work of caches that were made before the function was handed over.
        var waiting: [@Sendable () -> Void] = []
    }

    private static let state = Guarded(State())

    /// The name of the class in the module `LoadingKit`. A test fails where there is no such class.
    package static let compositionName = "LoadingKit.DiskStores"

    /// Runs once.
    private static let askComposition: Void = {
        (NSClassFromString(compositionName) as? any DiskResponseStoreComposition.Type)?.handOverDiskStores()
    }()

    /// The function that makes stores. Nil until it is handed over; then `whenThereIs` is called.
    static func maker(whenThereIs: @escaping @Sendable () -> Void) -> Make? {
        askComposition
        return state.withLock { state in
            if state.make == nil { state.waiting.append(whenThereIs) }
            return state.make
        }
    }

    /// Called by the module `LoadingKit`. A second call changes nothing.
    package static func handOver(_ make: @escaping Make) {
        let waiting = state.withLock { state -> [@Sendable () -> Void] in
            guard state.make == nil else { return [] }
            defer { state.waiting = [] }
            state.make = make
            return state.waiting
        }
        for call in waiting { call() }
    }
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
