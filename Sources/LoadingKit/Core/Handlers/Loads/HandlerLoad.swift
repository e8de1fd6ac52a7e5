import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import Logging
import Synchronization

/// One run of an interceptor, or of a handler that is not native to the event loop (a program's subclass).
///
/// It accepts events from any thread through `post`, in order, and delivers them on the loop as the receiver has room.
final class HandlerLoad: LoopHandler, @unchecked Sendable {  // confined to `loop`, but for the atomics and `start…`
    enum Event {
        case response(URLResponse, URLCache.StoragePolicy)
        case data(Data)
        /// The rest of the load, or a redirect, comes from a forwarded load.
        case passed(PassedResponse)
        case redirect(URLRequest, URLResponse)
        case challenge(URLAuthenticationChallenge, ChallengeDecision)
        case withdrawn(URLAuthenticationChallenge)
        case cached(CachedURLResponse)
        case end((any Error)?)
        /// `load(_:)` has returned, or thrown.
        case returned((any Error)?)

        var kind: ContractCheck.Event {
            switch self {
            case .response: .response
            case .data: .data
            case .passed: .passed
            case .redirect: .redirect
            case .challenge: .challenge
            case .withdrawn: .withdrawn
            case .cached: .cached
            case .end(let error): .end(isError: error != nil)
            case .returned(let error): .returned(isError: error != nil)
            }
        }
    }

    /// The number of undelivered bytes from which `LoadContext.receive` waits.
    static let highWater = 256 * 1024

    let loop: EventLoop
    /// Nil after the load's end: the program's code may run longer, and holds this object.
    private(set) var resources: LoadResources?
    let program: LoadBehavior
    private let request: URLRequest
    // Exclusive access is not checked where a property is read and replaced, or changed by a function that calls no
    // other object: the check costs more than the access.
    @exclusivity(unchecked) private(set) var receiver: (any LoadReceiver)?
    /// Nil for an interceptor.
    private var client: HandlerClient?
    private var began = MonotonicTime(nanoseconds: 0)
    @exclusivity(unchecked) private var contract = ContractCheck()
    /// The logger for late events. Set when the load has ended, and its session is no longer held.
    private var lateLogger: Logger?
    /// The receiver of late events; made for the client, or for the first late event.
    private var lateEvents: LateEvents?
    @exclusivity(unchecked) private var waiting = Deque<Event>()
    /// Whether the receiver has no room.
    @exclusivity(unchecked) var isBlocked = false
    /// The forwarded load's response that is being passed to the receiver.
    @exclusivity(unchecked) var passed: PassedResponse?
    @exclusivity(unchecked) private var roomWaiters: [UnsafeContinuation<Void, Never>] = []
    /// The last response that the handler has given.
    @exclusivity(unchecked) private(set) var lastHead: URLResponse?
    /// The recording for the session's cache.
    private var recording: CustomRecording?

    @exclusivity(unchecked) var forwardedBytesSent: Int64 = 0
    var forwarded: [ForwardedLoad] = [] { didSet { forwardedQueueStateDidChange() } }
    /// Whether the receiver knows that all forwarded loads wait for connections.
    var isInQueue = false

    /// The number of bytes posted and not yet delivered; read from any thread.
    private let outstanding = Atomic<Int>(0)
    private let hasEnded = Atomic<Bool>(false)
    /// The reason for the load's end; nil until then.
    @exclusivity(unchecked) private(set) var ending: LoadEnd?
    let starter: HandlerStarter

    init(_ program: LoadBehavior, _ request: URLRequest, _ resources: LoadResources) {
        self.program = program
        self.request = request
        self.resources = resources
        loop = resources.loop
        starter = HandlerStarter(program, on: loop)
    }

    var bodyStream: InputStream? { request.httpBodyStream }

