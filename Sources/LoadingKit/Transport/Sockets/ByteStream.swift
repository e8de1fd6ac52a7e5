import CLoadingKitShims
import Glibc

/// The object that a ``ByteStream`` notifies of its events.
package protocol ByteStreamHandler: AnyObject {
    /// There may be input: bytes, the end, or a failure. Called once for each change.
    func streamDidBecomeReadable(_ stream: ByteStream)
    /// There is room again after a write returned ``ByteStream/WriteResult/wouldBlock`` or took a part of the bytes.
    func streamDidBecomeWritable(_ stream: ByteStream)
    /// The server requests a client certificate after the TLS handshake (RFC 8446 §4.6.2). No bytes are read or written
    /// until `answer` is called, which may be at once. If the stream is closed before, the answer is ignored.
    ///
    /// - Parameter authorities: the distinguished names of the issuers that the server accepts, in DER; empty for any.
    func stream(
        _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void)
}

extension ByteStreamHandler {
    /// By default the server gets no certificate.
    package func stream(
        _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void
    ) {
        answer(.none)
    }
}

/// A connected socket with or without TLS. Confined to its loop.
///
/// The owner reads until ``ReadResult/wouldBlock``, or stops at any time and reads again later.
package final class ByteStream {
    package enum ReadResult {
        case bytes(Int)
        /// There is no input now. The handler is notified when there is.
        case wouldBlock
        /// The peer has sent all its data: a FIN was received, or under TLS its `close_notify`.
        case end
        case failed(TransportError)
    }

    package enum WriteResult {
        /// This number of bytes was taken. If not all were, the handler is notified when there is room.
        case bytes(Int)
        /// No bytes were taken. The handler is notified when there is room, and the loop's other sockets have had their
        /// turn.
        case wouldBlock
        case failed(TransportError)
    }

    /// The largest number of bytes that are written before the loop's other sockets and its timers have their turn. A
    /// peer may take bytes as fast as they are written.
    package static let bytesInARow = 1 << 20

    /// The handler is notified of readiness, and is retained until `close()`: a connection without another owner may
    /// still be reading the rest of a response. A new handler is notified of input that is already waiting.
    package var handler: (any ByteStreamHandler)? {
        didSet { if handler != nil, needsRead { notifyLater() } }
    }

    package let loop: EventLoop
    package let info: ConnectionInfo

    private let socket: Socket
    private let tls: TLSSession?
    private var wantsWritable = false
    /// The number of bytes that may be written before the loop's other sockets and its timers have their turn.
    private var room = ByteStream.bytesInARow
    /// Whether the handler is notified in the next turn of input that is left.
    private var willNotify = false
    /// Whether the handler was asked for the client's identity and has not answered yet.
    private var isAskingForIdentity = false

    init(socket: Socket, tls: TLSSession?, info: ConnectionInfo) {
        self.socket = socket
        self.tls = tls
        self.info = info
        loop = socket.loop
    }

    func start() -> SystemCallFailure? { socket.watch(by: self) }

    package var isClosed: Bool { socket.isClosed }

    // MARK: Reading

    /// Reads the available bytes, up to the size of `buffer`.
    package func read(into buffer: UnsafeMutableRawBufferPointer) -> ReadResult {
        assert(loop.isCurrent)
        guard let base = buffer.baseAddress, buffer.count > 0 else { return .bytes(0) }
        guard !socket.isClosed else { return failed(.read, .cancelled) }
        if let tls {
            switch tls.read(base, buffer.count) {
            case .bytes(let count): return .bytes(count)
            case .wouldBlock:
                askForIdentityIfNeeded(tls)
                return .wouldBlock
            case .end: return .end
            case .failed(let cause): return failed(.read, cause)
            }
        }
        let result = socket.receive(base, buffer.count)
        if result > 0 { return .bytes(result) }
        if result == 0 { return .end }
        return result == -Int(EAGAIN) ? .wouldBlock : failed(.read, .systemCall(.recv, errno: Int32(-result)))
    }

    /// Whether the last read left input: bytes, the end, or a failure. Makes no system call. If false, there was no
    /// input at the time of that read.
    package var mayHaveInput: Bool { !socket.isClosed && (socket.isReadable || tls?.hasPendingInput == true) }

    /// Whether a stream on which no input is expected has become unusable: it was closed or reset, or the peer has sent
    /// bytes. Makes at most one system call, and none if the loop knows the answer from its events. Never blocks.
    package var isDead: Bool {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return true }
        if !mayHaveInput, loop.hasRecentEvents { return false }
        // Under TLS the bytes may be session tickets, which only TLS uses.
        if let tls { return !tls.checkIsQuiet() }
        return socket.peek() != -Int(EAGAIN)
    }

    /// Whether packets to the peer would leave by another interface now than the connection's.
    package var isBetterRouted: Bool {
        guard case .ip(let local, _) = info.local,
            let now = try? NetworkInterface.localAddress(forRouteTo: info.remote), now != local,
            let selected = try? NetworkInterface.having(now)
        else { return false }
        return (try? NetworkInterface.having(local)) != selected
    }

    /// Whether packets to the peer would be sent from another address now, or would not be sent at all.
    package var hasLostRoute: Bool {
        guard case .ip(let local, _) = info.local else { return false }
        do {
            return try NetworkInterface.localAddress(forRouteTo: info.remote) != local
        } catch {
            return !NetworkInterface.mayHave(local)
        }
    }

    // MARK: Writing

    /// Writes as many bytes as there is room for.
    package func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        assert(loop.isCurrent)
        guard !bytes.isEmpty else { return .bytes(0) }
        guard !socket.isClosed else { return writeFailed(.cancelled) }
        guard room > 0 else { return waitForTurn() }
        let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(room))
        if let tls { return noteWritten(tls.write(part), of: bytes.count) }
        return noteSent(socket.send(part), of: bytes.count, .send)
    }

    /// Writes both buffers as if they were one: with one system call, or in one TLS record if both are small.
    package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> WriteResult {
        assert(loop.isCurrent)
        guard !second.isEmpty else { return write(first) }
        guard !first.isEmpty else { return write(second) }
        guard !socket.isClosed else { return writeFailed(.cancelled) }
        guard room > 0 else { return waitForTurn() }
        let total = first.count &+ second.count
        let head = UnsafeRawBufferPointer(rebasing: first.prefix(room))
        let rest = UnsafeRawBufferPointer(rebasing: second.prefix(room - head.count))
        if let tls { return noteWritten(tls.write(head, rest), of: total) }
        return noteSent(socket.send(head, rest), of: total, .sendmsg)
    }

    /// Whether the system can send bytes of a file by itself. It cannot encrypt them.
    package var sendsFiles: Bool { tls == nil }

    /// Writes bytes of an open file, which should be in the system's memory. ``WriteResult/bytes(_:)`` has 0 if the file
    /// has no bytes at the offset. Only for a stream that ``sendsFiles``.
    package func write(fromFile file: Int32, at offset: Int64, _ count: Int) -> WriteResult {
        assert(loop.isCurrent && sendsFiles)
        guard !socket.isClosed else { return writeFailed(.cancelled) }
        guard room > 0 else { return waitForTurn() }
        return noteSent(socket.send(fromFile: file, at: offset, min(count, room)), of: count, .sendfile)
    }

    private func waitForTurn() -> WriteResult {
        wantsWritable = true
        return .wouldBlock
    }

    private func noteSent(_ result: Int, of count: Int, _ name: SystemCalls.Name) -> WriteResult {
        if result >= 0 { return noteTaken(result, of: count) }
        wantsWritable = true
        return result == -Int(EAGAIN) ? .wouldBlock : writeFailed(.systemCall(name, errno: Int32(-result)))
    }

    private func noteWritten(_ result: TLSSession.WriteResult, of count: Int) -> WriteResult {
        switch result {
        case .bytes(let taken): return noteTaken(taken, of: count)
        case .wouldBlock:
            wantsWritable = true
            if let tls { askForIdentityIfNeeded(tls) }
            return .wouldBlock
        case .failed(let cause): return writeFailed(cause)
        }
    }

    private func noteTaken(_ taken: Int, of count: Int) -> WriteResult {
        if taken < count { wantsWritable = true }
        room -= taken
        // No event follows when there is no more room. Nor does one when a system call failed after an earlier one had
        // taken some bytes: only the next call reports that.
        if !socket.isWritable {
            room = Self.bytesInARow
        } else if room <= 0 {
            loop.executeInNextTurn { [weak self] in
                self?.room = Self.bytesInARow
                self?.writeMore()
            }
        } else if taken > 0, taken < count || hasUnsentBytes {
            loop.executeLater { [weak self] in self?.writeMore() }
        }
        return .bytes(taken)
    }

    /// Whether the socket has not taken all bytes that counted as written.
    package var hasUnsentBytes: Bool { tls?.hasKept == true }

    /// The number of bytes that the socket has taken and the peer's system has not acknowledged; 0 where the system
    /// does not say.
    package var unacknowledgedBytes: Int {
        socket.isClosed ? 0 : max(0, SystemCalls.unacknowledgedBytes(socket.descriptor))
    }

    /// The reason why bytes that counted as written will never be sent.
    package var loss: TransportError? { tls?.loss.map { TransportError(.write, info.endpoint.description, $0) } }

    /// Sends the end of this side's data (FIN, or under TLS `close_notify`). Reading continues. If TLS keeps bytes that
    /// the socket has not taken, the handler is notified when it has taken them.
    package func finishWriting() {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return }
        if let tls { tls.sendCloseNotify() } else { _ = SystemCalls.shutdownWriting(socket.descriptor) }
        if hasUnsentBytes { wantsWritable = true }
    }

    /// Makes the next read request bytes from the system, although no event has reported any.
    package func assumeReadable() { socket.assumeReadable() }

    /// Closes the stream without waiting. The handler gets no further events. Bytes that counted as written may be lost:
    /// the socket may not have taken them, and closing it with unread bytes resets the connection.
    package func close() {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return }
        handler = nil
        tls?.sendLastCloseNotify()
        socket.close()
    }

    /// Ends the connection with a reset, and TLS without `close_notify`: the peer must not take the bytes so far for
    /// all. The handler gets no further events.
    package func abort() {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return }
        handler = nil
        SystemCalls.resetWhenClosed(socket.descriptor)
        socket.close()
    }

    /// Closes the stream as soon as the socket has taken all bytes that counted as written, and the peer has ended its side,
    /// if that happens in time. The handler gets no further events. A further call has no effect.
    package func closeWhenSent() {
        assert(loop.isCurrent)
        if handler is LingeringClose { return }
        guard !socket.isClosed, loss == nil, hasUnsentBytes || socket.peek() != 0 else { return close() }
        LingeringClose().begin(self)
    }

    /// Sends the rest of the bytes that counted as written, and then the end of this side's data. Returns whether the socket
    /// has taken all of it; if not, the handler is notified when there is room.
    func sendRestAndEnd() -> Bool {
        _ = tls?.flush()
        if !hasUnsentBytes { tls?.sendLastCloseNotify() }
        guard !hasUnsentBytes else {
            wantsWritable = true
            return false
        }
        _ = SystemCalls.shutdownWriting(socket.descriptor)
        return true
    }

    /// Hands over the connection, so that TLS can be started on it, or inside its existing TLS. The stream then counts
    /// as closed. `nil` if the stream is closed.
    func handOver() -> (socket: Socket, tls: TLSSession?)? {
        guard !socket.isClosed else { return nil }
        handler = nil
        let socket = socket.handOver()
        tls?.move(to: socket)
        return (socket, tls)
    }

    // MARK: Failures

    private func failed(_ phase: TransportError.Phase, _ cause: TransportError.Cause) -> ReadResult {
        .failed(TransportError(phase, info.endpoint.description, cause))
    }

    /// The next read asks the system, as the peer's last bytes, with the reason, may be there before their event.
    private func writeFailed(_ cause: TransportError.Cause) -> WriteResult {
        socket.assumeReadable()
        return .failed(TransportError(.write, info.endpoint.description, cause))
    }
}

