import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Where a cache keeps the responses that do not fit into its memory, or outlive the process.
///
/// Any thread may call it. The methods that change the store return at once, and take effect in order: a later
/// `entries(for:)` sees the change.
package protocol DiskResponseStore: AnyObject, Sendable {
    /// Whether there may be responses under a key; true while that is not known. Does not block.
    ///
    /// What another process has stored may be missed for one second. So a look-up of a key that has no response seldom
    /// reads the disk.
    func mayHave(_ key: CacheKey) -> Bool

    /// The responses under a key, the last stored first. May block.
    func entries(for key: CacheKey) -> [CacheEntry]

    /// Notes that the responses under a key were used: they were found in memory. Does not block.
    func noteUse(of key: CacheKey)

    /// How many bytes all responses take. May block.
    var usage: Int { get }

    /// The hash that stands for secrets, of which the store keeps nothing else. Its key is the store's own, and is made
    /// where there is none. Nil where the key can be neither read nor made. May block.
    func keyedHash() -> KeyedHash?

    /// Keeps a response, in place of those under the key that it replaces (``CacheEntry/replaces(_:)``). When the
    /// capacity is exceeded, the least recently used responses are removed.
    func store(_ entry: CacheEntry, for key: CacheKey)

    /// Forgets the responses under a key.
    func remove(_ key: CacheKey)

    /// Forgets all responses.
    func removeAll()

    /// Forgets the responses that were stored at or after a date.
    func removeAll(since date: Date)

    /// Changes how many bytes responses may take. When that is exceeded, the least recently used are removed.
    func setCapacity(_ capacity: Int)

    /// Calls back, from any thread, when all changes are on disk or could not be written.
    func flush(_ completion: @escaping @Sendable () -> Void)
}

/// What hands over the stores on disk: the module `LoadingKit`'s ``DiskResponseStores/compositionName``.
package protocol DiskResponseStoreComposition: AnyObject {
    static func handOverDiskStores()
}

/// Makes the disk stores of caches. They are in a module that this one does not import: the module `LoadingKit` hands
/// over the function that makes them, once. A cache that a program makes before it uses anything of that module asks it
/// to, by its name. In a program without that module caches are in memory alone.
package enum DiskResponseStores {
    /// - Parameter folder: Nil for the program's own.
    package typealias Make = @Sendable (_ folder: URL?) -> (any DiskResponseStore)?

    private struct State {
        var make: Make?
        /// What caches that were made before the function was there have to do then.
        var waiting: [@Sendable () -> Void] = []
    }

    private static let state = Guarded(State())

    /// Where the module `LoadingKit` is to be found. A test fails where it is not.
    package static let compositionName = "LoadingKit.DiskStores"

    /// Once.
    private static let askComposition: Void = {
        (NSClassFromString(compositionName) as? any DiskResponseStoreComposition.Type)?.handOverDiskStores()
    }()

    /// The function that makes stores. Nil while there is none: then `whenThereIs` is called as soon as there is one.
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

/// The keys that are being read from the disk. What was read must not replace a response that was stored meanwhile.
struct DiskReads: Sendable {
    private struct Read: Sendable {
        var readers = 0
        var isOutdated = false
    }

    private var reads: [CacheKey: Read] = [:]

    mutating func begin(_ key: CacheKey) { reads[key, default: Read()].readers += 1 }

    /// The key's responses were stored or removed: what is being read for it is out of date.
    mutating func outdate(_ key: CacheKey) { reads[key]?.isOutdated = true }

    mutating func outdateAll() {
        for key in reads.keys { reads[key]?.isOutdated = true }
    }

    /// Ends a read. True when what it has read is still current.
    mutating func end(_ key: CacheKey) -> Bool {
        guard var read = reads[key] else { return false }
        read.readers -= 1
        reads[key] = read.readers > 0 ? read : nil
        return !read.isOutdated
    }
}
