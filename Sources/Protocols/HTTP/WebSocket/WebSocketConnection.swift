import DequeModule
import Foundation
import LoadingKitCore
import LoadingKitTransport
import LoadingKitWebSocket

/// An open WebSocket connection. It moves messages between a task's link and the codec. Confined to its loop.
final class WebSocketConnection: WebSocketChannel {
    /// In bytes. Longer messages are sent in pieces.
    private static let pieceBytes = 128 * 1024

    /// In bytes. Longer messages are not compressed, which would keep the loop from all other work: any message may be
    /// sent uncompressed (RFC 7692 §6).
    private static let mostCompressedBytes = 1 << 20

    /// The time for the server's close frame, or for it to take bytes that are sent before, in seconds.
    private static let closingTime = 5.0

    /// Binary messages up to this size are copied, so that they keep no more memory than they need.
    private static let copiedBytes = 4096

    /// In bytes. When the connection has ended, messages up to this size are parsed though the program lags. Each
    /// counts with the memory that holds it.
    private static let mostRestBytes = 16 << 20
    private static let storageBytes = 64

    enum End {
        /// Both sides have sent a close frame; nil if the server's frame has no code.
        case closed(WebSocketClose?)
        /// The connection failed. The code is the closest one to the error.
        case failed(any Error, WebSocketCloseCode)
    }

    private enum Outgoing {
        case message(URLSessionWebSocketTask.Message)
        case ping([UInt8])
        case close(WebSocketCloseCode, reason: String)
    }

    /// A long message of which a part has been sent.
    private struct Unfinished {
        let bytes: Data
        var position = 0
        var mask: WebSocketMask?
    }

    private var codec: WebSocketStateMachine
    private let link: WebSocketLink
    private let loop: EventLoop
    private var outgoing = Deque<Outgoing>()
    private var unfinished: Unfinished?
    private var handedOut = 0
    private var held: [UInt8] = []
    private var isLinkFull = false
    /// The rest of ``mostRestBytes``; 0 while the connection has not ended.
    private var restRoom = 0
    private var closingTimer: LoopTimer?
    private var isOver = false
    /// The task is over.
    private var isStopped = false

    var onOutput: () -> Void = {}
    /// Called when bytes can be received again.
    var onReady: () -> Void = {}
    var onEnd: (End) -> Void = { _ in }

    let subprotocol: String?

    init(_ agreement: WebSocketHandshake.Agreement, _ link: WebSocketLink, _ loop: EventLoop) {
        codec = WebSocketStateMachine(role: .client, deflate: agreement.deflate)
        subprotocol = agreement.subprotocol
        self.link = link
        self.loop = loop
    }

    /// Whether no more bytes can be received.
    var isWaiting: Bool { isLinkFull }

    // MARK: WebSocketChannel

    func send(_ message: URLSessionWebSocketTask.Message) { put(.message(message)) }
    func ping(_ payload: [UInt8]) { put(.ping(payload)) }

    func close(_ code: WebSocketCloseCode, reason: String) {
        put(.close(code, reason: reason))
        awaitAnswer()
    }

    /// The time limit for the server's close frame. Each write restarts it, as the server still reads earlier bytes.
    private func awaitAnswer() {
        closingTimer?.cancel()
        closingTimer = loop.schedule(at: loop.now.advanced(bySeconds: Self.closingTime)) { [weak self] in
            self?.end(
                .failed(
                    LoadFailure(.timedOut, "the server did not answer the close frame for \(Self.closingTime) seconds"),
                    .abnormalClosure))
        }
    }

    func linkDidBecomeReady() {
        guard isLinkFull else { return }
        isLinkFull = false
        proceed()
        if !isLinkFull { onReady() }
    }

    private func put(_ item: Outgoing) {
        outgoing.append(item)
        onOutput()
    }

    // MARK: Receiving

