import CLoadingKitShims
import Foundation

/// A non-blocking stream socket, and what edge-triggered events have told of it. Confined to its loop.
final class StreamSocket {
    private(set) var descriptor: Int32
    private let loop: EventLoop

    /// Whether a receive may give something; false after one that gave less than was asked for, until the next event.
    private(set) var isReadable = true
    /// The other side has ended, so a receive always gives something: the rest, then the end.
    private var isHungUp = false
    private var wantsToWrite = false

    var isClosed: Bool { descriptor < 0 }

    private init(_ descriptor: Int32, _ loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    /// Makes a socket and begins to connect it; `channel` is told when that is done. Gives the socket, or `errno`.
    static func connect(
        to address: SocketAddress, _ channel: any LoopChannel, _ loop: EventLoop
    ) -> Result<StreamSocket, SystemError> {
        let descriptor = SystemCalls.socket(address.family, Int32(SOCK_STREAM.rawValue))
        guard descriptor >= 0 else { return .failure(SystemError(call: "socket", code: Int32(-descriptor))) }
        let socket = StreamSocket(Int32(descriptor), loop)
        if address.isIPv4 || address.isIPv6 { socket.setTCPOptions() }
        let added = loop.register(channel, socket.descriptor)
        guard added == 0 else {
            socket.close()
            return .failure(SystemError(call: "epoll_ctl", code: Int32(-added)))
        }
        let result = address.withPointer { SystemCalls.connect(socket.descriptor, $0, $1) } ?? Int(-EINVAL)
        guard result == 0 || result == Int(-EINPROGRESS) else {
            socket.close()
            return .failure(SystemError(call: "connect", code: Int32(-result)))
        }
        return .success(socket)
    }

    private func setTCPOptions() {
        SystemCalls.setOption(descriptor, Int32(IPPROTO_TCP), Int32(TCP_NODELAY), 1)
        SystemCalls.setOption(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
    }

    /// Takes in events; says whether writing that would have blocked can go on.
    func note(_ events: UInt32) -> Bool {
        let ended = EPOLLRDHUP.rawValue | EPOLLHUP.rawValue | EPOLLERR.rawValue
        if events & ended != 0 { isHungUp = true }
        if events & (EPOLLIN.rawValue | ended) != 0 { isReadable = true }
        guard events & (EPOLLOUT.rawValue | ended) != 0, wantsToWrite else { return false }
        wantsToWrite = false
        return true
    }

    func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard isReadable else { return Int(-EAGAIN) }
        let count = SystemCalls.receive(descriptor, buffer)
        if count == Int(-EAGAIN) || (count > 0 && count < buffer.count && !isHungUp) { isReadable = false }
        return count
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int { noteSent(SystemCalls.send(descriptor, bytes)) }

    func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        noteSent(SystemCalls.send(descriptor, first, second))
    }

    private func noteSent(_ count: Int) -> Int {
        if count == Int(-EAGAIN) { wantsToWrite = true }
        return count
    }

    var error: Int32 { SystemCalls.socketError(descriptor) }

    var hasEndedOrBytes: Bool {
        if isHungUp { return true }
        return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) {
            SystemCalls.receive(descriptor, $0, flags: Int32(MSG_PEEK)) != Int(-EAGAIN)
        }
    }

    func shutdownWriting() { SystemCalls.shutdownWriting(descriptor) }

    func close() {
        guard !isClosed else { return }
        loop.unregister(descriptor)
        SystemCalls.close(descriptor)
        descriptor = -1
    }

    deinit { close() }
}

/// A system call that failed.
struct SystemError: Error {
    let call: String
    let code: Int32
}
