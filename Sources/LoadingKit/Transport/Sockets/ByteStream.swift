import CLoadingKitShims
import Glibc
import LoadingKitPrimitives

/// What a ``ByteStream`` notifies of its events.
package protocol ByteStreamHandler: AnyObject {
    /// There may be something to read: bytes, the end, or a failure. Called again after a later change, not repeatedly.
    func streamDidBecomeReadable(_ stream: ByteStream)
    /// There is room again after a write gave ``ByteStream/WriteResult/wouldBlock`` or took a part.
    func streamDidBecomeWritable(_ stream: ByteStream)
    /// The server asks who the client is, after the TLS handshake (RFC 8446 §4.6.2). Nothing is read or written until
    /// `answer` was called, which may be at once. A stream that is closed meanwhile does not heed it.
    ///
    /// - Parameter authorities: the distinguished names of the issuers that the server accepts, in DER; empty: any.
    func stream(
        _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void)
}

extension ByteStreamHandler {
    /// The server gets no certificate.
    package func stream(
        _ stream: ByteStream, needsIdentityFrom authorities: [[UInt8]], _ answer: @escaping (IdentityDecision) -> Void
    ) {
        answer(.none)
    }
}

/// A connected socket, perhaps with TLS. Confined to its loop.
///
/// The owner reads until ``ReadResult/wouldBlock``, or stops when it wants and reads again later.
package final class ByteStream {
    package enum ReadResult {
        case bytes(Int)
        /// Nothing now; the handler is notified when there is.
        case wouldBlock
        /// The peer has sent all: a FIN came, or under TLS its `close_notify`.
        case end
        case failed(TransportError)
    }

    package enum WriteResult {
        /// So many bytes were taken. When that is not all, the handler is notified when there is room.
        case bytes(Int)
        /// Nothing was taken; the handler is notified when there is room.
        case wouldBlock
        case failed(TransportError)
    }

    /// Is notified of readiness, and is held until `close()`: a connection that has no other owner may still be reading the
    /// rest of a response. A new handler is notified of input that waits already.
    package var handler: (any ByteStreamHandler)? {
        didSet { if handler != nil, mayHaveInput { notifyLater() } }
    }

    package let loop: EventLoop
    package let info: ConnectionInfo

    private let socket: Socket
    private let tls: TLSSession?
    private var wantsWritable = false
    /// Whether the handler has been asked for the client's identity, and has not answered.
    private var isAskingForIdentity = false

    init(socket: Socket, tls: TLSSession?, info: ConnectionInfo) {
        self.socket = socket
        self.tls = tls
        self.info = info
        loop = socket.loop
    }

    /// Starts to receive the socket's events.
    func start() -> SystemCallFailure? { socket.watch(by: self) }

    /// Whether the stream has been closed, on this side.
    package var isClosed: Bool { socket.isClosed }

    // MARK: Reading

    /// Reads what there is, at most what `buffer` holds.
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

    /// Whether the last read left something that may be read now: bytes, the end, or a failure. Makes no system call. When
    /// false, nothing was there at the time of that read.
    package var mayHaveInput: Bool { !socket.isClosed && (socket.isReadable || tls?.hasPendingInput == true) }

    /// Whether a stream on which nothing is expected is of no use any more: it was closed or reset, or the peer has sent
    /// bytes. Makes one system call, never blocks.
    package var isDead: Bool {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return true }
        // Under TLS, bytes may be session tickets, which concern TLS alone.
        if let tls { return !tls.checkIsQuiet() }
        return socket.peek() != -Int(EAGAIN)
    }

    // MARK: Writing

    /// Writes what there is room for.
    package func write(_ bytes: UnsafeRawBufferPointer) -> WriteResult {
        assert(loop.isCurrent)
        guard !bytes.isEmpty else { return .bytes(0) }
        guard !socket.isClosed else { return writeFailed(.cancelled) }
        if let tls { return noteWritten(tls.write(bytes), of: bytes.count) }
        return noteSent(socket.send(bytes), of: bytes.count, .send)
    }

    /// Writes one after the other, as if they were one: one system call, or one TLS record where both are small.
    package func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> WriteResult {
        assert(loop.isCurrent)
        guard !second.isEmpty else { return write(first) }
        guard !first.isEmpty else { return write(second) }
        guard !socket.isClosed else { return writeFailed(.cancelled) }
        let total = first.count &+ second.count
        if let tls { return noteWritten(tls.write(first, second), of: total) }
        return noteSent(socket.send(first, second), of: total, .sendmsg)
    }

    private func noteSent(_ result: Int, of count: Int, _ name: SystemCalls.Name) -> WriteResult {
        if result < count { wantsWritable = true }
        if result >= 0 { return .bytes(result) }
        return result == -Int(EAGAIN) ? .wouldBlock : writeFailed(.systemCall(name, errno: Int32(-result)))
    }

    private func noteWritten(_ result: TLSSession.WriteResult, of count: Int) -> WriteResult {
        switch result {
        case .bytes(let taken):
            if taken < count { wantsWritable = true }
            return .bytes(taken)
        case .wouldBlock:
            wantsWritable = true
            if let tls { askForIdentityIfNeeded(tls) }
            return .wouldBlock
        case .failed(let cause): return writeFailed(cause)
        }
    }

    /// Sends the end of this side's data (FIN, or under TLS `close_notify`); reading goes on. Nothing may be written any
    /// more.
    package func finishWriting() {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return }
        if let tls { tls.sendCloseNotify() } else { _ = SystemCalls.shutdownWriting(socket.descriptor) }
    }

    /// Lets the next read ask the system for bytes, although no event has told of any.
    package func assumeReadable() { socket.assumeReadable() }

    /// Closes the stream, without waiting for anything. The handler is not notified of anything more.
    package func close() {
        assert(loop.isCurrent)
        guard !socket.isClosed else { return }
        handler = nil
        tls?.sendLastCloseNotify()
        socket.close()
    }

    /// Gives the connection away, for TLS to be put on it, or inside the TLS that it has; the stream is as good as
    /// closed. `nil` when it is closed.
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

    private func writeFailed(_ cause: TransportError.Cause) -> WriteResult {
        .failed(TransportError(.write, info.endpoint.description, cause))
    }
}

// MARK: - Events

extension ByteStream: EventSource {
    func handle(events: UInt32) {
        socket.note(events)
        if isAskingForIdentity, let tls {
            guard Socket.meansHangUp(events) else { return }
            isAskingForIdentity = false
            tls.fail(.handshake("the peer closed the connection while the program decided who the client is"))
        }
        if Socket.means(readable: events) { handler?.streamDidBecomeReadable(self) }
        guard !socket.isClosed, socket.isWritable else { return }
        // What TLS made and the socket did not take goes first.
        if let tls, !tls.flush() { return }
        if wantsWritable {
            wantsWritable = false
            handler?.streamDidBecomeWritable(self)
        }
    }

    /// Later: the handler is reading or writing.
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
        // Bytes may have come while nothing was read, and there was no event for what waits in TLS's buffer.
        socket.assumeReadable()
        loop.executeLater { [weak self] in
            guard let self, !socket.isClosed else { return }
            handler?.streamDidBecomeReadable(self)
            guard !socket.isClosed, socket.isWritable, tls.flush(), wantsWritable else { return }
            wantsWritable = false
            handler?.streamDidBecomeWritable(self)
        }
    }

    /// The event for this input came before the handler.
    private func notifyLater() {
        loop.executeLater { [weak self] in
            guard let self, self.mayHaveInput else { return }
            self.handler?.streamDidBecomeReadable(self)
        }
    }
}
