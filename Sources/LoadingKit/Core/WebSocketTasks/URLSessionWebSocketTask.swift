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
/// the program does not receive, little is read, so that the server has to wait, too.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    // What is its own is guarded by its mutex, atomic, or `link`, which is confined to the loop.

    private struct Closed {
        var code = CloseCode.invalid
        var reason: Data?
    }

    private let closed = Guarded(Closed())
    private let messageLimit = Atomic<Int>(1 << 20)
    /// Nil where the task belongs to no session. Touched on the session's event loop alone.
    package private(set) lazy var link = mailbox.map { WebSocketLink(self, $0) }

    init(_ session: URLSession, _ request: URLRequest, identifier: Int) {
        super.init(session, request, identifier: identifier, consumer: .delegate)
    }

    /// A task that belongs to no session, and connects to nothing.
    public override init() { super.init() }

    // MARK: Control

    /// Starts the handshake; after ``URLSessionTask/suspend()``, lets messages come in again.
    open override func resume() { super.resume() }

    /// Ends the task at once, with `URLError.cancelled`. An open connection is closed with ``CloseCode/goingAway``, and
    /// the answer is not awaited: see ``cancel(with:reason:)``.
    ///
    /// A connection that the server has closed is over already: the task ends as that says.
    open override func cancel() {
        let (state, action) = shared.withLock { ($0.lifecycle.state, $0.lifecycle.cancel()) }
        onLoop { task, link in
            if state != .suspended, link.finishClosed() { return }
            task.session?.core.perform(action, on: task)
            // Also while the answer to a close frame is awaited.
            task.engine?.cancel()
        }
    }

    /// Closes the connection: what was sent before goes out, then a close frame. The task ends when the server has
    /// answered it, after 5 seconds at most. Who receives up to then gets what the server sends before its answer, then
    /// the error: see ``receive()``.
    ///
    /// A task that is not yet open, or is suspended, ends as with ``cancel()``.
    /// - Parameters:
    ///   - closeCode: one that may be on the wire (RFC 6455 §7.4): 1000 to 1003, 1007 to 1014, 3000 to 4999. With others,
    ///     as ``CloseCode/invalid``, the frame has no code and no reason.
    ///   - reason: text for people, in UTF-8, cut to 123 bytes.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        let (state, action) = shared.withLock { ($0.lifecycle.state, $0.lifecycle.cancel()) }
        guard case .cancel = action else { return }
        let code = WebSocketCloseCode(rawValue: UInt16(exactly: closeCode.rawValue) ?? 0)
        let reason = reason.flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        onLoop { task, link in
            if state != .suspended, link.finishClosed() || link.close(code, reason: reason) { return }
            task.session?.core.perform(action, on: task)
        }
    }

    private func onLoop(_ body: @escaping @Sendable (URLSessionWebSocketTask, WebSocketLink) -> Void) {
        guard let loop = mailbox?.loop else { return }
        if loop.isCurrent { touchLink(body) } else { loop.perform { self.touchLink(body) } }
    }

    private func touchLink(_ body: (URLSessionWebSocketTask, WebSocketLink) -> Void) {
        if let link { body(self, link) }
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
            self.link?.send(message) { continuation.resume(with: $0, from: loop) }
        }
    }

    /// Sends a message. The handler is called on the delegate queue when the connection has taken it, or with the error.
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let mailbox else { return completionHandler(Self.withoutSession) }
        onLoop { _, link in
            link.send(message) { result in mailbox.post { completionHandler(result.error) } }
        }
    }

    /// Gives the next message, when there is one. What came before the connection's end is given first, also after it.
    ///
    /// Where the connection was closed in order, by either side, this fails with the POSIX error `ENOTCONN`, after the
    /// delegate's `didCloseWith` has returned; where it was lost, or the task was cancelled, with the task's
    /// ``URLSessionTask/error``. As long as the program goes on receiving, the delegate is told of the close only when all
    /// that came before it was taken: see ``URLSessionWebSocketDelegate``.
    ///
    /// Cancelling the calling task throws `CancellationError`; the connection stays, and no message is lost.
    public func receive() async throws -> Message {
        guard let loop = mailbox?.loop else { throw Self.withoutSession }
        let request = ReceiveRequest()
        return try await withTaskCancellationHandler {
            try await loop.result { continuation in
                self.link?.receive(request, isHandler: false) { continuation.resume(with: $0, from: loop) }
            }
        } onCancel: {
            request.cancel()
            loop.execute { self.link?.withdraw(request) }
        }
    }

    /// Gives the next message to a handler, on the delegate queue, once; or the error: see ``receive()``.
    public func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        guard let mailbox else { return completionHandler(.failure(Self.withoutSession)) }
        onLoop { _, link in
            link.receive(ReceiveRequest(), isHandler: true) { result in mailbox.post { completionHandler(result) } }
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
        onLoop { _, link in
            link.ping { result in mailbox.post { pongReceiveHandler(result.error) } }
        }
    }

    // MARK: The end

    /// The code that the server closed the connection with; ``CloseCode/abnormalClosure`` where the connection was lost,
    /// and the code that the server was sent where it broke a rule. ``CloseCode/invalid`` while the connection is open.
    ///
    /// It is set when the program has taken the messages before the close: see ``URLSessionWebSocketDelegate``.
    open var closeCode: CloseCode { closed.withLock { $0.code } }

    /// Why the server closed the connection, in words for people, in UTF-8. Nil where it gave none.
    open var closeReason: Data? { closed.withLock { $0.reason } }

    /// What the task failed with; nil while it is running, and when the connection was closed in order.
    ///
    /// It can be set, as FoundationNetworking has it; that changes what is read here, and nothing else.
    open override var error: (any Error)? {
        get { super.error }
        set { shared.withLock { $0.error = newValue } }
    }

    override func loadDidEnd(_ error: (any Error)?) { link?.end(error) }

    func connectionDidClose(_ code: WebSocketCloseCode, reason: Data?) {
        let closed = Closed(code: CloseCode(rawValue: Int(code.rawValue)) ?? .invalid, reason: reason)
        self.closed.withLock { $0 = closed }
    }

    private static var withoutSession: any Error {
        URLError(LoadFailure(.badURL, "the task belongs to no session"), url: nil)
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension URLSessionWebSocketTask {
    /// A message that is sent or received whole.
    public enum Message: Sendable {
        /// Bytes.
        case data(Data)
        /// Text.
        case string(String)
    }
}

extension URLSessionWebSocketTask {
    /// Why a WebSocket connection was closed (RFC 6455 §7.4): any number, of which the documented ones have names.
    ///
    /// Codes of libraries (3000 to 3999) and of applications (4000 to 4999) are values like the others:
    ///
    ///     socket.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: 4001) ?? .goingAway, reason: nil)
    ///
    /// As on Apple's systems, a `switch` over the documented names needs `default` or `@unknown default`, which is where a
    /// code without a name goes.
    public enum CloseCode: RawRepresentable, Hashable, Sendable {
        /// The connection is not closed.
        case invalid
        /// Its purpose is fulfilled: 1000.
        case normalClosure
        /// A side goes away, as a server that goes down, or a user that leaves: 1001.
        case goingAway
        /// A side broke the protocol's rules: 1002.
        case protocolError
        /// A side got a kind of message that it cannot take: 1003.
        case unsupportedData
        /// The close frame had no code: 1005. Never on the wire.
        case noStatusReceived
        /// The connection ended without a close frame: 1006. Never on the wire.
        case abnormalClosure
        /// A message was not what its kind says, as text that is not UTF-8: 1007.
        case invalidFramePayloadData
        /// A message broke a rule of the side that got it: 1008.
        case policyViolation
        /// A message was too long: 1009.
        case messageTooBig
        /// The server did not agree to an extension that the client needs: 1010.
        case mandatoryExtensionMissing
        /// The server met something that it did not expect: 1011.
        case internalServerError
        /// TLS failed: 1015. Never on the wire.
        case tlsHandshakeFailure
        /// A code without a name of its own. Programs that run on Apple's systems, too, say `default`.
        case other(Int)

        /// The code of any number; never nil.
        public init?(rawValue: Int) {
            self = Self.named.first { $0.rawValue == rawValue } ?? .other(rawValue)
        }

        private static let named: [CloseCode] = [
            .invalid, .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived,
            .abnormalClosure, .invalidFramePayloadData, .policyViolation, .messageTooBig, .mandatoryExtensionMissing,
            .internalServerError, .tlsHandshakeFailure,
        ]

        /// The number. Those that may not be on the wire (RFC 6455 §7.4) are never sent.
        public var rawValue: Int {
            switch self {
            case .invalid: 0
            case .normalClosure: 1000
            case .goingAway: 1001
            case .protocolError: 1002
            case .unsupportedData: 1003
            case .noStatusReceived: 1005
            case .abnormalClosure: 1006
            case .invalidFramePayloadData: 1007
            case .policyViolation: 1008
            case .messageTooBig: 1009
            case .mandatoryExtensionMissing: 1010
            case .internalServerError: 1011
            case .tlsHandshakeFailure: 1015
            case .other(let number): number
            }
        }

        /// Whether the numbers are equal.
        public static func == (one: CloseCode, other: CloseCode) -> Bool { one.rawValue == other.rawValue }

        /// Hashes the number.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
    }
}
