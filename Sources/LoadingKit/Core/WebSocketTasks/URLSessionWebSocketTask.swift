import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import LoadingKitWebSocket
import Synchronization

/// A WebSocket connection (RFC 6455): messages of text or data in both directions, after an HTTP handshake.
///
///     let socket = session.webSocketTask(with: URL(string: "wss://example.org/chat")!)
///     socket.resume()
///     try await socket.send(.string("hello"))
///     print(try await socket.receive())
///     socket.cancel(with: .normalClosure, reason: nil)
///
/// The handshake is a request like others: cookies, authentication challenges, proxies, redirects and metrics work as
/// with a data task, and a refusal is the task's ``URLSessionTask/response``, with `URLError.badServerResponse`. It
/// uses HTTP/2 where the session has a connection whose server permits it (RFC 8441), otherwise HTTP/1.1. Messages are
/// compressed where the server agrees (RFC 7692). Those of less than 256 bytes, of more than 1 MiB, and those that
/// compression does not shorten are sent uncompressed. `timeoutIntervalForRequest` applies to the handshake only.
///
/// Messages sent before the connection is open wait until it is. Pings from the server are answered automatically.
/// While the program does not receive, only little is read, so that the server has to wait, too.
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {  // as its superclass
    // A mutex guards the class's own properties; some are atomic, and `link` is confined to the loop.

    private struct Closed {
        var code = CloseCode.invalid
        var reason: Data?
    }

    private let closed = Guarded(Closed())
    private let messageLimit = Atomic<Int>(1 << 20)
    /// Whether the program has cancelled the task with a close code while it was running.
    private let closesInOrder = Atomic<Bool>(false)
    /// Nil where the task belongs to no session. Used only on the session's event loop.
    package private(set) lazy var link = mailbox.map { WebSocketLink(self, $0) }

    init(_ session: URLSession, _ request: URLRequest, identifier: Int) {
        super.init(session, request, identifier: identifier, consumer: .delegate)
    }

    /// A task that belongs to no session, and connects to nothing.
    public override init() { super.init() }

    // MARK: Control

    /// Starts the handshake; after ``URLSessionTask/suspend()``, resumes the reception of messages.
    open override func resume() { super.resume() }

    /// Ends the task at once, with `URLError.cancelled`. An open connection is closed with ``CloseCode/goingAway``,
    /// without waiting for the answer: see ``cancel(with:reason:)``.
    ///
    /// A connection that the server has closed is already over: the task ends with that close.
    open override func cancel() {
        closesInOrder.store(false, ordering: .relaxed)
        let (state, action) = shared.withLock { ($0.lifecycle.state, $0.lifecycle.cancel()) }
        onLoop { task, link in
            if state != .suspended, link.finishClosed() { return }
            task.session?.core.perform(action, on: task)
            // Also while the answer to a close frame is awaited.
            task.engine?.cancel()
        }
    }

    /// Closes the connection: earlier messages are sent, then a close frame. The task ends when the server has answered
    /// the frame, or has neither taken bytes nor answered for 5 seconds. Until then, callers receive the messages that
    /// the server sends before its answer, then the error: see ``receive()``. While nobody receives, up to 256 KiB or
    /// 1,024 messages are kept. Those behind them are dropped.
    ///
    /// A task that is not yet open, or is suspended, ends as with ``cancel()``.
    /// - Parameters:
    ///   - closeCode: a code that may be on the wire (RFC 6455 §7.4): 1000 to 1003, 1007 to 1014, 3000 to 4999. With
    ///     any other code, such as ``CloseCode/invalid``, the frame has no code and no reason.
    ///   - reason: text for human readers, in UTF-8, truncated to 123 bytes.
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        let (state, action) = shared.withLock { shared in
            let state = shared.lifecycle.state
            if state == .running { closesInOrder.store(true, ordering: .relaxed) }
            return (state, shared.lifecycle.cancel())
        }
        guard case .cancel = action else { return }
        let code = WebSocketCloseCode(rawValue: UInt16(exactly: closeCode.rawValue) ?? 0)
        let reason = reason.flatMap { String(validating: $0, as: UTF8.self) } ?? ""
        onLoop { task, link in
            if state != .suspended, link.finishClosed() || link.close(code, reason: reason) { return }
            task.session?.core.perform(action, on: task)
        }
    }

    /// Whether the program has cancelled the task, and not closed it in order.
    var wasCancelledAtOnce: Bool {
        shared.withLock { $0.lifecycle.wasCancelled } && !closesInOrder.load(ordering: .relaxed)
    }

    private func onLoop(_ body: @escaping @Sendable (URLSessionWebSocketTask, WebSocketLink) -> Void) {
        guard let loop = mailbox?.loop else { return }
        let run: @Sendable () -> Void = { [self] in if let link { body(self, link) } }
        if loop.isCurrent { run() } else { loop.perform(run) }
    }

    // MARK: Messages

    /// The size limit of a received message, in bytes, after decompression and reassembly. Default 1 MiB. A longer
    /// message ends the task with `URLError.dataLengthExceedsMaximum`, and the connection with
    /// ``CloseCode/messageTooBig``.
    open var maximumMessageSize: Int {
        get { messageLimit.load(ordering: .relaxed) }
        set { messageLimit.store(max(0, newValue), ordering: .relaxed) }
    }

    /// Sends a message, and returns when the connection has taken it, which does not confirm its arrival.
    public func send(_ message: Message) async throws {
        guard let loop = mailbox?.loop else { throw Self.withoutSession }
        try await loop.result { continuation in
            self.link?.send(message) { continuation.resume(with: $0, from: loop) }
        }
    }

    /// Sends a message. The handler is called on the delegate queue when the connection has taken it, or with the
    /// error.
    public func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        guard let mailbox else { return completionHandler(Self.withoutSession) }
        onLoop { _, link in
            link.send(message) { result in mailbox.post { completionHandler(result.error) } }
        }
    }

    /// Returns the next message, when there is one. Messages before the connection's end are returned first, also after
    /// the end.
    ///
    /// Where either side has closed the connection in an orderly way, this method fails with the POSIX error
    /// `ENOTCONN`, after the delegate's `didCloseWith` has returned. Where the connection was lost, or the task was
    /// cancelled, it fails with the task's ``URLSessionTask/error``. As long as the program continues to receive, the
    /// close is reported to the delegate only after all earlier messages were taken: see
    /// ``URLSessionWebSocketDelegate``.
    ///
    /// Cancelling the calling task throws `CancellationError`; the connection stays open, and no message is lost.
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

    /// Passes the next message to a handler, on the delegate queue, once; or the error: see ``receive()``.
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

    /// The code with which the server closed the connection; ``CloseCode/abnormalClosure`` where the connection was
    /// lost, and the code that was sent to the server where it violated the protocol. ``CloseCode/invalid`` while the
    /// connection is open.
    ///
    /// It is set when the program has taken the messages before the close: see ``URLSessionWebSocketDelegate``.
    open var closeCode: CloseCode { closed.withLock { $0.code } }

    /// The server's reason for the close, in words for human readers, in UTF-8. Nil where it sent none.
    open var closeReason: Data? { closed.withLock { $0.reason } }

    /// The task's error; nil while it is running, and when the connection was closed in an orderly way.
    ///
    /// It can be set, as in FoundationNetworking; this only changes the value that is read here.
    open override var error: (any Error)? {
        get { super.error }
        set { withExtendedLifetime(shared.withLock { exchange(&$0.error, for: newValue) }) {} }
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
    /// A complete message that is sent or received.
    public enum Message: Sendable {
        /// Bytes.
        case data(Data)
        /// Text.
        case string(String)
    }
}

