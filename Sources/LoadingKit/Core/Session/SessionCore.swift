import DequeModule
import Foundation
import HeapModule
import LoadingKitPrimitives
import LoadingKitTransport
import Logging
import Synchronization

/// A scheme's state for a session between loads, such as a pool of connections. Used on the session's loop.
package protocol SessionResource: AnyObject {
    /// Releases everything that can be made again, such as cached responses. Later requests open new connections.
    func reset()
    /// The session has ended.
    func close()
    /// Adds the connections, the waiting requests and the buffers.
    func addState(to snapshot: inout SessionSnapshot)
}

extension SessionResource {
    package func addState(to snapshot: inout SessionSnapshot) {}
}

/// The part of a background session that has its tasks performed beside the session, and reports their events.
package protocol SessionBackground: AnyObject, Sendable {
    // From any thread.
    func attach(_ session: URLSession)
    /// An unused task identifier. Blocks until the session is attached.
    func nextIdentifier() -> Int
    /// Has a task performed. Blocks until the task is in the journal.
    func begin(_ task: URLSessionTask)
    /// Continues a task that the program has run until now.
    func takeOver(_ task: URLSessionTask)
    func taskDidChange(_ identifier: Int, priority: Float, taskDescription: String?)
    func send(_ command: TransferCommand)

    // On the loop.
    /// The program has suspended or resumed a task.
    func stateOfTaskDidChange()
    /// Calls `work` when the session's tasks are known.
    func whenAttached(_ work: @escaping () -> Void)
    /// Whether reported ends are still in the journal.
    var hasUntakenEnds: Bool { get }
    func end(_ completion: @escaping @Sendable () -> Void)
}

