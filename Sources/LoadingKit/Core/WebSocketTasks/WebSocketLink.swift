import DequeModule
import Foundation
import LoadingKitPrimitives
import LoadingKitTransport
import LoadingKitWebSocket
import Synchronization

/// Connects a program's calls on its WebSocket task with the events of the connection: the earlier of the two waits for
/// the other. Confined to the session's loop.
///
///     connecting ──open──▶ open ──close──▶ closing ──┐
///          └────────────────┴───────────end──────────┴──▶ ended
package final class WebSocketLink {
    /// The limits of waiting messages, in bytes and in messages, from which the connection is no longer read.
    private static let highWater = 256 * 1024
    private static let mostMessages = 1024

    typealias Message = URLSessionWebSocketTask.Message
    /// Called on the loop with the outcome of an operation.
    typealias Done = (Result<Void, any Error>) -> Void

    private enum Phase {
        case connecting
        case open(any WebSocketChannel)
        /// The program has closed the connection, and the server's answer is awaited.
        case closing
        case ended(any Error)
    }

    private struct Receiver {
        let request: ReceiveRequest
        /// Whether `take` calls a handler on the delegate queue, in order with the delegate's methods.
        let isHandler: Bool
        let take: (Result<Message, any Error>) -> Void
    }

    private var phase = Phase.connecting
    /// The messages to send when the connection is open.
    private var outbox: [Message] = []
    private var pingsToSend: [[UInt8]] = []
    /// The callers that wait for a message to be sent, in order.
    private var senders = Deque<Done>()
    /// The callers that wait for an answer to a ping, in order.
    private var pings = Deque<(payload: [UInt8], done: Done)>()
    private var pingCount: UInt64 = 0
    private var receivers = Deque<Receiver>()
    private var messages = Deque<Message>()
    private var waitingBytes = 0
    /// Whether the connection has to wait.
    private var isFull = false
    /// Whether the program gets no further messages: it has closed the connection, and did not take those before.
    package private(set) var dropsMessages = false
    private var reading = WebSocketReading()
    /// The connection has ended, and its end is not reported yet.
    private var ending: Ending?
    /// Called with the messages that are sent and received.
    package var observeMessage: ((_ message: URLSessionWebSocketTask.Message, _ isSent: Bool) -> Void)?
    private unowned let task: URLSessionWebSocketTask
    private let mailbox: DelegateMailbox
    private var loop: EventLoop { mailbox.loop }

    init(_ task: URLSessionWebSocketTask, _ mailbox: DelegateMailbox) {
        self.task = task
        self.mailbox = mailbox
    }

    // MARK: From the program

    func send(_ message: Message, _ done: @escaping Done) {
        switch phase {
        case .connecting:
            observeMessage?(message, true)
            outbox.append(message)
            senders.append(done)
        case .open(let channel):
            observeMessage?(message, true)
            senders.append(done)
            channel.send(message)
        case .closing: done(.failure(notConnected))
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
        case .closing: done(.failure(notConnected))
        case .ended(let error): done(.failure(error))
        }
    }

    /// Received messages remain available after the end.
    func receive(
        _ request: ReceiveRequest, isHandler: Bool, _ take: @escaping (Result<Message, any Error>) -> Void
    ) {
        // From here on `withdraw` cancels it.
        if request.isCancelled { return take(.failure(CancellationError())) }
        let receiver = Receiver(request: request, isHandler: isHandler, take: take)
        reading.programDidRequest()
        if let message = messages.popFirst() {
            waitingBytes -= message.byteCount
            give(message, to: receiver)
            wakeChannel()
        } else if case .ended(let error) = phase, ending == nil {
            take(.failure(error))
        } else {
            receivers.append(receiver)
            endWhenTaken()
        }
    }

    private func give(_ message: Message, to receiver: Receiver) {
        reading.programDidReceive(toHandler: receiver.isHandler, loop.now)
        receiver.take(.success(message))
        guard ending != nil else { return }
        if receiver.isHandler, !messages.isEmpty { awaitDelegateQueue() } else { endWhenTaken() }
    }

    /// The caller that waits for a message has been cancelled.
    func withdraw(_ request: ReceiveRequest) {
        guard let index = receivers.firstIndex(where: { $0.request === request }) else { return }
        receivers.remove(at: index).take(.failure(CancellationError()))
    }

    /// Starts the closing handshake; false where there is no connection to close.
    func close(_ code: WebSocketCloseCode, reason: String) -> Bool {
        guard case .open(let channel) = phase, ending == nil else { return false }
        phase = .closing
        reading.programDidClose()
        channel.close(code, reason: reason)
        if isFull {
            isFull = false
            channel.linkDidBecomeReady()
        }
        return true
    }

    /// Reports the server's close without waiting for the program to take the remaining messages; false where there was
    /// no close.
    func finishClosed() -> Bool {
        guard let ending, ending.close != nil else { return false }
        if !ending.isReported { reportEnd() }
        return true
    }

    private func wakeChannel() {
        guard isFull, waitingBytes < Self.highWater / 2, messages.count < Self.mostMessages / 2,
            case .open(let channel) = phase
        else { return }
        isFull = false
        channel.linkDidBecomeReady()
    }

    // MARK: From the load

    /// Whether the server's acceptance is awaited.
    package var isConnecting: Bool { if case .connecting = phase { true } else { false } }

    /// The server has accepted the handshake.
    package func open(_ channel: any WebSocketChannel, subprotocol: String?) {
        guard isConnecting else { return }
        phase = .open(channel)
        task.engine?.connectionDidEstablish()
        if let session = task.session {
            // A task that is being closed in order has been cancelled, too: its delegate learns of both ends.
            mailbox.postEnd(of: task) { [task] in
                guard !task.wasCancelledAtOnce else { return }
                TaskDelegates.webSocket(session, task)?.urlSession(
                    session, webSocketTask: task, didOpenWithProtocol: subprotocol)
            }
        }
        let (messages, pings) = (outbox, pingsToSend)
        (outbox, pingsToSend) = ([], [])
        for message in messages { channel.send(message) }
        for ping in pings { channel.ping(ping) }
    }

    /// The size limit of the next message, in bytes.
    package var maximumMessageSize: Int { task.maximumMessageSize }

    package func receive(_ message: URLSessionWebSocketTask.Message) -> Flow {
        if dropsMessages { return .more }
        observeMessage?(message, false)
        if let receiver = receivers.popFirst() {
            give(message, to: receiver)
            return .more
        }
        // The program has closed the connection and does not receive: the message is dropped, with all behind it, and
        // the server's answer is awaited.
        if case .closing = phase, isOverfull {
            dropsMessages = true
            return .more
        }
        messages.append(message)
        waitingBytes += message.byteCount
        guard case .open = phase else { return .more }
        isFull = isFull || isOverfull
        return isFull ? .wait : .more
    }

    private var isOverfull: Bool { waitingBytes >= Self.highWater || messages.count >= Self.mostMessages }

    /// A pong also answers the pings before its own (RFC 6455 §5.5.3).
    package func receive(pong payload: [UInt8]) {
        guard let index = pings.firstIndex(where: { $0.payload == payload }) else { return }
        for _ in 0...index { pings.popFirst()?.done(.success(())) }
    }

    /// The connection has taken `count` more messages.
    package func didSend(_ count: Int) {
        for _ in 0..<count { senders.popFirst()?(.success(())) }
    }

    /// The connection has ended. Calls `finish` when the program has taken all earlier messages, as long as it
    /// continues to receive, and the close was reported to it.
    ///
    /// - Parameter close: the content of the server's close frame; nil where the connection ended in another way.
    package func end(_ close: WebSocketClose?, _ finish: @escaping () -> Void) {
        // The task is over, and may be gone before the link, which its connection has as well.
        if case .ended = phase { return finish() }
        ending = Ending(close: close, began: loop.now, finish: finish)
        if !messages.isEmpty, delegate != nil || reading.usesHandlers { awaitDelegateQueue() } else { endWhenTaken() }
    }

    /// The connection ended without a close frame from the server. `code` is the close code of this side.
    package func connectionDidBreak(_ code: WebSocketCloseCode) { task.connectionDidClose(code, reason: nil) }

    // MARK: The end

    private struct Ending {
        let close: WebSocketClose?
        let began: MonotonicTime
        let finish: () -> Void
        var openTurns = 0
        /// The time of the delegate queue's last turn.
        var turned: MonotonicTime?
        var timer: LoopTimer?
        var isReported = false
    }

    private var delegate: (any URLSessionWebSocketDelegate)? {
        task.session.flatMap { TaskDelegates.webSocket($0, task) }
    }

    /// Methods and handlers that wait in the delegate queue, or are running, may request messages.
    private func awaitDelegateQueue() {
        ending?.openTurns += 1
        mailbox.post { [task, loop] in
            // After the messages that were requested there.
            loop.perform { task.link?.delegateQueueDidTurn() }
        }
    }

    private func delegateQueueDidTurn() {
        ending?.openTurns -= 1
        ending?.turned = loop.now
        endWhenTaken()
    }

    private func endWhenTaken() {
        guard let ending, !ending.isReported, ending.openTurns == 0 else { return }
        ending.timer?.cancel()
        let time = reading.deadline(hasMessages: !messages.isEmpty, began: ending.began, turned: ending.turned)
        guard let time else { return reportEnd() }
        guard time > loop.now else { return awaitPool() }
        self.ending?.timer = loop.schedule(at: time) { [weak self, weak task] in
            if task != nil { self?.endWhenTaken() }
        }
    }

    /// The time is over. On a busy machine the callers that received messages may not have run yet: they run before
    /// this task.
    private func awaitPool() {
        ending?.openTurns += 1
        let count = reading.requestCount
        Task.detached(priority: .low) { [task, loop] in
            loop.perform { task.link?.poolDidTurn(count) }
        }
    }

    private func poolDidTurn(_ count: Int) {
        ending?.openTurns -= 1
        guard let ending, !ending.isReported else { return }
        if reading.requestCount == count { reportEnd() } else { endWhenTaken() }
    }

    private func reportEnd() {
        ending?.timer?.cancel()
        ending?.isReported = true
        guard let close = ending?.close else { return endDidReachProgram() }
        let reason = close.reason.isEmpty ? nil : Data(close.reason.utf8)
        task.connectionDidClose(close.code, reason: reason)
        guard delegate != nil, let session = task.session else { return endDidReachProgram() }
        mailbox.postEnd(of: task) { [task, loop] in
            TaskDelegates.webSocket(session, task)?.urlSession(
                session, webSocketTask: task, didCloseWith: task.closeCode, reason: reason)
            loop.perform { task.link?.endDidReachProgram() }
        }
    }

    private func endDidReachProgram() {
        guard let ending = ending.take() else { return }
        // The task may have ended while the delegate was called.
        if case .ended(let error) = phase { failAll(error) } else { ending.finish() }
    }

    // MARK: From the engine

    func end(_ error: (any Error)?) {
        let isClosed = ending?.close != nil
        if isClosed, ending?.isReported == false { reportEnd() }
        let error = isClosed ? notConnected : error ?? unopenedError ?? notConnected
        phase = .ended(error)
        outbox = []
        pingsToSend = []
        // While the close is being reported to the delegate, that report comes first.
        if isClosed, ending != nil { return }
        ending?.timer?.cancel()
        ending = nil
        failAll(error)
    }

    private func failAll(_ error: any Error) {
        while let receiver = receivers.popFirst() { receiver.take(.failure(error)) }
        while let ping = pings.popFirst() { ping.done(.failure(error)) }
        while let sender = senders.popFirst() { sender(.failure(error)) }
    }

    private var unopenedError: (any Error)? {
        guard isConnecting else { return nil }
        return URLError(
            LoadFailure(.badServerResponse, "the load has ended without a WebSocket: a custom handler cannot open one"),
            url: task.currentRequest?.url)
    }

    /// Apple's error, which programs compare. The task has the code and the reason.
    private var notConnected: any Error { POSIXError(.ENOTCONN) }
}

package struct WebSocketClose {
    let code: WebSocketCloseCode
    let reason: String

    package init(_ code: WebSocketCloseCode, reason: String) {
        self.code = code
        self.reason = reason
    }
}

extension URLSessionWebSocketTask.Message {
    fileprivate var byteCount: Int {
        switch self {
        case .data(let data): data.count
        case .string(let text): text.utf8.count
        }
    }
}

/// An open WebSocket connection, from the point of view of its task's link. Confined to the session's loop.
package protocol WebSocketChannel: AnyObject {
    /// Sends a message after those before it, and calls ``WebSocketLink/didSend(_:)`` when the connection has taken it.
    func send(_ message: URLSessionWebSocketTask.Message)
    /// Sends a ping; its payload is returned with ``WebSocketLink/receive(pong:)``.
    func ping(_ payload: [UInt8])
    /// Sends a close frame after the messages before it. The load ends when the frame is answered, or after a timeout.
    func close(_ code: WebSocketCloseCode, reason: String)
    func linkDidBecomeReady()
}

/// One call that waits for a message, and may be cancelled.
final class ReceiveRequest: Sendable {
    private let cancelled = Atomic<Bool>(false)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    func cancel() { cancelled.store(true, ordering: .releasing) }
}
