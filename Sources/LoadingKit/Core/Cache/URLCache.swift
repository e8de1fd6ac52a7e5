import Foundation
import LoadingKitPrimitives
import LoadingKitTransport

/// Stores responses to requests.
///
/// Follows Apple's `URLCache`. It is thread-safe. Responses are stored in memory, and on disk where there is a disk
/// capacity. When a capacity is exceeded, the least recently used responses are removed. A stored response answers
/// requests with the same method and the same URL without its fragment. A server may choose between several responses
/// by the request's fields (`Vary`): then a session finds the matching one, and a program the last that was stored.
///
/// Sessions that share a cache may belong to several users:
///
/// - A response to a request with credentials is found only for requests with the same credentials, unless it is
///   `Cache-Control: public`. Credentials are `Authorization` or `Cookie` set by hand or by the configuration, the
///   answer to a challenge, or a client's certificate.
/// - A response to a request with cookies of a storage, or one that set some, is found only by sessions with that
///   storage.
/// - A response that a program stores itself is found by all sessions.
///
/// The cache stores no credential, only its keyed hash.
///
/// On disk a cache is a folder that only its user can read, with an SQLite database, and a file for each content. It is
/// written in the background; ``flush()`` waits for the writes. Several processes may share a folder. A damaged entry
/// is treated as missing. When the folder cannot be written, because the disk is full or read-only, the cache continues
/// in memory only, and logs one line. To move a cache, move its folder while no program uses it.
///
/// Stored responses survive the end of the process, however it ends. When the machine loses power, the responses of the
/// last seconds may be lost. A partly written response is recognised by its checksum, and is not used.
///
/// A session uses a subclass through the request-based methods that the subclass overrides.
open class URLCache: NSObject, @unchecked Sendable {  // all state is in a Guarded
    /// Where a response may be stored.
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
        /// Whether there may be a store on disk that the cache makes itself.
        var usesFolder = true
        /// The folder of the store on disk; nil for the program's own.
        var folder: URL?
        var disk: (any DiskResponseStore)?
        var reads = DiskReads()
        var removals = CacheRemovals()
        /// The hash for secrets; nil while its key is not known.
        var hash: KeyedHash?
    }

    /// The hash of caches in memory. Its key ends with the process.
    private static let processHash = KeyedHash.random()
    /// Whether a session calls ``cachedResponse(for:)`` of the program's subclass. The session then checks itself
    /// whether the response belongs to the request's user.
    @TaskLocal private static var isAskedBySession = false
    package static let defaultMemoryCapacity = 4 << 20
    package static let defaultDiskCapacity = 20 << 20

    private let state: Guarded<State>

    /// See ``EphemeralStore``.
    package nonisolated(unsafe) var ephemeralUses: EphemeralUses?

    /// The default cache of sessions: 4 MiB of memory, 20 MiB of disk, in the program's folder below
    /// `~/.cache/LoadingKit` (`XDG_CACHE_HOME`).
    open class var shared: URLCache {
        get {
            programCache.withLock { cache in
                if let cache { return cache }
                let made = URLCache(
                    memoryCapacity: defaultMemoryCapacity, diskCapacity: defaultDiskCapacity, diskPath: nil)
                cache = made
                return made
            }
        }
        set {
            let old = programCache.withLock { exchange(&$0, for: newValue) }
            withExtendedLifetime(old) {}  // so that it is not destroyed while the lock is held
        }
    }

    private static let programCache = Guarded<URLCache?>(nil)

    /// Makes a cache with the responses that its folder already contains.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The number of bytes that responses may occupy in memory.
    ///   - diskCapacity: The number of bytes that responses may occupy on disk; with 0 the folder is not used.
    ///   - path: The folder for responses, which is created when the first response is stored. Nil: the program's
    ///     folder below `~/.cache/LoadingKit` (`XDG_CACHE_HOME`), which also has the shared cache.
    public init(memoryCapacity: Int, diskCapacity: Int, diskPath path: String?) {
        state = Guarded(
            State(
                memory: MemoryResponseStore(capacity: memoryCapacity), diskCapacity: max(0, diskCapacity),
                folder: path.map { URL(fileURLWithPath: $0, isDirectory: true) }))
        super.init()
        makeDisk()
    }

    /// Makes a cache with the responses that its folder already contains.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The number of bytes that responses may occupy in memory.
    ///   - diskCapacity: The number of bytes that responses may occupy on disk; with 0 the folder is not used.
    ///   - directory: The folder for responses, as in ``init(memoryCapacity:diskCapacity:diskPath:)``.
    public convenience init(memoryCapacity: Int, diskCapacity: Int, directory: URL? = nil) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, diskPath: directory?.path)
    }

    /// Makes a cache with a disk store, and with the responses that the store already contains.
    package convenience init(memoryCapacity: Int, diskCapacity: Int, disk: any DiskResponseStore) {
        self.init(memoryCapacity: memoryCapacity)
        state.withLock { state in
            state.disk = disk
            state.diskCapacity = max(0, diskCapacity)
        }
        disk.setCapacity(max(0, diskCapacity))
    }

    package convenience init(memoryCapacity: Int) {
        self.init(memoryCapacity: memoryCapacity, diskCapacity: 0, diskPath: nil)
        state.withLock { $0.usesFolder = false }
    }

    private var disk: (any DiskResponseStore)? { state.withLock { $0.disk } }

    /// Makes a change that returns the removed responses. They are destroyed after the lock is released: their `deinit`
    /// may be the program's own code.
    private func change(_ body: (inout State) -> [CacheEntry]) {
        withExtendedLifetime(state.withLock { body(&$0) }) {}
    }

    /// Makes the store on disk, unless the cache has no disk capacity.
    private func makeDisk() {
        let (folder, capacity) = state.withLock { ($0.folder, $0.usesFolder && $0.disk == nil ? $0.diskCapacity : 0) }
        guard capacity > 0,
            let made = DiskResponseStores.makeStore?(folder)
        else { return }
        made.setCapacity(capacity)
        state.withLock { state in
            state.disk = state.disk ?? made
            // The key of the disk store replaces the process's key from now on.
            state.hash = nil
        }
    }

    // MARK: Responses

    /// The response stored for a request, or nil.
    ///
    /// A response to a request with credentials is found if the request's own fields have the same credentials.
    /// Credentials that a session would add are not known here.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let key = CacheKey(request) else { return nil }
        let entries = keptEntries(for: key).filter(\.isComplete)
        if Self.isAskedBySession { return entries.first?.response }
        return entries.first { isOpen($0, to: request) }?.response
    }

    private func isOpen(_ entry: CacheEntry, to request: URLRequest) -> Bool {
        guard let owner = entry.response.metadata?.owner.credentials else { return true }
        let credentials = CacheCredentials(
            authorization: request.value(forHTTPHeaderField: "Authorization").map { .field($0) } ?? .none,
            cookie: request.value(forHTTPHeaderField: "Cookie"))
        guard !credentials.isEmpty, let hash = loadKeyedHash() else { return false }
        return credentials.identity(hash) == owner
    }

    /// Stores a response for a request, and replaces an earlier one.
    ///
    /// Nothing is stored when the response's policy forbids it, or when the response is larger than the capacities. A
    /// session stores the responses of its tasks only where they occupy no more than a twentieth of a capacity.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let key = CacheKey(request) else { return }
        keep(CacheEntry(response: cachedResponse, date: Date()), for: key, inMemoryUpTo: .max, onDiskUpTo: diskCapacity)
    }

    /// Removes the response stored for a request. Responses to such requests that sessions are loading are not stored.
    open func removeCachedResponse(for request: URLRequest) {
        guard let key = CacheKey(request) else { return }
        state.withLock { $0.removals.note(key) }
        discard(key)
    }

    /// Removes all responses. Responses that sessions are loading are not stored.
    open func removeAllCachedResponses() {
        state.withLock { $0.removals.noteAll() }
        disk?.removeAll()
        change { state in
            state.reads.outdateAll()
            return state.memory.removeAll()
        }
    }

    /// Removes the responses that were stored at or after a date. Responses that sessions are loading are not stored.
    open func removeCachedResponses(since date: Date) {
        state.withLock { $0.removals.noteAll() }
        disk?.removeAll(since: date)
        change { state in
            state.reads.outdateAll()
            return state.memory.removeAll(since: date)
        }
    }

    /// The disk is changed first: what a read finds there meanwhile is removed from memory afterwards.
    private func discard(_ key: CacheKey) {
        disk?.remove(key)
        change { state in
            state.reads.outdate(key)
            return state.memory.remove(key)
        }
    }

    // MARK: Sizes

    /// The number of bytes that responses may occupy in memory. When it is reduced, responses are removed at once.
    open var memoryCapacity: Int {
        get { state.withLock { $0.memory.capacity } }
        set { change { $0.memory.setCapacity(newValue) } }
    }

    /// The number of bytes that responses may occupy on disk. When it is reduced, responses are removed.
    open var diskCapacity: Int {
        get { state.withLock { $0.diskCapacity } }
        set {
            state.withLock { $0.diskCapacity = max(0, newValue) }
            if let disk { disk.setCapacity(max(0, newValue)) } else { makeDisk() }
        }
    }

    /// The number of bytes that responses occupy in memory.
    open var currentMemoryUsage: Int { state.withLock { $0.memory.usage } }

    /// The number of bytes that responses occupy on disk. Reads the disk.
    open var currentDiskUsage: Int { disk?.usage ?? 0 }

    /// Returns when all changes made before the call are on disk, or could not be written; at once for a cache in
    /// memory.
    public func flush() async {
        await withCheckedContinuation { continuation in flush { continuation.resume() } }
    }
}

