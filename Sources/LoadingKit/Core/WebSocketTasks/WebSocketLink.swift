import DequeModule
import Foundation
import LoadingKitTransport
import LoadingKitWebSocket

/// Joins what a program asks of its WebSocket task and what the connection does: whatever comes first waits for the
/// other. Confined to the session's loop.
///
///     connecting ──open──▶ open ──close──▶ closing ──┐
///          └────────────────┴───────────end──────────┴──▶ ended
package final class WebSocketLink {
    /// What of messages may wait for the program before the connection is no longer read, in bytes and in messages.
    private static let highWater = 256 * 1024
    private static let mostMessages = 1024

    typealias Message = URLSessionWebSocketTask.Message
    /// Is told, on the loop, how an operation ended.
    typealias Done = (Result<Void, any Error>) -> Void

    private enum Phase {
        case connecting
        case open(any WebSocketChannel)
        /// The program has closed the connection, whose answer is awaited.
        case closing
        case ended(any Error)
    }

    private struct Receiver {
        let request: ReceiveRequest
        let take: (Result<Message, any Error>) -> Void
    }

    private var phase = Phase.connecting
    /// What was to be sent before the connection is open.
    private var outbox: [Message] = []
    private var pingsToSend: [[UInt8]] = []
    /// Who waits for a message to be sent, in order.
    private var senders = Deque<Done>()
    /// Who waits for an answer to a ping, in order.
    private var pings = Deque<(payload: [UInt8], done: Done)>()
    private var pingCount: UInt64 = 0
    private var receivers = Deque<Receiver>()
    private var messages = Deque<Message>()
    private var waitingBytes = 0
    /// Whether the connection was told to wait.
    private var isFull = false
    private unowned let task: URLSessionWebSocketTask

    init(_ task: URLSessionWebSocketTask) { self.task = task }

    // MARK: From the program

    func send(_ message: Message, _ done: @escaping Done) {
        switch phase {
        case .connecting:
            outbox.append(message)
            senders.append(done)
        case .open(let channel):
            senders.append(done)
            channel.send(message)
        case .closing: done(.failure(closedByProgram))
        case .ended(let error): done(.failure(error))
        }
    }

    func ping(_ done: @escaping Done) {
        pingCount &+= 1
        let payload = Array(String(pingCount).utf8)
        switch phase {
        case .connecting:
            pingsToSend.append(payload)
            pings.append((payload, done))
        case .open(let channel):
            pings.append((payload, done))
            channel.ping(payload)
        case .closing: done(.failure(closedByProgram))
        case .ended(let error): done(.failure(error))
        }
    }

    /// What has come waits also after the end.
    func receive(_ request: ReceiveRequest, _ take: @escaping (Result<Message, any Error>) -> Void) {
        // From here on it is withdrawn by `withdraw`.
        if request.isCancelled { return take(.failure(CancellationError())) }
        if let message = messages.popFirst() {
            waitingBytes -= message.byteCount
            take(.success(message))
            return wakeChannel()
        }
        switch phase {
        case .connecting, .open: receivers.append(Receiver(request: request, take: take))
        case .closing: take(.failure(closedByProgram))
        case .ended(let error): take(.failure(error))
        }
    }

    /// Who asked for a message does not want one any more.
    func withdraw(_ request: ReceiveRequest) {
        guard let index = receivers.firstIndex(where: { $0.request === request }) else { return }
        receivers.remove(at: index).take(.failure(CancellationError()))
    }

    /// Begins the closing handshake; false where there is no connection to close.
    func close(_ code: WebSocketCloseCode, reason: String) -> Bool {
        guard case .open(let channel) = phase else { return false }
        phase = .closing
        failReceiversAndPings(closedByProgram)
        messages = []
        waitingBytes = 0
        channel.close(code, reason: reason)
        if isFull {
            isFull = false
            channel.linkIsReady()
        }
        return true
    }

    private func wakeChannel() {
        guard isFull, waitingBytes < Self.highWater / 2, messages.count < Self.mostMessages / 2,
            case .open(let channel) = phase
        else { return }
        isFull = false
        channel.linkIsReady()
    }

    // MARK: From the load

    /// The server has granted the connection.
    package func open(_ channel: any WebSocketChannel, subprotocol: String?) {
        guard case .connecting = phase else { return }
        phase = .open(channel)
        (task.engine as? TaskEngine)?.isEstablished()
        tellDelegate { session, task in
            TaskDelegates.webSocket(session, task)?.urlSession(
                session, webSocketTask: task, didOpenWithProtocol: subprotocol)
        }
        let (messages, pings) = (outbox, pingsToSend)
        (outbox, pingsToSend) = ([], [])
        for message in messages { channel.send(message) }
        for ping in pings { channel.ping(ping) }
    }

    /// How long a message may be that comes now, in bytes.
    package var maximumMessageSize: Int { task.maximumMessageSize }

    package func receive(_ message: URLSessionWebSocketTask.Message) -> Flow {
        guard case .open = phase else { return .more }
        if let receiver = receivers.popFirst() {
            receiver.take(.success(message))
            return .more
        }
        messages.append(message)
        waitingBytes += message.byteCount
        isFull = isFull || waitingBytes >= Self.highWater || messages.count >= Self.mostMessages
        return isFull ? .wait : .more
    }

    /// A pong answers the pings before its own, too (RFC 6455 §5.5.3).
    package func receive(pong payload: [UInt8]) {
        guard let index = pings.firstIndex(where: { $0.payload == payload }) else { return }
        for _ in 0...index { pings.popFirst()?.done(.success(())) }
    }

    /// So many messages more were taken by the connection.
    package func sent(_ count: Int) {
        for _ in 0..<count { senders.popFirst()?(.success(())) }
    }

    /// The server has sent a close frame.
    package func closed(_ code: WebSocketCloseCode, reason: String) {
        let data = reason.isEmpty ? nil : Data(reason.utf8)
        task.setClosed(Int(code.rawValue), reason: data)
        tellDelegate { session, task in
            TaskDelegates.webSocket(session, task)?.urlSession(
                session, webSocketTask: task, didCloseWith: task.closeCode, reason: data)
        }
    }

    /// The connection ended otherwise, with a code that this side gives it.
    package func broke(_ code: WebSocketCloseCode) { task.setClosed(Int(code.rawValue), reason: nil) }

    private func tellDelegate(_ call: @escaping @Sendable (URLSession, URLSessionWebSocketTask) -> Void) {
        guard let session = task.session else { return }
        session.core.mailbox.post { [task] in call(session, task) }
    }

    // MARK: From the engine

    /// The task is over.
    func end(_ error: (any Error)?) {
        let error = error ?? unopenedError ?? closedError
        phase = .ended(error)
        outbox = []
        pingsToSend = []
        failReceiversAndPings(error)
        while let sender = senders.popFirst() { sender(.failure(error)) }
    }

    private func failReceiversAndPings(_ error: any Error) {
        while let receiver = receivers.popFirst() { receiver.take(.failure(error)) }
        while let ping = pings.popFirst() { ping.done(.failure(error)) }
    }

    private var closedByProgram: any Error {
        URLError(LoadFailure(.cancelled, "the program has closed the WebSocket"), url: task.currentRequest?.url)
    }

    private var unopenedError: (any Error)? {
        guard case .connecting = phase else { return nil }
        return URLError(
            LoadFailure(.badServerResponse, "the load has ended without a WebSocket: a custom handler cannot open one"),
            url: task.currentRequest?.url)
    }

    private var closedError: any Error {
        let (code, reason) = (task.rawCloseCode, task.closeReason)
        var words = "the WebSocket was closed with code \(code)"
        if let reason { words += ": \(String(decoding: reason, as: UTF8.self))" }
        return URLError(LoadFailure(.networkConnectionLost, words), url: task.currentRequest?.url)
    }
}

extension URLSessionWebSocketTask.Message {
    /// What of it counts against limits.
    fileprivate var byteCount: Int {
        switch self {
        case .data(let data): data.count
        case .string(let text): text.utf8.count
        }
    }
}
