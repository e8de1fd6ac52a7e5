import Foundation
import LoadingKitPrimitives

/// Keeps responses to requests.
///
/// Follows Apple's `URLCache`. Any thread may use it. Responses are kept in memory, the least recently used of them go
/// first when ``memoryCapacity`` is reached. A response is found again for a request with the same method and the same
/// URL, whatever its fragment.
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

    private struct Key: Hashable, Sendable {
        let method: String
        let url: String
    }

    private struct Entry: Sendable {
        let response: CachedURLResponse
        let date: Date
    }

    private struct State: Sendable {
        var entries: LeastRecentlyUsedStore<Key, Entry>
        var diskCapacity: Int
    }

    private static let sharedCache = Guarded<URLCache?>(nil)
    private static let defaultMemoryCapacity = 4 << 20
    private static let defaultDiskCapacity = 20 << 20

    private let state: Guarded<State>

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
            State(entries: LeastRecentlyUsedStore(capacity: memoryCapacity), diskCapacity: max(0, diskCapacity)))
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

    // MARK: Responses

    /// The response kept for a request, or nil.
    open func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let key = Self.key(for: request) else { return nil }
        return state.withLock { $0.entries.value(for: key)?.response }
    }

    /// Keeps a response for a request in place of an earlier one.
    ///
    /// Nothing is kept when the response's policy forbids it, or when it is larger than ``memoryCapacity``.
    open func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard cachedResponse.storagePolicy != .notAllowed, let key = Self.key(for: request) else { return }
        let entry = Entry(response: cachedResponse, date: Date())
        let cost = Self.cost(of: cachedResponse, for: key)
        // What goes is destroyed after the lock is free: its `deinit` may be the program's own code.
        let gone = state.withLock { $0.entries.insert(entry, for: key, cost: cost) }
        withExtendedLifetime(gone) {}
    }

    /// Forgets the response kept for a request.
    open func removeCachedResponse(for request: URLRequest) {
        guard let key = Self.key(for: request) else { return }
        let gone = state.withLock { $0.entries.remove(key) }
        withExtendedLifetime(gone) {}
    }

    /// Forgets all responses.
    open func removeAllCachedResponses() {
        let gone = state.withLock { $0.entries.removeAll { _ in true } }
        withExtendedLifetime(gone) {}
    }

    /// Forgets the responses that were stored at or after a date.
    open func removeCachedResponses(since date: Date) {
        let gone = state.withLock { $0.entries.removeAll { $0.date >= date } }
        withExtendedLifetime(gone) {}
    }

    // MARK: Sizes

    /// The most that responses may take of memory, in bytes. Making it smaller forgets responses at once.
    open var memoryCapacity: Int {
        get { state.withLock { $0.entries.capacity } }
        set {
            let gone = state.withLock { $0.entries.setCapacity(newValue) }
            withExtendedLifetime(gone) {}
        }
    }

    /// The most that responses may take of the disk, in bytes.
    open var diskCapacity: Int {
        get { state.withLock { $0.diskCapacity } }
        set { state.withLock { $0.diskCapacity = max(0, newValue) } }
    }

    /// What responses take of memory, in bytes.
    open var currentMemoryUsage: Int { state.withLock { $0.entries.totalCost } }

    /// What responses take of the disk, in bytes.
    open var currentDiskUsage: Int { 0 }

    // MARK: Keys and costs

    /// The primary cache key: method and target URI (RFC 9111 §2), which has no fragment.
    private static func key(for request: URLRequest) -> Key? {
        guard let url = request.url?.absoluteString else { return nil }
        return Key(method: request.httpMethod ?? "GET", url: String(url.prefix { $0 != "#" }))
    }

    private static func cost(of cached: CachedURLResponse, for key: Key) -> Int {
        var cost = cached.data.count + key.url.utf8.count
        if let fields = (cached.response as? HTTPURLResponse)?.fields {
            for index in fields.indices {
                fields.withBytes(at: index) { name, value, _ in cost += name.count + value.count }
            }
        }
        return cost
    }
}
