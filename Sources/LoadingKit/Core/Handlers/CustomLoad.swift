import DequeModule
import Foundation
import LoadingKitTransport
import Synchronization

/// One run of a handler that is not native to the event loop: an author's subclass.
///
/// It takes events from any thread through `post`, in order, and hands them over on the loop as the receiver has room.
final class CustomLoad: LoopHandler, @unchecked Sendable {  // confined to `loop`, but for the atomics and `start…`
    enum Event {
        case response(URLResponse, URLCache.StoragePolicy)
        case data(Data)
        case redirect(URLRequest, URLResponse)
        case challenge(URLAuthenticationChallenge, ChallengeDecision)
        case cached(CachedURLResponse)
        case end((any Error)?)
    }

    /// How many bytes an author's handler may be ahead of the receiver before `LoadContext.receive` waits.
    static let highWater = 256 * 1024

    let loop: EventLoop
    /// Until the load ends: an author's code may go on for longer, and holds this.
    private(set) var resources: LoadResources?
    let handler: URLProtocolHandler
    private let request: URLRequest
    private var receiver: (any LoadReceiver)?
    private var client: HandlerClient?
    private var waiting = Deque<Event>()
    private var isBlocked = false
    private var roomWaiters: [UnsafeContinuation<Void, Never>] = []
    /// What is to be kept in the session's cache.
    private var recording: CustomRecording?

    /// Bytes handed in and not yet over; read from any thread.
    private let outstanding = Atomic<Int>(0)
    private let hasEnded = Atomic<Bool>(false)
    let starter: HandlerStarter

    init(_ handler: URLProtocolHandler, _ request: URLRequest, _ resources: LoadResources) {
        self.handler = handler
        self.request = request
        self.resources = resources
        loop = resources.loop
        starter = HandlerStarter(handler, on: loop)
    }

    // MARK: From the receiver, on the loop

    func begin(_ receiver: any LoadReceiver) {
        self.receiver = receiver
        let client = HandlerClient(self)
        self.client = client
        guard let resources else { return }
        resources.task.hasProgramsHandler = true
        handler.attach(to: resources.task, client)
        if starter.start(LoadContext(request, resources, run: self)) { receiver.setQueued(true) }
    }

    func end() {
        receiver = nil
        resources = nil
        client?.loadEnded()
        client = nil
        hasEnded.store(true, ordering: .relaxed)
        waiting.removeAll()
        wakeWaiters()
        starter.stop()
    }

    func receiverIsBusy() { isBlocked = true }

    func receiverIsReady() {
        isBlocked = false
        drain()
    }

    // MARK: From the handler, on any thread

    var isOver: Bool { hasEnded.load(ordering: .relaxed) }

    /// Whether the handler is so far ahead that it should wait before it hands in more.
    var isFull: Bool { outstanding.load(ordering: .relaxed) > Self.highWater }

    func post(_ event: Event) {
        if case .data(let data) = event { outstanding.wrappingAdd(data.count, ordering: .relaxed) }
        let event = LoopTransfer(event)
        loop.perform { self.take(event.value) }
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

    func baseStartLoading() { starter.baseStartLoading() }

    func cancelLoadTask() { starter.cancelTask() }

    /// Runs `body` with the receiver while the load goes on.
    func withReceiver(_ body: @escaping @Sendable (any LoadReceiver) -> Void) {
        loop.perform { if let receiver = self.receiver { body(receiver) } }
    }

    // MARK: On the loop

    var answersChallenges: Bool { receiver?.answersChallenges ?? false }

    var challengeDelegate: AnyObject? { receiver?.challengeDelegate }

    private func take(_ event: Event) {
        guard let receiver else { return }
        guard !isBlocked, waiting.isEmpty else { return waiting.append(event) }
        hand(event, to: receiver)
        drain()
    }

    private func drain() {
        while !isBlocked, let receiver, let event = waiting.popFirst() { hand(event, to: receiver) }
        if !isFull { wakeWaiters() }
    }

    private func hand(_ event: Event, to receiver: any LoadReceiver) {
        switch event {
        case .response(let response, let policy):
            recording = resources.flatMap { CustomRecording(response, policy, request, $0) }
            isBlocked = receiver.receive(response) == .wait
        case .data(let data):
            recording?.recorder.append(data)
            outstanding.wrappingSubtract(data.count, ordering: .relaxed)
            isBlocked = receiver.receive(data) == .wait
        case .cached(let cached):
            waiting.prepend(contentsOf: [.data(cached.data), .end(nil)])
            outstanding.wrappingAdd(cached.data.count, ordering: .relaxed)
            isBlocked = receiver.receive(cached.response) == .wait
        case .redirect(let request, let response):
            isBlocked = true
            let next = request.withoutCredentials(of: self.request)
            receiver.redirect(to: next, refusal: nil, response: response) { [weak self] follows in
                self?.redirectDecided(follows, response)
            }
        case .challenge(let challenge, let decide):
            resources?.task.isPersonal = true
            receiver.challenge(challenge, decide: decide)
        case .end(nil):
            recording?.store(receiver)
            receiver.finish()
        case .end(let error?):
            receiver.fail(HandlerError(error: error))
        }
    }

    /// A redirect that is not followed is itself the response, as Apple has it.
    private func redirectDecided(_ follows: Bool, _ response: URLResponse) {
        guard !follows, receiver != nil else { return }
        waiting.prepend(contentsOf: [.response(response, .notAllowed), .end(nil)])
        receiverIsReady()
    }

    private func wakeWaiters() {
        guard !roomWaiters.isEmpty else { return }
        let waiters = roomWaiters
        roomWaiters = []
        for waiter in waiters { waiter.resume() }
    }
}

/// Carries a value that is not Sendable to the event loop that owns it from then on.
struct LoopTransfer<Value>: @unchecked Sendable {  // the sender lets go of the value
    let value: Value
    init(_ value: Value) { self.value = value }
}