// MARK: - Events

extension ByteStream: EventSource {
    func handle(events: UInt32) {
        socket.note(events)
        if isAskingForIdentity, let tls {
            guard Socket.meansHangUp(events) else { return }
            isAskingForIdentity = false
            tls.fail(.handshakeClosed("the peer closed the connection while the program decided who the client is"))
        }
        if Socket.means(readable: events) { handler?.streamDidBecomeReadable(self) }
        writeMore()
    }

    private func writeMore() {
        guard !socket.isClosed, socket.isWritable, !isAskingForIdentity, room > 0 else { return }
        // TLS output that the socket has not taken is written first.
        if let tls, !tls.flush() { return }
        let hasLoss = tls?.loss != nil
        // The handler reads all bytes that the peer has sent before a read reports the loss.
        if hasLoss { socket.assumeReadable() }
        if wantsWritable {
            wantsWritable = false
            handler?.streamDidBecomeWritable(self)
        }
        // There may be no other write that would report it.
        if hasLoss { handler?.streamDidBecomeReadable(self) }
    }

    /// The handler is asked later, because it is reading or writing now.
    private func askForIdentityIfNeeded(_ tls: TLSSession) {
        guard !isAskingForIdentity, tls.awaitsIdentity else { return }
        isAskingForIdentity = true
        loop.executeLater { [weak self] in
            guard let self, isAskingForIdentity, !socket.isClosed else { return }
            guard let handler else { return take(.none) }
            handler.stream(self, needsIdentityFrom: tls.acceptedAuthorities) { [weak self] in self?.take($0) }
        }
    }

