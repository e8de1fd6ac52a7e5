import Foundation
import LoadingKitPrimitives

/// Keeps responses to requests.
///
/// Follows Apple's `URLCache`. Any thread may use it. Responses are kept in memory, and on disk where there is a disk
/// capacity and a store for it; the least recently used of them go first when a capacity is reached. A response is found
/// again for a request with the same method and the same URL, whatever its fragment. Where a server chooses between
/// several by the request's fields (`Vary`), a session finds the right one, and a program the last that was stored.
///
/// A session asks a subclass through the methods for requests that it overrides.
open class URLCache: NSObject, @unchecked Sendable {  // all state is in a Guarded
    /// Where a response may be kept.
    public enum StoragePolicy: UInt, Sendable {
        /// In memory and on disk.
        case allowed
        /// In memory only.
        case allowedInMemoryOnly
        /// Nowhere.
        case notAllowed
    }

    private struct State: Sendable {
        var memory: MemoryResponseStore
        var diskCapacity: Int
    }

    private static let sharedCache = Guarded<URLCache?>(nil)
    package static let defaultMemoryCapacity = 4 << 20
    package static let defaultDiskCapacity = 20 << 20

    private let state: Guarded<State>
    /// Set before the cache is shared.
    private var disk: (any DiskResponseStore)?

    /// The cache that sessions use unless told otherwise: 4 MiB of memory, 20 MiB of disk.
    open class var shared: URLCache {
        get {
            sharedCache.withLock { cache in
                if let cache { return cache }
                let made = URLCache(
                    memoryCapacity: defaultMemoryCapacity, diskCapacity: defaultDiskCapacity, diskPath: nil)
                cache = made
                return made
            }
        }
        set {
            let old = sharedCache.withLock { cache in
                defer { cache = newValue }
                return cache
            }
            withExtendedLifetime(old) {}  // so that it is not destroyed while the lock is held
        }
    }

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The most that responses may take of memory, in bytes.
    ///   - diskCapacity: The most that responses may take of the disk, in bytes.
    ///   - path: The folder to keep responses in.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        state = Guarded(
            State(memory: MemoryResponseStore(capacity: memoryCapacity), diskCapacity: max(0, diskCapacity)))
    }

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The most that responses may take of memory, in bytes.
    ///   - diskCapacity: The most that responses may take of the disk, in bytes.
    ///   - directory: The folder to keep responses in.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// Makes a cache over a disk store, which has what was stored there before.
    package convenience init(memoryCapacity: Int, diskCapacity: Int, disk: any DiskResponseStore) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: nil)
        self.disk = disk
        disk.setCapacity(max(0, diskCapacity))
    }

    // MARK: Responses

    /// The response kept for a request, or nil.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let key = CacheKey(request) else { return nil }
        return entries(for: key).first(where: \.isComplete)?.response
    }

    /// Keeps a response for a request in place of an earlier one.
    ///
    /// Nothing is kept when the response's policy forbids it, or when it is larger than the capacities.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let key = CacheKey(request) else { return }
        keep(CacheEntry(response: cachedResponse, date: Date()), for: key, onDiskUpTo: diskCapacity)
    }

    /// Forgets the response kept for a request.
    open func removeCachedResponse(for request: URLRequest) {
        guard let key = CacheKey(request) else { return }
        let gone = state.withLock { $0.memory.remove(key) }
        withExtendedLifetime(gone) {}
        disk?.remove(key)
    }

    /// Forgets all responses.
    open func removeAllCachedResponses() {
        let gone = state.withLock { $0.memory.removeAll() }
        withExtendedLifetime(gone) {}
        disk?.removeAll()
    }

    /// Forgets the responses that were stored at or after a date.
    open func removeCachedResponses(since date: Date) {
        let gone = state.withLock { $0.memory.removeAll(since: date) }
        withExtendedLifetime(gone) {}
        disk?.removeAll(since: date)
    }

    // MARK: Sizes

    /// The most that responses may take of memory, in bytes. Making it smaller forgets responses at once.
    open var memoryCapacity: Int {
        get { state.withLock { $0.memory.capacity } }
        set {
            let gone = state.withLock { $0.memory.setCapacity(newValue) }
            withExtendedLifetime(gone) {}
        }
    }

    /// The most that responses may take of the disk, in bytes. Making it smaller forgets responses.
    open var diskCapacity: Int {
        get { state.withLock { $0.diskCapacity } }
        set {
            state.withLock { $0.diskCapacity = max(0, newValue) }
            disk?.setCapacity(max(0, newValue))
        }
    }

    /// What responses take of memory, in bytes.
    open var currentMemoryUsage: Int { state.withLock { $0.memory.usage } }

    /// What responses take of the disk, in bytes. Reads the disk.
    open var currentDiskUsage: Int { disk?.usage ?? 0 }
}

// MARK: - For sessions

extension URLCache {
    /// The part of the disk's capacity that one response may take, as Apple has it: a twentieth.
    private static let diskShare = 20

    /// Whether the program's own code decides what is found and kept.
    private var isCustomized: Bool { type(of: self) != URLCache.self }

    /// The responses under a key that memory has, the last stored first; nil when the disk has to be read to know.
    package func entriesInMemory(for key: CacheKey) -> [CacheEntry]? {
        if isCustomized { return customEntries(for: key) }
        let found = state.withLock { $0.memory.entries(for: key) }
        return found.isEmpty && disk != nil ? nil : found
    }

    private func customEntries(for key: CacheKey) -> [CacheEntry] {
        guard let found = key.request.flatMap(cachedResponse) else { return [] }
        return [CacheEntry(response: found, date: found.metadata?.responseTime ?? .distantPast)]
    }

    /// The responses under a key. Reads the disk when memory has none.
    package func entries(for key: CacheKey) -> [CacheEntry] {
        let found = state.withLock { $0.memory.entries(for: key) }
        guard found.isEmpty, let disk else { return found }
        let read = disk.entries(for: key)
        let gone = state.withLock { $0.memory.restore(read, for: key) }
        withExtendedLifetime(gone) {}
        return read
    }

    /// The most bytes that a session's response may have to be kept anywhere.
    package var largestResponse: Int {
        let onDisk = disk == nil ? 0 : diskCapacity / Self.diskShare
        return max(memoryCapacity, onDisk)
    }

    /// Keeps a session's response: on disk only if it leaves room for others there.
    package func store(_ response: CachedURLResponse, for request: URLRequest, date: Date) {
        if isCustomized { return storeCachedResponse(response, for: request) }
        guard let key = CacheKey(request) else { return }
        keep(CacheEntry(response: response, date: date), for: key, onDiskUpTo: diskCapacity / Self.diskShare)
    }

    /// Forgets what a key has.
    package func remove(_ key: CacheKey) {
        if let request = key.request { removeCachedResponse(for: request) }
    }

    private func keep(_ entry: CacheEntry, for key: CacheKey, onDiskUpTo limit: Int) {
        guard entry.response.storagePolicy != .notAllowed else { return }
        // What goes is destroyed after the lock is free: its `deinit` may be the program's own code.
        let gone = state.withLock { $0.memory.store(entry, for: key) }
        withExtendedLifetime(gone) {}
        guard let disk else { return }
        if entry.response.storagePolicy == .allowed, entry.cost <= limit {
            disk.store(entry, for: key)
        } else {
            disk.remove(key)  // what is there is not what the server says now
        }
    }
}
