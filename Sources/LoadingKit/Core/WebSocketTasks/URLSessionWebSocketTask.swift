import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import LoadingKitWebSocket
import Synchronization

/// A WebSocket connection (RFC 6455): messages of text or data both ways, after a handshake by HTTP.
///
///     let socket = session.webSocketTask(with: URL(string: "wss://example.org/chat")!)
///     socket.resume()
///     try await socket.send(.string("hello"))
///     print(try await socket.receive())
///     socket.cancel(with: .normalClosure, reason: nil)
///
/// The handshake is a request like others: cookies, authentication challenges, proxies, redirects and metrics are as with
/// a data task, and a refusal is the task's ``URLSessionTask/response``, with `URLError.badServerResponse`. It goes over
/// HTTP/2 where the session has a connection whose server grants that (RFC 8441), else over HTTP/1.1. Messages are
/// compressed where the server agrees (RFC 7692). `timeoutIntervalForRequest` is the handshake's alone.
///
/// What is sent before the connection is open waits for that. Pings from the server are answered by themselves. While
/// nobody receives, little is read, so that the server has to wait too.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    // What is its own is guarded by its mutex, atomic, or `link`, which is confined to the loop.

    private struct Closed {
        var code = 0
        var reason: Data?
    }

    private let closed = Guarded(Closed())
    private let messageLimit = Atomic<Int>(1 << 20)
    /// Touched on the session's event loop alone.
    package private(set) lazy var link = WebSocketLink(self)

    init(_ session: URLSession, _ request: URLRequest, identifier: Int) {
        super.init(session, request, identifier: identifier, consumer: .delegate)
    }

    /// A task that belongs to no session, and connects to nothing.
    public override init() { super.init() }

    // MARK: Control

    /// Starts the handshake; after ``URLSessionTask/suspend()``, lets messages come in again.
    open override func resume() { super.resume() }

    /// Ends the task at once, with `URLError.cancelled`. An open connection is closed with ``CloseCode/goingAway``, and
    /// nobody waits for the answer: see ``cancel(with:reason:)``.
    open override func cancel() {
        super.cancel()
        // Also while the answer to a close frame is awaited.
        onLoop { $0.engine?.cancel() }
    }

    /// Closes the connection: what was sent before goes out, then a close frame. The task ends when the server has
    /// answered it, after 5 seconds at most. Nothing is received any more.
    ///
    /// A task that is not yet open, or is suspended, ends as with ``cancel()``.
    /// - Parameters:
    ///   - closeCode: ``CloseCode/invalid`` and others that may not be on the wire (RFC 6455 §7.4.1) send none.
    ///   - reason: text for people, in UTF-8, cut to 123 bytes.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        cancel(withRawCloseCode: closeCode.rawValue, reason: reason)
    }

    /// Closes the connection with a code that ``CloseCode`` has no case for, as those of programs, 4000 to 4999; see
    /// ``cancel(with:reason:)``.
    public func cancel(withRawCloseCode code: Int, reason: Data?) {
        let (state, action) = shared.withLock { ($0.lifecycle.state, $0.lifecycle.cancel()) }
        guard case .cancel = action else { return }
        let code = WebSocketCloseCode(rawValue: UInt16(exactly: code) ?? 0)
        let reason = reason.flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        onLoop { task in
            guard state == .suspended || !task.link.close(code, reason: reason) else { return }
            task.session?.core.perform(action, on: task)
        }
    }

    private func onLoop(_ body: @escaping @Sendable (URLSessionWebSocketTask) -> Void) {
        guard let loop = mailbox?.loop else { return }
        if loop.isCurrent { body(self) } else { loop.perform { body(self) } }
    }

    // MARK: Messages

    /// The longest message that may be received, in bytes, decompressed and put together. Default 1 MiB. A longer one ends
    /// the task with `URLError.dataLengthExceedsMaximum`, and the connection with ``CloseCode/messageTooBig``.
    open var maximumMessageSize: Int {
        get { messageLimit.load(ordering: .relaxed) }
        set { messageLimit.store(max(0, newValue), ordering: .relaxed) }
    }

    /// Sends a message, and returns when the connection has taken it, which says nothing of whether it arrived.
    public func send(_ message: Message) async throws {
        guard let loop = mailbox?.loop else { throw Self.withoutSession }
        try await loop.result { continuation in
            self.link.send(message) { continuation.resume(with: $0, from: loop) }
        }
    }

    /// Sends a message. The handler is called on the delegate queue when the connection has taken it, or with the error.
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let mailbox else { return completionHandler(Self.withoutSession) }
        onLoop { task in
            task.link.send(message) { result in mailbox.post { completionHandler(result.error) } }
        }
    }

    /// Gives the next message, when there is one.
    ///
    /// Cancelling the calling task throws `CancellationError`; the connection stays, and no message is lost.
    public func receive() async throws -> Message {
        guard let loop = mailbox?.loop else { throw Self.withoutSession }
        let request = ReceiveRequest()
        return try await withTaskCancellationHandler {
            try await loop.result { continuation in
                self.link.receive(request) { continuation.resume(with: $0, from: loop) }
            }
        } onCancel: {
            request.cancel()
            loop.execute { self.link.withdraw(request) }
        }
    }

    /// Gives the next message to a handler, on the delegate queue, once.
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        guard let mailbox else { return completionHandler(.failure(Self.withoutSession)) }
        onLoop { task in
            task.link.receive(ReceiveRequest()) { result in mailbox.post { completionHandler(result) } }
        }
    }

    /// Sends a ping, and returns when the server has answered it.
    open func sendPing() async throws {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            sendPing { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Sends a ping. The handler is called on the delegate queue when the server has answered it, or with the error.
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let mailbox else { return pongReceiveHandler(Self.withoutSession) }
        onLoop { task in
            task.link.ping { result in mailbox.post { pongReceiveHandler(result.error) } }
        }
    }

    // MARK: The end

    /// The code that the server closed the connection with; ``CloseCode/abnormalClosure`` where the connection was lost,
    /// and the code that the server was sent where it broke a rule. ``CloseCode/invalid`` while the connection is open.
    open var closeCode: CloseCode { CloseCode(rawValue: rawCloseCode) ?? .invalid }

    /// The number of ``closeCode``, also of those that have no case.
    public var rawCloseCode: Int { closed.withLock { $0.code } }

    /// Why the server closed the connection, in words for people, in UTF-8. Nil where it gave none.
    open var closeReason: Data? { closed.withLock { $0.reason } }

    /// What the task failed with; nil while it is running, and when the connection was closed in order.
    ///
    /// It can be set, as FoundationNetworking has it; that changes what is read here, and nothing else.
    open override var error: (any Error)? {
        get { super.error }
        set { shared.withLock { $0.error = newValue } }
    }

    func setClosed(_ code: Int, reason: Data?) { closed.withLock { $0 = Closed(code: code, reason: reason) } }

    private static var withoutSession: any Error {
        URLError(LoadFailure(.badURL, "the task belongs to no session"), url: nil)
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