    // MARK: From the receiver, on the loop

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        began = loop.now
        guard let resources else { return }
        resources.task.hasProgramsHandler = true
        if case .handler(let handler) = program {
            let client = HandlerClient(self)
            self.client = client
            handler.attach(to: resources.task, client)
        }
        if starter.start(LoadContext(request, resources, run: self)) { receiver.queueStateDidChange(isQueued: true) }
    }

    func end() {
        ending = receiver?.loadEnd ?? .released
        waiting = []
        // Stopped while there is a receiver, so that the forwarded load is part of the task's metrics.
        passed?.load.stop()
        passed = nil
        let stuck = forwarded.filter(\.needsReceiver)
        forwarded = []
        receiver = nil
        lateLogger = resources?.core.logger
        resources = nil
        if let client { client.loadEnded(makeLateEvents()) }
        client = nil
        hasEnded.store(true, ordering: .relaxed)
        wakeWaiters()
        starter.stop()
        // When the handler has been cancelled: before, it could take their end for a failure, and try again.
        for load in stuck { load.stop() }
    }

    func receiverDidBlock() {
        isBlocked = true
        passed?.load.receiverDidBlock()
    }

    func receiverDidBecomeReady() {
        isBlocked = false
        passed?.load.receiverDidBecomeReady()
        drain()
    }

    var stall: String? { (passed?.load ?? forwarded.last)?.stall }

    func answerAtDeadline() -> Bool {
        // The task waits for the load that was passed on, and for no other.
        guard passed == nil else { return false }
        var isAnswered = false
        // A copy: an answer may end its load, which removes it.
        for load in forwarded where load.answerAtDeadline() { isAnswered = true }
        return isAnswered
    }

    func takeConnection() throws -> TakenConnection? { try passed?.load.takeConnection() }

    // MARK: From the handler, on any thread

    var isOver: Bool { hasEnded.load(ordering: .relaxed) }

    /// Whether the handler is so far ahead that it should wait before it posts more.
    var isFull: Bool { outstanding.load(ordering: .relaxed) > Self.highWater }

    func post(_ event: Event) {
        if case .data(let data) = event { outstanding.wrappingAdd(data.count, ordering: .relaxed) }
        let event = LoopTransfer(event)
        loop.perform { self.take(event.value) }
    }

    /// The handler gives data while an earlier call of `receive` waits for room.
    func noteOverlap() {
        loop.perform {
            guard self.contract.noteOverlap(), let logger = self.resources?.core.logger else { return }
            logger.warn(of: .receiveIsAwaited, "a call of receive(_:) while another one waits", self.program.type)
        }
    }

    func waitForRoom() async {
        await withUnsafeContinuation { continuation in
            loop.perform {
                if self.isFull && !self.isOver {
                    self.roomWaiters.append(continuation)
                } else {
                    continuation.resume()
                }
            }
        }
    }

    func withReceiver(_ body: @escaping @Sendable (any LoadReceiver) -> Void) {
        loop.perform { if let receiver = self.receiver { body(receiver) } }
    }

    /// Adds a transaction to the task's metrics.
    func report(_ metrics: LoadMetrics, _ request: URLRequest, _ response: URLResponse?) {
        loop.perform {
            guard let receiver = self.receiver, let resources = self.resources else { return }
            let anchor = WallClockAnchor(
                date: resources.core.settings.wallClock.now, monotonicTime: self.loop.currentTime)
            receiver.collect(
                TransactionRecord(
                    timings: metrics.timings(anchor, fetchStart: self.began), request: request, response: response))
        }
    }

    // MARK: On the loop

    private func take(_ event: Event) {
        guard resources != nil else {
            makeLateEvents()?.check(event.kind)
            return
        }
        let verdict = contract.accept(event.kind)
        if let rule = verdict.broken, let logger = resources?.core.logger {
            logger.warn(of: rule, event.kind.name, program.type)
        }
        guard verdict.isTaken, let receiver else { return }
        guard !isBlocked, passed == nil, waiting.isEmpty else { return waiting.append(event) }
        hand(event, to: receiver)
        drain()
    }

    /// Nil where the load was cancelled: a handler may give something until it has noticed that.
    private func makeLateEvents() -> LateEvents? {
        if contract.isOver, lateEvents == nil { lateEvents = lateLogger.map { LateEvents(contract, $0, program.type) } }
        return lateEvents
    }

    func drain() {
        while !isBlocked, passed == nil, let receiver, let event = waiting.popFirst() { hand(event, to: receiver) }
        if !isFull { wakeWaiters() }
    }

    private func hand(_ event: Event, to receiver: any LoadReceiver) {
        switch event {
        case .response(let response, let policy):
            recording = resources.flatMap {
                CustomRecording(
                    response, policy, of: request, in: $0.core.settings.urlCache, $0.core.settings.wallClock)
            }
            lastHead = response
            isBlocked = receiver.receive(response) == .wait
        case .data(let data):
            recording?.recorder.append(data)
            outstanding.wrappingSubtract(data.count, ordering: .relaxed)
            isBlocked = receiver.receive(data) == .wait
        case .cached(let cached):
            waiting.prepend(contentsOf: [.data(cached.parts.data), .end(nil)])
            outstanding.wrappingAdd(cached.parts.data.count, ordering: .relaxed)
            isBlocked = receiver.receive(cached.parts.response) == .wait
        case .passed(let response):
            recording = nil
            pass(response, to: receiver)
        case .redirect(let request, let response):
            isBlocked = true
            let next = request.withoutCredentials(of: self.request)
            receiver.redirect(to: next, refusal: nil, response: response) { [weak self] follows in
                self?.redirectDecided(follows, response)
            }
        case .challenge(let challenge, let decide):
            resources?.task.isPersonal = true
            receiver.challenge(challenge, decide: decide)
        case .withdrawn(let challenge):
            receiver.withdraw(challenge)
        case .end(nil), .returned(nil):
            if resources?.task.isPersonal == false { recording?.store(receiver) }
            receiver.finish()
        case .end(let error?), .returned(let error?):
            receiver.fail(HandlerError(error: error))
        }
    }

    /// A redirect that is not followed is itself the response, as on Apple's systems.
    private func redirectDecided(_ follows: Bool, _ response: URLResponse) {
        guard !follows, receiver != nil else { return }
        waiting.prepend(contentsOf: [.response(response, .notAllowed), .end(nil)])
        receiverDidBecomeReady()
    }

    private func wakeWaiters() {
        guard !roomWaiters.isEmpty else { return }
        let waiters = roomWaiters
        roomWaiters = []
        for waiter in waiters { waiter.resume() }
    }
}