extension URLSessionWebSocketTask {
    /// The reason for the close of a WebSocket connection (RFC 6455 §7.4): any number. The documented numbers have
    /// names.
    ///
    /// Codes of libraries (3000 to 3999) and of applications (4000 to 4999) are values like the others:
    ///
    ///     socket.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: 4001) ?? .goingAway, reason: nil)
    ///
    /// As on Apple's systems, a `switch` over the documented names needs `default` or `@unknown default`, which handles
    /// a code without a name.
    public enum CloseCode: RawRepresentable, Hashable, Sendable {
        /// The connection is not closed.
        case invalid
        /// The purpose of the connection is fulfilled: 1000.
        case normalClosure
        /// A side goes away, for example a server that shuts down, or a user that leaves: 1001.
        case goingAway
        /// A side violated the protocol: 1002.
        case protocolError
        /// A side received a kind of message that it cannot accept: 1003.
        case unsupportedData
        /// The close frame had no code: 1005. Never on the wire.
        case noStatusReceived
        /// The connection ended without a close frame: 1006. Never on the wire.
        case abnormalClosure
        /// The content of a message did not match its kind, for example text that is not UTF-8: 1007.
        case invalidFramePayloadData
        /// A message violated a rule of its recipient: 1008.
        case policyViolation
        /// A message was too long: 1009.
        case messageTooBig
        /// The server did not agree to an extension that the client requires: 1010.
        case mandatoryExtensionMissing
        /// The server encountered an unexpected condition: 1011.
        case internalServerError
        /// TLS failed: 1015. Never on the wire.
        case tlsHandshakeFailure
        /// A code without its own name. Programs that also run on Apple's systems use `default`.
        case other(Int)

        /// Makes the code for any number; never nil.
        public init?(rawValue: Int) {
            self = Self.named.first { $0.rawValue == rawValue } ?? .other(rawValue)
        }

        private static let named: [CloseCode] = [
            .invalid, .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived,
            .abnormalClosure, .invalidFramePayloadData, .policyViolation, .messageTooBig, .mandatoryExtensionMissing,
            .internalServerError, .tlsHandshakeFailure,
        ]

        /// The number. Numbers that may not be on the wire (RFC 6455 §7.4) are never sent.
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