// MARK: - For sessions

extension URLCache {
    /// One response of a session may use at most this fraction of the disk's capacity, as on Apple's systems: 1/20, as
    /// in memory.
    private static let diskShare = MemoryResponseStore.share

    /// Whether the program's own code decides which responses are found and stored.
    package var isCustomized: Bool { type(of: self) != URLCache.self }

    /// Calls `completion`, on any thread, when all changes made before the call are on disk or could not be written.
    package func flush(_ completion: @escaping @Sendable () -> Void) {
        if let disk { disk.flush(completion) } else { completion() }
    }

    /// The responses under a key, the last stored first, as far as they are in memory. Nil when only a read of the disk
    /// can show whether there are any, or the program's own code, which may block.
    package func entriesInMemory(for key: CacheKey) -> [CacheEntry]? {
        if isCustomized { return nil }
        let (found, disk) = state.withLock { ($0.memory.entries(for: key), $0.disk) }
        guard let disk else { return found }
        if found.isEmpty { return disk.mayHave(key) ? nil : [] }
        disk.noteUse(of: key)
        return found
    }

    private func customEntries(for key: CacheKey) -> [CacheEntry] {
        let found = Self.$isAskedBySession.withValue(true) { key.request.flatMap(cachedResponse) }
        guard let found else { return [] }
        return [CacheEntry(response: found, date: found.metadata?.responseTime ?? .distantPast)]
    }