    /// Bytes for which the link has no room are held.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Flow {
        if isOver { return .more }
        guard !isLinkFull, held.isEmpty else {
            held.append(contentsOf: bytes)
            return .wait
        }
        let taken = take(bytes)
        if taken < bytes.count { held.append(contentsOf: bytes[taken...]) }
        return isLinkFull ? .wait : .more
    }

    func proceed() {
        guard !held.isEmpty, !isLinkFull, !isOver else { return }
        let bytes = held
        held = []
        let taken = bytes.withUnsafeBytes { take($0) }
        if taken < bytes.count { held = Array(bytes[taken...]) }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        var position = 0
        codec.limits.messageBytes = link.maximumMessageSize
        do throws(WebSocketError) {
            while !isOver, !isLinkFull, let event = try codec.receive(bytes, &position) { handle(event) }
        } catch {
            onOutput()
            end(.failed(error, error.closeCode))
        }
        if codec.hasControlBytes { onOutput() }
        return position
    }

    private func handle(_ event: WebSocketEvent) {
        switch event {
        case .text(let text): give(.string(text), text.utf8.count)
        case .binary(let payload):
            // The message may take the payload's memory.
            let count = payload.count
            give(.data(Self.data(payload)), count)
        case .ping: break
        case .pong(let payload): link.receive(pong: payload)
        case .close(let code, let reason):
            end(.closed(WebSocketClose(code, reason: reason)))
        }
    }

    private func give(_ message: URLSessionWebSocketTask.Message, _ count: Int) {
        if restRoom > 0 { restRoom -= count + Self.storageBytes }
        if link.receive(message) == .wait, restRoom <= 0 { isLinkFull = true }
        if link.dropsMessages { codec.dropMessages() }
        codec.limits.messageBytes = link.maximumMessageSize
    }

    private static func data(_ payload: WebSocketPayload) -> Data {
        if payload.count > copiedBytes, let (base, count) = payload.takeMemory() {
            return Data(bytesNoCopy: base, count: count, deallocator: .free)
        }
        return payload.withUnsafeBytes { Data($0) }
    }

    /// The connection has ended, in an orderly way or with an error. The messages and the close that were received
    /// before count, also where the link had no room for them.
    func connectionDidEnd(with error: (any Error)?) {
        restRoom = Self.mostRestBytes
        isLinkFull = false
        proceed()
        do throws(WebSocketError) {
            try codec.finish()
            end(.closed(nil))
        } catch let closed {
            // The connection's own error is more specific than the missing close frame.
            end(.failed(error ?? closed, .abnormalClosure))
        }
    }

    private func end(_ end: End) {
        guard !isOver else { return }
        isOver = true
        closingTimer?.cancel()
        closingTimer = nil
        // The task is ended later: output such as the answer to a close frame is written at the end of the loop's turn,
        // and the task's end drops the output that is left.
        loop.executeLater { [self] in
            guard !isStopped else { return }
            var close: WebSocketClose?
            if case .closed(let received) = end { close = received }
            link.end(close) { [self] in onEnd(end) }
        }
    }

    /// The task is over.
    func stop() {
        isOver = true
        isStopped = true
        closingTimer?.cancel()
        closingTimer = nil
        outgoing = []
        held = []
    }

    // MARK: Sending

    func outputDidProgress() { if closingTimer != nil { awaitAnswer() } }

    func takeOutput(_ buffer: inout [UInt8]) {
        if handedOut > 0 {
            link.didSend(handedOut)
            handedOut = 0
        }
        while buffer.count < Self.pieceBytes {
            if unfinished != nil {
                putPiece(&buffer)
            } else if let next = outgoing.popFirst() {
                put(next, &buffer)
            } else {
                return codec.drainControlBytes(into: &buffer)
            }
        }
    }

    /// Adds a close frame, unless the output ends in the middle of a frame.
    func takeLastOutput(_ buffer: inout [UInt8]) {
        guard unfinished == nil else { return }
        codec.drainControlBytes(into: &buffer)
        if codec.isOpen { try? codec.sendClose(.goingAway, to: &buffer) }
    }

    private func put(_ item: Outgoing, _ buffer: inout [UInt8]) {
        do throws(WebSocketError) {
            switch item {
            case .message(.data(let data)): try put(.binary, data, &buffer)
            case .message(.string(let text)): try put(text, &buffer)
            case .ping(let payload): try codec.sendPing(payload, to: &buffer)
            case .close(let code, let reason): try codec.sendClose(code, reason: reason, to: &buffer)
            }
        } catch {
            // The connection is closing. The sender's completion is called after it has ended.
        }
    }

    private func put(_ text: String, _ buffer: inout [UInt8]) throws(WebSocketError) {
        let count = text.utf8.count
        guard count <= Self.pieceBytes else { return try put(.text, Data(text.utf8), &buffer) }
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(WebSocketError) in try codec.send(.text, UnsafeRawBufferPointer(bytes), to: &buffer) }
        }
        try result.get()
        handedOut += 1
    }

    private func put(_ kind: WebSocketMessageKind, _ data: Data, _ buffer: inout [UInt8]) throws(WebSocketError) {
        let isCompressed = data.count <= Self.mostCompressedBytes && codec.compresses(data.count)
        guard data.count > Self.pieceBytes, !isCompressed else {
            let result = data.withUnsafeBytes { bytes in
                Result { () throws(WebSocketError) in try codec.send(kind, bytes, to: &buffer) }
            }
            try result.get()
            handedOut += 1
            return
        }
        let mask = try codec.sendHeader(kind, count: data.count, to: &buffer)
        unfinished = Unfinished(bytes: data, mask: mask)
    }

    private func putPiece(_ buffer: inout [UInt8]) {
        guard var message = unfinished else { return }
        let count = min(message.bytes.count - message.position, Self.pieceBytes)
        message.bytes.withUnsafeBytes { bytes in
            let piece = UnsafeRawBufferPointer(rebasing: bytes[message.position..<message.position + count])
            message.mask?.append(piece, to: &buffer)
        }
        message.position += count
        let isDone = message.position == message.bytes.count
        unfinished = isDone ? nil : message
        if isDone { handedOut += 1 }
    }
}
