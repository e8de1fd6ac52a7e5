import CLoadingKitShims
import Glibc

/// A stream socket that an event loop watches. Confined to its loop.
///
/// It stores the events that epoll reported, so that no call is made that would only return "try again". Its event
/// source passes each event to ``note(_:)`` first.
final class Socket {
    let loop: EventLoop
    private(set) var descriptor: Int32
    private var token: UInt64?

    /// Whether there may be input.
    private(set) var isReadable = false
    /// Whether there may be room for output.
    private(set) var isWritable = true
    /// Whether the peer has ended its side, or the connection failed. Reading continues until a read reports this.
    private var sawHangUp = false

    /// The time without packets after which the peer is asked whether it is there, and between such questions: curl's.
    private static let keepAliveSeconds: Int32 = 60

    private static let hangUp = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
    private static let readable = EPOLLIN.rawValue | hangUp
    private static let writable = EPOLLOUT.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue

    static func open(
        for address: SocketAddress, _ use: NetworkUse, on loop: EventLoop
    ) -> Result<Socket, SystemCallFailure> {
        let descriptor =
            if use.isMultipath, case .ip = address {
                SystemCalls.multipathSocket(address.family)
            } else {
                SystemCalls.streamSocket(address.family)
            }
        guard descriptor >= 0 else { return .failure(SystemCallFailure(.socket, descriptor)) }
        let socket = Socket(descriptor: Int32(descriptor), loop: loop)
        if case .ip = address {
            SystemCalls.enable(socket.descriptor, level: Int32(IPPROTO_TCP), option: TCP_NODELAY)
            socket.enableKeepAlive()
            if use.codePoint != 0 { socket.mark(use.codePoint, address) }
        }
        return .success(socket)
    }

    /// Has the system find a peer that is gone while nothing is sent, as during a response that is quiet for long. By
    /// itself it would begin after two hours.
    private func enableKeepAlive() {
        SystemCalls.enable(descriptor, level: SOL_SOCKET, option: SO_KEEPALIVE)
        for option in [TCP_KEEPIDLE, TCP_KEEPINTVL] {
            SystemCalls.set(descriptor, level: Int32(IPPROTO_TCP), option: option, to: Self.keepAliveSeconds)
        }
    }

    /// The two lowest bits of the field do not belong to the code point (RFC 3168).
    private func mark(_ codePoint: UInt8, _ address: SocketAddress) {
        let value = Int32(codePoint) << 2
        if address.family == AF_INET6 {
            SystemCalls.set(descriptor, level: Int32(IPPROTO_IPV6), option: IPV6_TCLASS, to: value)
        } else {
            SystemCalls.set(descriptor, level: Int32(IPPROTO_IP), option: IP_TOS, to: value)
        }
    }

    /// Takes over a nonblocking descriptor.
    init(descriptor: Int32, loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit {
        guard descriptor >= 0 else { return }
        let (loop, descriptor, token) = (loop, descriptor, token)
        if loop.isCurrent || token == nil {
            Self.release(descriptor, token, loop)
        } else if !loop.submit(.closure { Self.release(descriptor, token, loop) }) {
            SystemCalls.close(descriptor)
        }
    }

    private static func release(_ descriptor: Int32, _ token: UInt64?, _ loop: EventLoop) {
        if let token { loop.sources.remove(token) }
        SystemCalls.close(descriptor)
    }

    var isClosed: Bool { descriptor < 0 }

    func close() {
        guard descriptor >= 0 else { return }
        Self.release(descriptor, token, loop)
        token = nil
        descriptor = -1
    }

    /// Gives the descriptor to a new object. This object then counts as closed.
    func handOver() -> Socket {
        let socket = Socket(descriptor: descriptor, loop: loop)
        socket.token = token
        socket.isReadable = isReadable
        socket.isWritable = isWritable
        socket.sawHangUp = sawHangUp
        descriptor = -1
        token = nil
        return socket
    }

    /// Sends the socket's events to `source`, from now on.
    func watch(by source: any EventSource) -> SystemCallFailure? {
        if let token {
            loop.sources.replace(token, by: source)
            return nil
        }
        switch loop.register(descriptor, source) {
        case .success(let token):
            self.token = token
            return nil
        case .failure(let failure): return failure
        }
    }

    @inline(__always)
    func note(_ events: UInt32) {
        if events & Self.readable != 0 { isReadable = true }
        if events & Self.writable != 0 { isWritable = true }
        if events & Self.hangUp != 0 { sawHangUp = true }
    }

    /// Whether the peer has ended its side, or the connection failed.
    static func meansHangUp(_ events: UInt32) -> Bool { events & hangUp != 0 }

    static func means(readable events: UInt32) -> Bool { events & readable != 0 }

    /// Returns the number of bytes read, 0 at the end, or a negated `errno`. The buffer must not be empty.
    @inline(__always)
    func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        guard isReadable else { return -Int(EAGAIN) }
        let result = SystemCalls.recv(descriptor, buffer, count)
        if result < 0 {
            if result == -Int(EAGAIN) { isReadable = false }
        } else if result < count, result > 0, !sawHangUp, !SystemCalls.hasFaults {
            // The kernel had no more bytes. Later bytes raise another event (epoll(7), question 9).
            isReadable = false
        }
        return result
    }

    /// Sends until all bytes are taken or the system takes no more, so that an event reports when there is room again.
    /// Returns the number of bytes taken, or a negated `errno`.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard isWritable else { return -Int(EAGAIN) }
        var sent = 0
        repeat {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
            let result = SystemCalls.send(descriptor, rest.baseAddress, rest.count)
            guard result > 0 else {
                if result == -Int(EAGAIN) { isWritable = false }
                // The next call reports a failure after some bytes.
                return sent > 0 ? sent : result
            }
            sent += result
        } while sent < bytes.count
        return sent
    }

    /// Sends both buffers with one call, as `send(_:)` does.
    func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard isWritable else { return -Int(EAGAIN) }
        let result = SystemCalls.send(descriptor, first, second)
        if result == -Int(EAGAIN) { isWritable = false }
        guard result > 0, result < first.count &+ second.count else { return result }
        let rest =
            result < first.count
            ? send(UnsafeRawBufferPointer(rebasing: first[result...]), second)
            : send(UnsafeRawBufferPointer(rebasing: second[(result - first.count)...]))
        return result + max(rest, 0)
    }

    /// Sends bytes of a file, as `send(_:)` does. Returns 0 if the file has no bytes at the offset.
    func send(fromFile file: Int32, at offset: Int64, _ count: Int) -> Int {
        guard isWritable else { return -Int(EAGAIN) }
        var sent = 0
        repeat {
            let result = SystemCalls.send(descriptor, fromFile: file, at: offset + Int64(sent), count - sent)
            guard result > 0 else {
                if result == -Int(EAGAIN) { isWritable = false }
                return sent > 0 ? sent : result
            }
            sent += result
        } while sent < count
        return sent
    }

    /// Checks for bytes, the end or a failure, without consuming them. Returns the number of bytes seen (at most one),
    /// 0 at the end, or a negated `errno`. Does not depend on epoll's events.
    func peek() -> Int {
        var byte: UInt8 = 0
        let result = SystemCalls.recv(descriptor, &byte, 1, flags: Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        if result == -Int(EAGAIN) { isReadable = false }
        return result
    }

    /// Makes the next read perform its system call, whatever events epoll has reported.
    func assumeReadable() { isReadable = true }

    var localAddress: SocketAddress? {
        var storage = sockaddr_storage()
        return SystemCalls.localAddress(descriptor, &storage) >= 0 ? SocketAddress(storage) : nil
    }
}