    /// The responses under a key. Reads the disk when memory has none.
    package func entries(for key: CacheKey) -> [CacheEntry] {
        if isCustomized { return customEntries(for: key) }
        return keptEntries(for: key)
    }

    private func keptEntries(for key: CacheKey) -> [CacheEntry] {
        let (found, disk) = state.withLock { state in
            let found = state.memory.entries(for: key)
            if found.isEmpty, state.disk != nil { state.reads.begin(key) }
            return (found, state.disk)
        }
        guard let disk else { return found }
        guard found.isEmpty else {
            disk.noteUse(of: key)
            return found
        }
        let read = disk.entries(for: key)
        change { state in
            // A response that was stored or removed meanwhile is newer than the result of the read.
            state.reads.end(key) && !read.isEmpty ? state.memory.restore(read, for: key) : []
        }
        return read
    }

    /// The hash for secrets; nil while the disk store's key has not been read.
    package var keyedHash: KeyedHash? {
        state.withLock { $0.hash ?? ($0.disk == nil ? Self.processHash : nil) }
    }

    /// The hash for secrets. Reads the disk store's key, if it is not known. Where the disk could not store the key,
    /// only this process finds responses that are stored with it. Nil where the system gives no random numbers.
    package func loadKeyedHash() -> KeyedHash? {
        if let keyedHash { return keyedHash }
        let read = disk?.keyedHash() ?? Self.processHash
        return state.withLock { state in
            state.hash = state.hash ?? read
            return state.hash
        }
    }

