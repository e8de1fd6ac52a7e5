import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import LoadingKitTransport

/// A session's side of its cache: what is being validated at the moment, and by whom. On the session's loop.
final class SessionCache: SessionResource, @unchecked Sendable {  // confined to `loop`
    /// How a validation under way came out for those who wait for it.
    enum Validation {
        /// The server said that the response is current; this is it, with what the server said of it now.
        case current(StoredResponse)
        /// Something else happened: each is on its own.
        case open
    }

    /// A stored response that the server is being asked about. It is held, so that its identity stays its own.
    private struct Inquiry {
        let response: CachedURLResponse
        var waiting: [(Validation) -> Void] = []
    }

    let cache: URLCache
    let loop: EventLoop
    private let clock: WallClock
    private var inquiries: [ObjectIdentifier: Inquiry] = [:]
    var identities = CacheIdentities()
    private var pool: ConnectionPool?
    private var background: [ObjectIdentifier: BackgroundValidation] = [:]

    private init(_ cache: URLCache, _ core: SessionCore) {
        self.cache = cache
        loop = core.loop
        clock = core.settings.wallClock
    }

    /// Nil for a session without a cache.
    static func of(_ core: SessionCore) -> SessionCache? {
        guard let cache = core.settings.urlCache else { return nil }
        return core.resource { SessionCache(cache, $0) }
    }

    var now: Date { clock.now }

    /// The session's, which is found once.
    func pool(of core: SessionCore) -> ConnectionPool {
        if let pool { return pool }
        let found = ConnectionPool.of(core)
        pool = found
        return found
    }

    // MARK: Finding

    /// What is stored, at once where memory knows, else once the disk was read.
    ///
    /// HEAD is answered by what answers GET, else by what answered HEAD before (RFC 9110 §9.3.2).
    func find(_ query: CacheQuery, _ found: @escaping ([StoredResponse]) -> Void) {
        find("GET", query.url) { [self] stored in
            guard query.method == "HEAD" else { return found(stored) }
            find("HEAD", query.url) { found(stored.filter(\.isWhole) + $0) }
        }
    }

    /// What is stored as the answer to a method.
    func find(_ method: String, _ url: URL, _ found: @escaping ([StoredResponse]) -> Void) {
        let key = CacheKey(method: method, url: url)
        if !cache.isCustomized, let entries = cache.entriesInMemory(for: key) {
            return found(entries.compactMap { StoredResponse($0) })
        }
        let (cache, loop) = (cache, loop)
        let answer = Transfer { (entries: [CacheEntry]) in found(entries.compactMap { StoredResponse($0) }) }
        let work = BlockingPool.Work({
            let entries = cache.entries(for: key)
            loop.execute { answer.value(entries) }
        }) { _ in
            loop.execute { answer.value([]) }
        }
        // A subclass's look-up is the program's code.
        (cache.isCustomized ? BlockingPool.userCode : .shared).run(work)
    }

    // MARK: Validation

    /// Whether the caller is the one to ask the server. If not, another is doing so, and `waiting` is called with what
    /// comes of it.
    func lead(_ stored: StoredResponse, orWait waiting: @escaping (Validation) -> Void) -> Bool {
        let id = ObjectIdentifier(stored.cached)
        guard inquiries[id] == nil else {
            inquiries[id]?.waiting.append(waiting)
            return false
        }
        inquiries[id] = Inquiry(response: stored.cached)
        return true
    }

    /// The caller no longer asks the server about it.
    func settle(_ stored: StoredResponse, _ validation: Validation) {
        guard let inquiry = inquiries.removeValue(forKey: ObjectIdentifier(stored.cached)) else { return }
        for waiting in inquiry.waiting { waiting(validation) }
    }

    /// Asks the server about a response that was used though it is stale, unless that is being done.
    func validateInBackground(_ stored: StoredResponse, _ request: URLRequest, _ resources: LoadResources) {
        guard inquiries[ObjectIdentifier(stored.cached)] == nil else { return }
        let validation = BackgroundValidation(stored, request, resources, self)
        background[ObjectIdentifier(validation)] = validation
        validation.begin()
    }

    func ended(_ validation: BackgroundValidation) { background[ObjectIdentifier(validation)] = nil }

    // MARK: SessionResource

    func reset() {}

    func close() {
        for validation in Array(background.values) { validation.end() }
        background = [:]
    }
}

/// Carries what belongs to a loop through another thread and back, unused there.
struct Transfer<Value>: @unchecked Sendable {  // only the loop looks inside
    let value: Value
    init(_ value: Value) { self.value = value }
}
