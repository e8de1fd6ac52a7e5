import Foundation
import LoadingKitCore
import LoadingKitTransport

/// A session's use of its cache. Confined to its loop.
final class SessionCache: SessionResource, @unchecked Sendable {  // confined to `loop`
    /// The outcome of a validation, for the exchanges that wait for it.
    enum ValidationOutcome {
        /// The response, with the server's new fields.
        case current(StoredResponse)
        /// No other exchange can use the result. Each continues by itself.
        case inconclusive
    }

    /// An event of a validation, for the exchanges that wait for it.
    enum ValidationEvent {
        /// The validating request waits for a connection, or does so no longer.
        case queueStateDidChange(isQueued: Bool)
        case ended(ValidationOutcome)
    }

    /// Retains the response, so that no other object gets its identifier.
    private struct PendingValidation {
        let response: CachedURLResponse
        var isQueued = false
        var waiting: [(ValidationEvent) -> Void] = []
    }

    let cache: URLCache
    let loop: EventLoop
    private let clock: WallClock
    private var pendingValidations: [ObjectIdentifier: PendingValidation] = [:]
    var identities = CacheIdentities()
    private var httpSession: HTTPSession?
    /// The stored responses whose validations in the background were left to a task, whose delegate may decide about
    /// the connection. The latest is last.
    private var leftToTasks: [StoredResponse.Identity] = []
    /// Where more are left, the earliest are validated in the background again.
    private static let maximumLeftToTasks = 100
    /// The stored responses that tasks validate, of those that were left to them.
    private var takenByTasks: Set<StoredResponse.Identity> = []
    private var background: [StoredResponse.Identity: BackgroundValidation] = [:]

    private init(_ cache: URLCache, _ core: SessionCore) {
        self.cache = cache
        loop = core.loop
        clock = core.settings.wallClock
    }

    /// Nil if the session has no cache.
    static func of(_ core: SessionCore) -> SessionCache? {
        guard let cache = core.settings.urlCache else { return nil }
        return core.resource { SessionCache(cache, $0) }
    }

    var now: Date { clock.now }

    func httpSession(of core: SessionCore) -> HTTPSession {
        if let httpSession { return httpSession }
        let found = HTTPSession.of(core)
        httpSession = found
        return found
    }

    // MARK: Finding

    /// Calls `found` with the stored responses, perhaps after the disk was read. For HEAD these are the whole responses
    /// to GET, then those to HEAD (RFC 9110 §9.3.2).
    func find(_ query: CacheQuery, _ found: @escaping ([StoredResponse]) -> Void) {
        find("GET", query.url) { [self] stored in
            guard query.method == "HEAD" else { return found(stored) }
            find("HEAD", query.url) { found(stored.filter(\.isWhole) + $0) }
        }
    }

    func find(_ method: String, _ url: URL, _ found: @escaping ([StoredResponse]) -> Void) {
        let key = CacheKey(method: method, url: url)
        if !cache.isCustomized, let entries = cache.entriesInMemory(for: key) {
            return found(entries.compactMap { StoredResponse($0, method: method) })
        }
        let (cache, loop) = (cache, loop)
        let answer = LoopTransfer { (entries: [CacheEntry]) in
            found(entries.compactMap { StoredResponse($0, method: method) })
        }
        let work = BlockingPool.Work({
            let entries = cache.entries(for: key)
            // In this thread, where the loop is idle: waking its thread costs more than the rest of the load.
            loop.perform { answer.value(entries) }
        }) { _ in
            loop.execute { answer.value([]) }
        }
        // The look-up of a subclass is the program's code, which may block.
        (cache.isCustomized ? BlockingPool.userCode : .shared).run(work)
    }

    // MARK: Validation

    /// Returns true if the caller has to validate. Otherwise another exchange does, and `waiting` gets the events.
    func beginValidation(
        of stored: StoredResponse, orWait waiting: @escaping (ValidationEvent) -> Void
    ) -> Bool {
        let id = ObjectIdentifier(stored.cached)
        guard let pending = pendingValidations[id] else {
            pendingValidations[id] = PendingValidation(response: stored.cached)
            return true
        }
        pendingValidations[id]?.waiting.append(waiting)
        if pending.isQueued { waiting(.queueStateDidChange(isQueued: true)) }
        return false
    }

    /// The queue state of the request that validates the stored response has changed.
    func validation(of stored: StoredResponse, queueStateDidChange isQueued: Bool) {
        let id = ObjectIdentifier(stored.cached)
        pendingValidations[id]?.isQueued = isQueued
        for waiting in pendingValidations[id]?.waiting ?? [] { waiting(.queueStateDidChange(isQueued: isQueued)) }
    }

    func endValidation(of stored: StoredResponse, _ outcome: ValidationOutcome) {
        guard let pending = pendingValidations.removeValue(forKey: ObjectIdentifier(stored.cached)) else { return }
        for waiting in pending.waiting {
            if pending.isQueued { waiting(.queueStateDidChange(isQueued: false)) }
            waiting(.ended(outcome))
        }
    }

    /// - Parameters:
    ///   - receiver: the receiver of the stale response.
    ///   - mark: when the cache was asked for it.
    func validateInBackground(
        _ stored: StoredResponse, _ request: URLRequest, _ resources: LoadResources, for receiver: any LoadReceiver,
        since mark: CacheMark?
    ) {
        let identity = stored.identity
        // While the program answers a challenge, the validation in the background is not pending for others.
        guard pendingValidations[ObjectIdentifier(stored.cached)] == nil, background[identity] == nil,
            !takenByTasks.contains(identity),
            // A task with conditions of its own does not take the validation that was left to a task.
            !receiver.answersChallenges || !leftToTasks.contains(identity)
        else { return }
        let validation = BackgroundValidation(stored, request, resources, self, for: receiver, since: mark)
        background[identity] = validation
        validation.begin()
    }

    /// The next task that the stored response answers validates it, unless a task is doing so.
    func leaveToTask(_ stored: StoredResponse) {
        let identity = stored.identity
        guard !leftToTasks.contains(identity), !takenByTasks.contains(identity) else { return }
        leftToTasks = (leftToTasks + [identity]).suffix(Self.maximumLeftToTasks)
    }

    /// Whether a task has to validate the stored response. The first one that asks does, and reports its end with
    /// ``taskDidValidate(_:)``. Until then the response answers other tasks.
    func takeLeft(_ stored: StoredResponse) -> Bool {
        guard !leftToTasks.isEmpty, let index = leftToTasks.firstIndex(of: stored.identity) else { return false }
        takenByTasks.insert(leftToTasks.remove(at: index))
        return true
    }

    func taskDidValidate(_ stored: StoredResponse) { takenByTasks.remove(stored.identity) }

    /// The stored response was updated by another request, so no task has to validate it.
    func didUpdate(_ identity: @autoclosure () -> StoredResponse.Identity) {
        guard !leftToTasks.isEmpty else { return }
        let identity = identity()
        leftToTasks.removeAll { $0 == identity }
    }

    func validationDidEnd(_ validation: BackgroundValidation) { background[validation.stored.identity] = nil }

    // MARK: SessionResource

    func reset() { leftToTasks = [] }

    func close() {
        for validation in Array(background.values) { validation.end() }
        background = [:]
    }
}
