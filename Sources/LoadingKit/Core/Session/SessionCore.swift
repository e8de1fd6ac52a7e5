import DequeModule
import Foundation
import HeapModule
import LoadingKitPrimitives
import LoadingKitTransport
import Synchronization

/// What a scheme keeps for a session between loads, such as a pool of connections. Used on the session's loop.
package protocol SessionResource: AnyObject {
    /// Lets go of what can be made again: idle connections, remembered answers.
    func reset()
    /// The session is over.
    func close()
}

/// The loop's side of a session: its tasks, its schemes' resources, and whether it is being invalidated.
package final class SessionCore: @unchecked Sendable {  // confined to `loop`, but for the constants
    private enum Phase {
        case open
        /// No new tasks; invalidated when the last one is over.
        case finishing(URLSession)
        /// Those there are are being cancelled; none starts any more.
        case cancelling(URLSession)
        case invalidated
    }

    package let loop: EventLoop
    package let settings: SessionSettings
    package let registry: URLProtocolRegistry
    package let mailbox: DelegateMailbox
    let chunks = ChunkPool()
    private(set) lazy var networks = NetworkMonitor(loop)
    private let identifiers = Atomic<Int>(1)
    /// Whether the session's delegate has answered a challenge that concerned a connection, by itself.
    let delegateAnswersChallenges = Atomic<Bool>(false)
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no other
    // object: the check costs more than what it guards.
    /// The tasks that were made and are not over, by identifier.
    @exclusivity(unchecked) private var entries: [Int: URLSessionTask] = [:]
    /// A few: to go through them costs less than to hash.
    @exclusivity(unchecked) private var resources: [any SessionResource] = []
    @exclusivity(unchecked) private var phase = Phase.open
    private let delegateBox: DelegateBox

    init(_ settings: SessionSettings, _ queue: OperationQueue?, _ delegate: DelegateBox, _ loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        registry = URLProtocolRegistry(settings)
        mailbox = DelegateMailbox(queue, loop)
        delegateBox = delegate
        settings.ownLogger.map(StoreLog.use)
        MemoryRelease.sessionWasMade()
    }

    deinit { MemoryRelease.sessionIsGone() }

    // MARK: From any thread

    func nextIdentifier() -> Int { identifiers.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// A task was made that is not yet resumed.
    func remember(_ task: URLSessionTask) {
        loop.perform {
            if case .open = self.phase, self.entries[task.taskIdentifier] == nil, task.state != .completed {
                self.entries[task.taskIdentifier] = task
            }
        }
    }

    func perform(_ action: TaskLifecycle.Action, on task: URLSessionTask) {
        switch action {
        case .none: break
        case .start:
            // Without a consumer the task is an asynchronous caller's, who is about to begin it, or has while it was suspended.
            if let consumer = task.takeConsumer() { begin(task, consumer) } else { followState(of: task) }
        case .change: followState(of: task)
        case .cancel: loop.perform { self.cancel(task) }
        }
    }

    private func followState(of task: URLSessionTask) {
        loop.perform {
            let task = self.successor(of: task)
            self.mailbox.release(task)
            task.engine?.followState()
        }
    }

    /// Starts a task; on its own loop, at once.
    func begin(_ task: URLSessionTask, _ consumer: TaskConsumer) {
        if loop.isCurrent { start(task, consumer) } else { loop.perform { self.start(task, consumer) } }
    }

    // MARK: On the loop

    private func start(_ task: URLSessionTask, _ consumer: TaskConsumer) {
        let (state, owner) = task.shared.withLock { ($0.lifecycle.state, $0.session) }
        // Completed: another thread's cancel() came between, and was told of.
        guard let session = owner, task.engine == nil, state != .completed else { return }
        let engine = makeRunner(task, session, consumer)
        task.engine = engine
        if state == .canceling { return engine.cancel() }
        switch phase {
        case .open: break
        case .finishing where entries[task.taskIdentifier] != nil: break
        case .cancelling where entries[task.taskIdentifier] != nil: return engine.cancel()
        case .finishing, .cancelling, .invalidated:
            return engine.end(with: LoadFailure(.cancelled, "the session was invalidated before the task was made"))
        }
        entries[task.taskIdentifier] = task
        engine.start()
    }

    private func makeRunner(
        _ task: URLSessionTask, _ session: URLSession, _ consumer: TaskConsumer
    ) -> any TaskRunner {
        if let task = task as? URLSessionStreamTask { return StreamEngine(task, session) }
        return TaskEngine(task, session, consumer)
    }

    /// The task itself, unless another goes on in its place: it may have done so before the note of a change came here.
    private func successor(of task: URLSessionTask) -> URLSessionTask { entries[task.taskIdentifier] ?? task }

    private func cancel(_ task: URLSessionTask) {
        let task = successor(of: task)
        // It is already, where the program has cancelled it.
        _ = task.shared.withLock { $0.lifecycle.cancel() }
        mailbox.release(task)
        if let engine = task.engine { return engine.cancel() }
        // An asynchronous caller's task that has not begun yet is ended when it does; one that is over needs nothing.
        guard let session = task.session, task.state != .completed, let consumer = task.takeConsumer() else { return }
        let engine = makeRunner(task, session, consumer)
        task.engine = engine
        engine.cancel()
    }

    /// A task goes on as another of the same number.
    func replace(_ task: URLSessionTask, by other: URLSessionTask) {
        other.engine = task.engine
        task.engine = nil
        entries[task.taskIdentifier] = other
    }

    func finished(_ task: URLSessionTask) {
        task.engine = nil
        entries[task.taskIdentifier] = nil
        invalidateIfDone()
    }

    package func idleTimeout(of request: URLRequest) -> TimeInterval {
        request.hasExplicitTimeout ? request.timeoutInterval : settings.timeoutIntervalForRequest
    }

    /// Makes the load of a request by the first handler that can.
    func makeLoad(
        _ request: URLRequest, task: URLSessionTask, isOwnRequest: Bool, from start: Int
    ) throws -> any LoopHandler {
        guard let found = registry.find(request, task: isOwnRequest ? task : nil, from: start) else {
            throw LoadFailure.noHandler(for: request)
        }
        let resources = LoadResources(core: self, task: task, next: found.next)
        switch found.entry {
        case .native(let type):
            return type.makeLoad(request, resources)
        case .handler(let type):
            let canonical = type.canonicalRequest(for: request)
            let handler = type.init(request: canonical, cachedResponse: stored(for: canonical), client: nil)
            return CustomLoad(handler, canonical, resources)
        case .factory(let factory):
            return CustomLoad(factory.makeHandler(request), request, resources)
        }
    }

    /// What an author's handler gets to see of the cache: what is for everybody. What only the disk has is not waited for on
    /// the loop.
    private func stored(for request: URLRequest) -> CachedURLResponse? {
        guard !request.hasCredentials, !settings.addsCredentials(to: request) else { return nil }
        switch settings.cachePolicy(of: request) {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return nil
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad, .reloadRevalidatingCacheData:
            guard let key = CacheKey(request) else { return nil }
            return settings.urlCache?.entriesInMemory(for: key)?.first { $0.isComplete && $0.isForEverybody }?.response
        }
    }

    /// What a scheme keeps for this session; made when first asked for.
    package func resource<Resource: SessionResource>(_ make: (SessionCore) -> Resource) -> Resource {
        for case let made as Resource in resources { return made }
        let made = make(self)
        resources.append(made)
        return made
    }

    /// The tasks there are, as they come; some may be over by the time that they are looked at. None once they are cancelled
    /// with the session.
    var tasks: [URLSessionTask] {
        switch phase {
        case .open, .finishing:
            Array(entries.merging(mailbox.tasks) { task, _ in task }.values)
        case .cancelling, .invalidated: []
        }
    }

    func resetResources() { for resource in resources { resource.reset() } }

    /// Calls back, from any thread, when all that the session's stores hold is on disk or could not be written.
    func flushStores(_ completion: @escaping @Sendable () -> Void) {
        let (cookies, credentials, cache) = (
            settings.httpCookieStorage ?? HTTPCookieStorage(), settings.credentialStorage ?? URLCredentialStorage(),
            settings.urlCache ?? URLCache(memoryCapacity: 0)
        )
        cookies.flush { [settings] _ in
            credentials.flush { cache.flush { settings.strictTransport.flush(completion) } }
        }
    }

    // MARK: Invalidation, on the loop

    func finishTasks(_ session: URLSession) {
        guard case .open = phase else { return }
        phase = .finishing(session)
        invalidateIfDone()
    }

    /// Cancels the tasks in the order in which they were made, but first those that wait for a connection: one that is let
    /// go would be used for the next of them, whose request would be sent for nothing.
    func cancelTasks(_ session: URLSession) {
        switch phase {
        case .open, .finishing: phase = .cancelling(session)
        case .cancelling, .invalidated: return
        }
        for task in mailbox.tasks.values { cancel(task) }
        var waiting = Heap(entries.keys)
        var others: Deque<Int> = []
        loop.executeInShares { [self] in
            if let next = waiting.popMin() {
                guard let task = entries[next] else { return true }
                if task.engine?.isQueued ?? true { cancel(task) } else { others.append(next) }
                return true
            }
            guard let next = others.popFirst() else { return false }
            if let task = entries[next] { cancel(task) }
            return true
        }
        invalidateIfDone()
    }

    private func invalidateIfDone() {
        guard entries.isEmpty else { return }
        switch phase {
        case .finishing(let session), .cancelling(let session): invalidate(session)
        case .open, .invalidated: return
        }
    }

    private func invalidate(_ session: URLSession) {
        phase = .invalidated
        close()
        mailbox.postLast { [delegateBox] in
            let delegate = delegateBox.take()
            delegate?.urlSession(session, didBecomeInvalidWithError: nil)
        }
    }

    /// Closes what the schemes keep: the session is over.
    func close() {
        let closing = resources
        resources = []
        for resource in closing { resource.close() }
        chunks.close()
    }
}

/// Holds a session's delegate until the session is invalidated.
final class DelegateBox: Sendable {
    private let delegate: Guarded<(any URLSessionDelegate)?>
    /// A session made without one never has one.
    private let isEmpty: Bool

    init(_ delegate: (any URLSessionDelegate)?) {
        self.delegate = Guarded(delegate)
        isEmpty = delegate == nil
    }

    var current: (any URLSessionDelegate)? { isEmpty ? nil : delegate.withLock { $0 } }

    func take() -> (any URLSessionDelegate)? {
        delegate.withLock { delegate in
            defer { delegate = nil }
            return delegate
        }
    }
}

extension LoadFailure {
    static func noHandler(for request: URLRequest) -> LoadFailure {
        guard let url = request.url else { return LoadFailure(.unsupportedURL, "the request has no URL") }
        guard let scheme = url.scheme else { return LoadFailure(.unsupportedURL, "the URL has no scheme") }
        return LoadFailure(.unsupportedURL, "no handler is registered that loads \(scheme): URLs")
    }
}
