import CLoadingKitOpenSSL
import Glibc
import LoadingKitPrimitives

/// One connection with blocking reads and writes, plain or TLS. It belongs to one thread at a time; any other thread
/// may only `interrupt()` it, or wait until it is readable.
public final class StreamSocket: @unchecked Sendable {  // the mutex guards the descriptor, one thread owns the rest
    private let descriptor: Guarded<Int32?>
    private var tls: TLSStream?
    /// Bytes that a reader has returned.
    private var pushedBack: ArraySlice<UInt8> = []

    /// Takes ownership of the descriptor.
    init(owning descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var yes: Int32 = 1
        // This fails on a Unix socket, which does not need it.
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        self.descriptor = Guarded(descriptor)
    }

    /// Connects, blocking.
    public convenience init(connectingTo address: LoopbackAddress) throws(SocketError) {
        self.init(owning: try address.makeSocket("connect to", Glibc.connect))
    }

    deinit { close() }

    /// The result of the TLS handshake; nil while the connection is plain.
    public var tlsFacts: TLSFacts? { tls?.facts }

    /// OpenSSL's connection; nil while the connection is plain.
    package var openSSLConnection: OpaquePointer? { tls?.pointer }

    /// Whether the peer ended TLS with close_notify. False for a plain connection.
    public var receivedCloseNotify: Bool { tls?.receivedCloseNotify ?? false }

    // MARK: Reading and writing

    /// Blocks until bytes are available; 0 when the peer has ended the connection.
    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let descriptor = try openDescriptor()
        if !pushedBack.isEmpty { return takePushedBack(into: buffer) }
        if let tls { return try tls.read(into: buffer) }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { throw SocketError("recv") }
        }
    }

    /// Whether a read would return bytes that were already received.
    var hasPending: Bool { !pushedBack.isEmpty || tls?.hasPending == true }

    /// Blocks until one of two connections is readable, and reads nothing. Returns which are ready.
    package static func waitUntilReadable(_ one: StreamSocket, _ other: StreamSocket) throws -> (Bool, Bool) {
        if one.hasPending || other.hasPending { return (one.hasPending, other.hasPending) }
        let ready = try wait(for: Int16(POLLIN), on: [one, other])
        return (ready[0], ready[1])
    }

    /// Blocks until the connection is readable, and reads nothing.
    func waitUntilReadable() throws { _ = try Self.wait(for: Int16(POLLIN), on: [self]) }

    /// Blocks until the peer has ended the connection, and reads nothing. Unread bytes do not matter.
    public func waitUntilPeerCloses() throws {
        // Linux's POLLRDHUP, which the C library's module does not export; hang-up and error are always reported.
        _ = try Self.wait(for: 0x2000, on: [self])
    }

    /// Returns for each socket whether the event, or an error, has occurred.
    private static func wait(for event: Int16, on sockets: [StreamSocket]) throws(SocketError) -> [Bool] {
        var polled: [pollfd] = []
        for socket in sockets { polled.append(pollfd(fd: try socket.openDescriptor(), events: event, revents: 0)) }
        while Glibc.poll(&polled, nfds_t(polled.count), -1) < 0 {
            guard errno == EINTR else { throw SocketError("poll") }
        }
        return polled.map { $0.revents != 0 }
    }

    /// Reads up to `count` bytes; empty when the peer has ended the connection.
    public func read(atMost count: Int = 16384) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = try bytes.withUnsafeMutableBytes { try self.read(into: $0) }
        bytes.removeLast(count &- read)
        return bytes
    }

    /// Returns bytes that were read and that belong to the next reader.
    public func pushBack(_ bytes: some Sequence<UInt8>) {
        pushedBack = ArraySlice(bytes) + pushedBack
    }

    private func takePushedBack(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let bytes = pushedBack.prefix(buffer.count)
        buffer.copyBytes(from: bytes)
        // An empty slice would keep the whole array.
        pushedBack = bytes.count == pushedBack.count ? [] : pushedBack.dropFirst(bytes.count)
        return bytes.count
    }

    /// Blocks until all bytes are written.
    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        let descriptor = try openDescriptor()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = try tls?.write(piece) ?? Self.send(piece, to: descriptor)
            rest = rest.dropFirst(count)
        }
    }

    /// Blocks until all bytes are written.
    public func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try write($0) }
    }

    private static func send(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SocketError) -> Int {
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return count }
            guard errno == EINTR else { throw SocketError("send") }
        }
    }

    // MARK: TLS

    /// Performs the server's side of a handshake, blocking; inside existing TLS where the connection has it.
    package func startTLS(_ context: TLSServerContext) throws {
        try startTLS(context.pointer, handshake: SSL_accept) { connection in
            withExtendedLifetime(context) { SSL_free(connection) }
        }
    }

    /// Performs a handshake, blocking.
    ///
    /// - Parameters:
    ///   - handshake: performs it; 1 for success.
    ///   - release: frees the connection, and holds the context until then.
    package func startTLS(
        _ context: OpaquePointer, handshake: (OpaquePointer) -> Int32, release: @escaping (OpaquePointer) -> Void
    ) throws {
        tls = try TLSStream(context, on: try openDescriptor(), inside: tls, handshake: handshake, release: release)
    }

    /// Signals that no more will be sent: close_notify in TLS, which leaves the underlying connection open.
    public func sendCloseNotify() {
        tls?.sendCloseNotify()
    }

    // MARK: Ending

    /// Ends the sending side; reading continues.
    public func halfClose() {
        sendCloseNotify()
        shutDown(Int32(SHUT_WR))
    }

    /// Ends the connection properly, with close_notify first.
    public func close() {
        sendCloseNotify()
        closeWithoutNotify()
    }

    /// Ends the connection without TLS's close_notify.
    public func closeWithoutNotify() {
        // A process started meanwhile may hold a copy of the descriptor: a shutdown reaches the peer all the same.
        shutDown(Int32(SHUT_RDWR))
        finish()
    }

    /// Ends the connection with a reset.
    public func reset() {
        descriptor.withLock { descriptor in
            guard let descriptor else { return }
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
        finish()
    }

    /// Wakes the owning thread from any call on this connection: reads return its end, writes fail.
    public func interrupt() {
        shutDown(Int32(SHUT_RDWR))
    }

    /// Wakes the threads that wait for bytes: reads return the connection's end. Nothing is sent.
    func stopReceiving() {
        shutDown(Int32(SHUT_RD))
    }

    private func shutDown(_ how: Int32) {
        descriptor.withLock { descriptor in
            if let descriptor { _ = Glibc.shutdown(descriptor, how) }
        }
    }

    private func finish() {
        tls = nil
        descriptor.withLock { descriptor in
            if let descriptor { Glibc.close(descriptor) }
            descriptor = nil
        }
    }

    private func openDescriptor() throws(SocketError) -> Int32 {
        guard let open = descriptor.withLock({ $0 }) else { throw SocketError(operation: "socket", code: EBADF) }
        return open
    }
}

/// A failed system call on a socket or a thread.
public struct SocketError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The call, such as "bind".
    public var operation: String
    /// `errno`.
    public var code: Int32

    /// The call and the system's text.
    public var description: String {
        "\(operation): \(String(cString: strerror(code)))"
    }

    /// An error of a call with this `errno`.
    public init(operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// An error with the current `errno` of the call.
    init(_ operation: String) {
        self.init(operation: operation, code: errno)
    }
}