    /// The largest size, in bytes, with which a session's response is stored anywhere.
    package var largestResponse: Int {
        let onDisk = disk == nil ? 0 : diskCapacity / Self.diskShare
        return max(state.withLock { $0.memory.largest }, onDisk)
    }

    /// When a load begins: the mark for ``store(_:for:date:since:)``.
    package var mark: CacheMark { state.withLock { $0.removals.mark } }

    /// Stores a session's response, where it leaves room for others.
    ///
    /// - Parameter mark: when the response's load began; nil where removals since then do not matter.
    /// - Returns: false, and nothing is stored, where the key's responses were removed since the load began.
    @discardableResult
    package func store(
        _ response: CachedURLResponse, for request: URLRequest, date: Date, since mark: CacheMark? = nil
    ) -> Bool {
        guard let key = CacheKey(request) else { return true }
        if let mark, isRemoved(key, since: mark) { return false }
        if isCustomized {
            storeCachedResponse(response, for: request)
            return true
        }
        return keep(
            CacheEntry(response: response, date: date), for: key,
            inMemoryUpTo: memoryCapacity / MemoryResponseStore.share,
            onDiskUpTo: diskCapacity / Self.diskShare, since: mark)
    }

    private func isRemoved(_ key: CacheKey, since mark: CacheMark) -> Bool {
        state.withLock { $0.removals.includes(key, since: mark) }
    }

    package func remove(_ key: CacheKey) {
        if let request = key.request { removeCachedResponse(for: request) }
    }

    /// Removes responses because of a load's response, which may be stored afterwards.
    ///
    /// - Parameters:
    ///   - mark: when the load began.
    ///   - own: the key under which its response is stored.
    /// - Returns: the load's mark from now on. This removal does not count for it.
    package func remove(_ keys: [CacheKey], by mark: CacheMark, storing own: CacheKey) -> CacheMark {
        if isCustomized {
            let isOutdated = isRemoved(own, since: mark)
            for key in keys { remove(key) }
            return isOutdated ? mark : self.mark
        }
        let renewed = state.withLock { state -> CacheMark in
            let isOutdated = state.removals.includes(own, since: mark)
            for key in keys { state.removals.note(key) }
            return isOutdated ? mark : state.removals.mark
        }
        for key in keys { discard(key) }
        return renewed
    }

    /// Stores an entry on disk first, and then in memory: what a read finds on disk meanwhile is replaced in memory
    /// afterwards.
    ///
    /// - Returns: false where the key's responses were removed since the mark.
    @discardableResult
    private func keep(
        _ entry: CacheEntry, for key: CacheKey, inMemoryUpTo memoryLimit: Int, onDiskUpTo limit: Int,
        since mark: CacheMark? = nil
    ) -> Bool {
        guard entry.response.parts.storagePolicy != .notAllowed else { return true }
        let disk = self.disk
        let isForDisk = disk != nil && entry.response.parts.storagePolicy == .allowed && entry.cost <= limit
        // Responses under the key may be on disk alone. In memory this one would hide them, unless it replaces all.
        let mayHideOthers = isForDisk && entry.response.metadata != nil && disk?.mayHave(key) == true
        if isForDisk {
            disk?.store(entry, for: key)
        } else {
            disk?.remove(key)  // the server's response has replaced the response on disk
        }
        let (isCurrent, removed) = state.withLock { state -> (Bool, [CacheEntry]) in
            state.reads.outdate(key)
            if let mark, state.removals.includes(key, since: mark) { return (false, state.memory.remove(key)) }
            // The next look-up reads all of them.
            if mayHideOthers, state.memory.entries(for: key).isEmpty { return (true, []) }
            return (true, state.memory.store(entry, for: key, upTo: memoryLimit, isElsewhere: isForDisk))
        }
        // See `change(_:)`.
        withExtendedLifetime(removed) {}
        // They were removed while the response was being stored.
        if !isCurrent { disk?.remove(key) }
        return isCurrent
    }
}