    private func take(_ identity: IdentityDecision) {
        guard isAskingForIdentity, !socket.isClosed, let tls else { return }
        isAskingForIdentity = false
        tls.decide(identity)
        // Bytes may have arrived while reading was suspended, and there was no event for bytes in TLS's buffer.
        socket.assumeReadable()
        loop.executeLater { [weak self] in
            guard let self, !socket.isClosed else { return }
            handler?.streamDidBecomeReadable(self)
            writeMore()
        }
    }

    /// Notifies the handler, once, in the next turn of input that is left then. A handler that reads for long lets the loop's
    /// other sockets and its timers have their turn in this way.
    package func notifyInNextTurn() {
        guard !willNotify else { return }
        willNotify = true
        loop.executeInNextTurn { [weak self] in
            self?.willNotify = false
            self?.notifyOfInput()
        }
    }

    /// The event for this input preceded the handler.
    private func notifyLater() { loop.executeLater { [weak self] in self?.notifyOfInput() } }

    private func notifyOfInput() {
        // As with an event: nothing is read before the program has answered.
        guard !isAskingForIdentity, needsRead else { return }
        handler?.streamDidBecomeReadable(self)
    }

    /// The server's request for the client's certificate may have been read behind other bytes, and epoll does not
    /// report it again. The next read notices it.
    private var needsRead: Bool { mayHaveInput || tls?.awaitsIdentity == true }
}