/// The part of a session on the loop: its tasks, its schemes' resources, and the state of its invalidation.
package final class SessionCore: LiveSession, @unchecked Sendable {  // confined to `loop`, but for the constants
    private enum Phase {
        case open
        /// No new tasks start. The session is invalidated when the last task has ended.
        case finishing(URLSession)
        /// The tasks are being cancelled, and no new ones start.
        case cancelling(URLSession)
        case invalidated
    }

    package let identity = SessionIdentity()
    package let loop: EventLoop
    package let settings: SessionSettings
    /// The logger of the settings, read once: there it is a computed property, and reading it copies all settings.
    let logger: Logger
    package let registry: URLProtocolRegistry
    package let mailbox: DelegateMailbox
    /// Performs the tasks of a background session; nil for every other session. Set before any other thread has the
    /// session.
    private(set) nonisolated(unsafe) var background: (any SessionBackground)?
    package let events: SessionEvents
    let chunks = ChunkPool()
    package private(set) lazy var networks = NetworkMonitor.of(loop)
    private var networkObserver: NetworkMonitor.Observer?
    let namedUsers = NamedUsers()
    /// The files that the session's TLS requires, read where the session was made.
    private let revocationListFiles: [RevocationListFile]
    private let identifiers = Atomic<Int>(1)
    /// Whether the session's delegate has itself answered a challenge that concerned a connection.
    let delegateAnswersChallenges = Atomic<Bool>(false)
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    /// The tasks that were created and have not ended, by identifier.
    @exclusivity(unchecked) private var entries: [Int: URLSessionTask] = [:]
    /// The most tasks whose memory is kept for further ones when all have ended.
    private static let mostKeptEntries = 4096
    /// There are few: a linear search costs less than hashing.
    @exclusivity(unchecked) private var resources: [any SessionResource] = []
    @exclusivity(unchecked) private var phase = Phase.open
    /// Empty for most sessions.
    @exclusivity(unchecked) var recorders: [any LoadRecorder]
    private let delegateBox: DelegateBox
    /// The stores of an ephemeral configuration, until the session has ended.
    private var ephemeralStores: [any EphemeralStore]
    /// The reason for an invalidation that the program has not requested.
    private var invalidationError: (any Error)?
    /// The callers that wait for the end of the session; nil when the delegate was told of it.
    private let endWaiters = Guarded<[@Sendable () -> Void]?>([])

    init(_ settings: SessionSettings, _ queue: OperationQueue?, _ delegate: DelegateBox, _ loop: EventLoop) {
        var settings = settings
        if settings.proxyEnvironment == nil { settings.proxyEnvironment = .ofProgram() }
        self.settings = settings
        logger = settings.logger
        revocationListFiles = RevocationListFile.read(settings.revocationLists.map(\.source))
        ephemeralStores = settings.ephemeralStores
        recorders = settings.recorders ?? []
        self.loop = loop
        events = SessionEvents(
            identity, loop, keepsEvents: settings.recordsEvents, logger: settings.ownLogger)
        registry = URLProtocolRegistry(settings)
        mailbox = DelegateMailbox(queue, loop)
        delegateBox = delegate
        settings.ownLogger.map(StoreLog.use)
        MemoryRelease.shared.sessionWasMade()
        events.log?.currentURL = { [weak self] in self?.entries[$0]?.currentRequest?.url }
        _ = FlightRecordSignal.isFollowed
        for store in ephemeralStores { store.ephemeralUses?.begin() }
    }

    deinit { MemoryRelease.shared.sessionIsGone() }

    // MARK: From any thread

    func nextIdentifier() -> Int { identifiers.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Attaches a new background session to the service that performs its transfers.
    func attachInBackground(_ session: URLSession) {
        background = settings.makeBackground?(self)
        background?.attach(session)
    }

    /// A task was created and is not resumed yet. Where it is resumed on the loop, its load may end before this is noted.
    func remember(_ task: URLSessionTask) {
        loop.perform {
            guard !task.hasEnded, case .open = self.phase, self.entries[task.identifier] == nil,
                task.state != .completed
            else { return }
            self.entries[task.identifier] = task
        }
    }

    package func readEvents(_ read: @escaping @Sendable (SessionEvents) -> Void) {
        loop.execute { read(self.events) }
    }

    func perform(_ action: TaskLifecycle.Action, on task: URLSessionTask) {
        switch action {
        case .none: break
        case .start:
            // Without a consumer, the task belongs to an asynchronous caller. The caller will start the task, or has
            // started it while the task was suspended.
            guard let consumer = task.takeConsumer() else { return followState(of: task) }
            if let background, task.transferKind != nil { background.begin(task) } else { begin(task, consumer) }
        case .change: followState(of: task)
        case .cancel: loop.perform { self.cancel(task) }
        }
    }

    func priorityDidChange(_ task: URLSessionTask) {
        loop.perform { for load in task.queuedLoads { load.priorityDidChange() } }
    }

    private func followState(of task: URLSessionTask) {
        performSearch {
            let task = self.successor(of: task)
            self.mailbox.release(task)
            task.engine?.followState()
            self.background?.stateOfTaskDidChange()
        }
    }

    /// Starts a task; at once when called on its loop.
    func begin(_ task: URLSessionTask, _ consumer: TaskConsumer) {
        if loop.isCurrent { start(task, consumer) } else { performSearch { self.start(task, consumer) } }
    }

    /// Runs `work`, which may search for a request's handler, on the loop: in its own thread where the search calls the
    /// program's code, as the caller may hold a lock for which that code waits.
    private func performSearch(_ work: @escaping @Sendable () -> Void) {
        if registry.callsProgram { loop.executeOnOwnThread(work) } else { loop.perform(work) }
    }

    // MARK: On the loop

    private func start(_ task: URLSessionTask, _ consumer: TaskConsumer) {
        let (state, owner, own) = task.shared.withLock { ($0.lifecycle.state, $0.session, $0.delegate) }
        // The task is completed where another thread has cancelled it meanwhile; its end was reported.
        guard let session = owner, task.engine == nil, state != .completed else { return }
        let engine = makeRunner(task, session, session.delegates(before: own), consumer)
        if state == .canceling || isBeingCancelled && entries[task.identifier] != nil { return engine.cancel() }
        guard admit(task) else {
            return engine.end(with: LoadFailure(.cancelled, "the session was invalidated before the task was made"))
        }
        engine.start()
    }

    /// The task, or the download or stream task that has replaced it: the replacement may precede the notification of a
    /// change.
    func successor(of task: URLSessionTask) -> URLSessionTask { entries[task.identifier] ?? task }

    private func cancel(_ task: URLSessionTask) {
        let task = successor(of: task)
        // No effect where the program has cancelled the task before.
        _ = task.shared.withLock { $0.lifecycle.cancel() }
        mailbox.release(task)
        if let engine = task.engine { return engine.cancel() }
        // An asynchronous caller's task that has not started ends when the caller starts it. A task that has ended
        // needs nothing.
        guard let session = task.session, task.state != .completed, let consumer = task.takeConsumer() else { return }
        makeRunner(task, session, session.delegates(before: task.delegate), consumer).cancel()
    }

    private func makeRunner(
        _ task: URLSessionTask, _ session: URLSession, _ delegates: TaskDelegates?, _ consumer: TaskConsumer
    ) -> any TaskRunner {
        events.note(.taskBegan, task: task.identifier)
        let runner = task.makeRunner(session, delegates, consumer)
        task.engine = runner
        return runner
    }

    /// Continues a task as another task, with the same identifier.
    func replace(_ task: URLSessionTask, by other: URLSessionTask) {
        other.engine = task.engine
        task.engine = nil
        entries[task.identifier] = other
    }

    /// - Parameter error: the error as the program gets it.
    func finished(_ task: URLSessionTask, _ error: (any Error)?) {
        if let error {
            let failure = error as? URLError
            events.note(
                .taskFailed(code: Int32(clamping: failure?.code.rawValue ?? 0)), task: task.identifier,
                failure?.localizedDescription ?? "")
        } else {
            events.note(.taskSucceeded(bytes: task.countOfBytesReceived), task: task.identifier)
        }
        task.engine = nil
        task.hasEnded = true
        entries[task.identifier] = nil
        if entries.isEmpty, entries.capacity > Self.mostKeptEntries { entries = [:] }
        invalidateIfDone()
    }

    /// Adds a task that starts, or is handed over, to the session's tasks; false where the session starts no tasks any
    /// longer.
    func admit(_ task: URLSessionTask) -> Bool {
        switch phase {
        case .open: break
        case .finishing where entries[task.identifier] != nil: break
        case .finishing, .cancelling, .invalidated: return false
        }
        entries[task.identifier] = task
        return true
    }

    /// Adds a task that an earlier run of the program has started.
    func adopt(_ task: URLSessionTask) {
        if isInvalidated { return }
        entries[task.identifier] = task
        if isBeingCancelled { task.cancel() }
    }

    // Other modules call these, and not the settings' own methods: a call from there copies the whole structure.
    package func idleTimeout(of request: URLRequest) -> TimeInterval { settings.idleTimeout(of: request) }

    package func cachePolicy(of request: URLRequest) -> URLRequest.CachePolicy { settings.cachePolicy(of: request) }

    package func keepsContentCodings(of request: URLRequest) -> Bool { settings.keepsContentCodings(of: request) }

    package func forbidsLoading(_ request: URLRequest) -> Bool { settings.forbidsLoading(request) }

    /// Makes the load of a request by the first handler that can.
    func makeLoad(
        _ request: URLRequest, task: URLSessionTask, isOwnRequest: Bool, from start: URLProtocolRegistry.Position?
    ) throws -> any LoopHandler {
        let found = registry.find(
            request, task: isOwnRequest ? task : nil, from: start, whole: { self.withSessionFields(request, of: task) })
        guard let found else {
            throw LoadFailure.noHandler(for: request)
        }
        let resources = LoadResources(core: self, task: task, next: found.next)
        switch found.entry {
        case .native, .handler, .factory:
            if !recorders.isEmpty { return try makeRecordedLoad(request, resources, by: found.entry, recorders[...]) }
            return try makeLoad(request, resources, by: found.entry)
        case .interceptor(let interceptor):
            return HandlerLoad(.interceptor(interceptor), request, resources)
        case .adapter(let adapter):
            let adapted = try adapt(request, by: adapter, for: task)
            let load = try makeLoad(adapted, task: task, isOwnRequest: false, from: found.next)
            return AdaptedLoad.make(AdaptedLoad.Step(adapter: adapter, request: request), around: load)
        }
    }

    /// Makes the load of a request by the handler of its scheme.
    func makeLoad(
        _ request: URLRequest, _ resources: LoadResources, by entry: URLProtocolRegistry.Entry
    ) throws -> any LoopHandler {
        switch entry {
        case .native(let type):
            guard !settings.forbidsLoading(request) || type.hasStore(for: request, resources) else {
                throw LoadFailure.nothingStored
            }
            return type.makeLoad(request, resources)
        case .handler(let type):
            let canonical = type.canonicalRequest(for: withSessionFields(request, of: resources.task))
            let handler = makeHandler(type, request, canonical, for: resources.task)
            return HandlerLoad(.handler(handler), canonical, resources)
        case .factory(let factory):
            let request = withSessionFields(request, of: resources.task)
            return HandlerLoad(.handler(factory.makeHandler(request)), request, resources)
        case .interceptor, .adapter: throw LoadFailure.noHandler(for: request)
        }
    }

    /// Makes a handler for the task, as on Apple's systems, unless an interceptor has changed the task's request.
    private func makeHandler(
        _ type: URLProtocolHandler.Type, _ request: URLRequest, _ canonical: URLRequest, for task: URLSessionTask
    ) -> URLProtocolHandler {
        guard task.currentRequest?.storage === request.storage else {
            return type.init(request: canonical, cachedResponse: stored(for: canonical), client: nil)
        }
        task.shared.withLock { $0.handlersRequest = canonical }
        defer { task.shared.withLock { $0.handlersRequest = nil } }
        let handler = type.init(task: task, cachedResponse: stored(for: canonical), client: nil)
        handler.replaceRequest(request, by: canonical)
        return handler
    }

    private func adapt(
        _ request: URLRequest, by adapter: any LoadAdapter, for task: URLSessionTask
    ) throws -> URLRequest {
        do {
            let adapted = try adapter.adapt(request)
            let isSame = adapted.storage === request.storage || adapted.url == request.url
            if !isSame, task.firstURL == request.url { task.firstURL = adapted.url }
            return adapted
        } catch {
            throw HandlerError(error: error)
        }
    }

    /// The cached response for a program's own handler: a response that may answer any request. Only memory is
    /// searched, because the event loop must not wait for the disk, or for a program's subclass of the cache.
    private func stored(for request: URLRequest) -> CachedURLResponse? {
        guard !request.hasCredentials, !settings.addsCredentials(to: request) else { return nil }
        switch settings.cachePolicy(of: request) {
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return nil
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad, .reloadRevalidatingCacheData:
            guard let key = CacheKey(request) else { return nil }
            return settings.urlCache?.entriesInMemory(for: key)?.first { $0.isComplete && $0.isForEverybody }?.response
        }
    }

    /// Makes what opens a scheme's connections for this session.
    package func makeConnector() -> Connector {
        Connector(
            loop: loop, resolver: .shared, substitution: settings.connectSubstitution, observer: events)
    }

    /// A scheme's state for this session. It is made at the first call.
    package func resource<Resource: SessionResource>(_ make: (SessionCore) -> Resource) -> Resource {
        for case let made as Resource in resources { return made }
        let made = make(self)
        resources.append(made)
        return made
    }

    /// The session's connections, in no order.
    package func connectionStates() -> [ConnectionState] { makeSnapshot(listsStreams: true).connections }

    func makeSnapshot(listsStreams: Bool) -> SessionSnapshot {
        var snapshot = SessionSnapshot(listsStreams: listsStreams)
        for resource in resources { resource.addState(to: &snapshot) }
        return snapshot
    }

    /// The number of tasks for which there is memory. On the loop only.
    package var taskCapacity: Int { entries.capacity }

    /// The tasks that were created and have not ended, in no order.
    var openTasks: [URLSessionTask] { Array(entries.values) }

    /// The session's tasks, in no order. Some may end before the caller uses them. Empty once the tasks are cancelled
    /// with the session.
    var tasks: [URLSessionTask] {
        switch phase {
        case .open, .finishing:
            Array(entries.merging(mailboxTasks) { task, _ in task }.values)
        case .cancelling: []
        case .invalidated: mailboxTasks.values.filter { $0.state != .canceling }
        }
    }

    /// The tasks with calls in the mailbox. The loads of some have ended, and their ends are not reported yet.
    private var mailboxTasks: [Int: URLSessionTask] { mailbox.tasks.compactMapValues { $0 as? URLSessionTask } }

    var isInvalidated: Bool { if case .invalidated = phase { true } else { false } }

    /// Whether the session's tasks are being cancelled, and no new ones start.
    var isBeingCancelled: Bool { if case .cancelling = phase { true } else { false } }

    /// The number of network changes that the monitor has counted. The first call makes it count. On the loop.
    var networkChangeCount: Int {
        if networkObserver == nil { networkObserver = networks.observe {} }
        return networks.changeCount
    }

    func resetResources() {
        namedUsers.forget()
        SharedTrustStore.ofProcess.checkAtNextUse()
        for file in revocationListFiles { file.checkAtNextUse() }
        for resource in resources { resource.reset() }
    }

    /// Calls `completion`, on any thread, when everything in the session's stores is on disk or could not be written.
    func flushStores(_ completion: @escaping @Sendable () -> Void) {
        let (cookies, credentials, cache) = (
            settings.httpCookieStorage ?? HTTPCookieStorage(), settings.credentialStorage ?? URLCredentialStorage(),
            settings.urlCache ?? URLCache(memoryCapacity: 0)
        )
        cookies.flush { [settings] _ in
            credentials.flush { cache.flush { settings.hsts.flush(completion) } }
        }
    }

    // MARK: Invalidation, on the loop

    func finishTasks(_ session: URLSession) {
        guard case .open = phase else { return }
        phase = .finishing(session)
        whenTasksAreKnown { self.invalidateIfDone() }
    }

    /// Calls `work`, on any thread, when the session is invalidated and its delegate was told.
    func whenInvalidated(_ work: @escaping @Sendable () -> Void) {
        let waits = endWaiters.withLock { waiters in
            waiters?.append(work)
            return waiters != nil
        }
        if !waits { work() }
    }

    /// Calls `work` when the session's tasks are known, including those of earlier runs of the program.
    func whenTasksAreKnown(_ work: @escaping () -> Void) {
        if let background { background.whenAttached(work) } else { work() }
    }

    /// A background session cannot continue: its tasks have ended, or are about to end, with the error.
    func invalidate(_ session: URLSession, because error: any Error) {
        invalidationError = error
        if !isInvalidated { cancelTasks(session) }
    }

    /// Cancels the tasks that wait for a connection first, then the others, in the order of their creation. Otherwise a
    /// waiting task would get the connection of a cancelled one, and its request would be sent in vain.
    func cancelTasks(_ session: URLSession) {
        switch phase {
        case .open, .finishing: phase = .cancelling(session)
        case .cancelling: return
        case .invalidated: return cancelMailboxTasks()
        }
        whenTasksAreKnown { self.cancelAllTasks() }
    }

    /// Cancels the tasks whose loads have ended, and whose ends are not reported yet: the program may have suspended
    /// them.
    private func cancelMailboxTasks() {
        for task in mailboxTasks.values where task.state != .canceling { cancel(task) }
    }

    private func cancelAllTasks() {
        cancelMailboxTasks()
        var waiting = Heap(entries.keys)
        var others: Deque<Int> = []
        loop.executeInShares { [self] in
            if let next = waiting.popMin() {
                guard let task = entries[next] else { return true }
                if task.engine?.isQueued ?? true { cancel(task) } else { others.append(next) }
                return true
            }
            guard let next = others.popFirst() else {
                // Loads may have ended by themselves meanwhile.
                cancelMailboxTasks()
                return false
            }
            if let task = entries[next] { cancel(task) }
            return true
        }
        invalidateIfDone()
    }

    /// Invalidates a session that is to end, after its tasks have ended and their transfer service has recorded that
    /// the ends were reported.
    func invalidateIfDone() {
        guard entries.isEmpty, !(background?.hasUntakenEnds ?? false) else { return }
        switch phase {
        case .finishing(let session), .cancelling(let session): invalidate(session)
        case .open, .invalidated: return
        }
    }

    private func invalidate(_ session: URLSession) {
        phase = .invalidated
        close()
        let tell: @Sendable () -> Void = { [self, mailbox, delegateBox, invalidationError] in
            mailbox.postLast { [self] in
                delegateBox.take()?.first.urlSession(session, didBecomeInvalidWithError: invalidationError)
                for waiter in endWaiters.withLock({ $0.take() }) ?? [] { waiter() }
            }
        }
        let end: @Sendable () -> Void = { [background] in if let background { background.end(tell) } else { tell() } }
        if recorders.isEmpty { end() } else { flushRecorders { [loop] in loop.execute(end) } }
    }

    /// Closes the schemes' state for a session that has ended, or that the program has released.
    func close() {
        let (closing, stores) = (resources, ephemeralStores)
        (resources, ephemeralStores) = ([], [])
        for resource in closing { resource.close() }
        networkObserver.take()?.cancel()
        chunks.close()
        for store in stores where store.ephemeralUses?.end() == true && isInvalidated { store.clear() }
    }
}

/// Holds a session's delegate until the session is invalidated.
final class DelegateBox: Sendable {
    private let delegates: Guarded<TaskDelegates?>
    /// A session created without a delegate never has one.
    private let isEmpty: Bool

    init(_ delegate: (any URLSessionDelegate)?) {
        delegates = Guarded(delegate.map { TaskDelegates(shared: $0) })
        isEmpty = delegate == nil
    }

    /// The delegates of tasks without their own delegate; nil where the session has no delegate.
    var current: TaskDelegates? { isEmpty ? nil : delegates.withLock { $0 } }

    func take() -> TaskDelegates? { delegates.withLock { $0.take() } }
}

extension LoadFailure {
    static func noHandler(for request: URLRequest) -> LoadFailure {
        guard let url = request.url else { return LoadFailure(.unsupportedURL, "the request has no URL") }
        guard let scheme = url.scheme else { return LoadFailure(.unsupportedURL, "the URL has no scheme") }
        return LoadFailure(.unsupportedURL, "no handler is registered that loads \(scheme): URLs")
    }
}
