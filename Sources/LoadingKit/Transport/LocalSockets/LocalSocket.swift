import Glibc

/// A stream socket (`AF_UNIX`) to another local process, which can transfer descriptors. Confined to its loop.
package final class LocalSocket: EventSource {
    package var loop: EventLoop { socket.loop }
    /// Called when there may be input, or room for output. It retains its captured objects until ``close()``.
    package var didBecomeReady: (() -> Void)?
    private let socket: Socket

    /// - Parameter descriptor: The nonblocking descriptor of a connected socket. The object owns it from now on.
    package convenience init(_ descriptor: Int32, on loop: EventLoop) {
        self.init(Socket(descriptor: descriptor, loop: loop))
    }

    private init(_ socket: Socket) { self.socket = socket }

    /// Connects to a socket in the file system. A failure with `EAGAIN` means that the listener has too many waiting
    /// connections. A failure with `EINVAL` means that the path is empty, is too long, or contains a NUL.
    package static func connect(to path: String, on loop: EventLoop) -> Result<LocalSocket, SystemCallFailure> {
        let address = SocketAddress.unix(path: path)
        return Socket.open(for: address, NetworkUse(), on: loop).flatMap { socket in
            let result = address.withSystemAddress { SystemCalls.connect(socket.descriptor, $0, $1) } ?? -Int(EINVAL)
            return result < 0 ? .failure(SystemCallFailure(.connect, result)) : .success(LocalSocket(socket))
        }
    }

    package var isOpen: Bool { !socket.isClosed }

    /// The user of the process at the other end, when the connection was established.
    package var peerUser: UInt32? { SystemCalls.peerUser(socket.descriptor) }

    /// Calls ``didBecomeReady`` from now on.
    package func watch() -> SystemCallFailure? { socket.watch(by: self) }

    /// Returns the number of bytes read; 0 at the end. A failure with `EAGAIN` means that there is no more input now.
    package func receive(
        _ buffer: UnsafeMutableRawBufferPointer, descriptors: inout [OwnedDescriptor]
    ) -> Result<Int, SystemCallFailure> {
        guard isOpen else { return .success(0) }
        var numbers: [Int32] = []
        let result = SystemCalls.receive(socket.descriptor, buffer, descriptors: &numbers)
        descriptors += numbers.map { OwnedDescriptor($0) }
        return result < 0 ? .failure(SystemCallFailure(.recvmsg, result)) : .success(result)
    }

    /// Returns the number of bytes taken, with the descriptors; a failure with `EAGAIN` while there is no room.
    package func send(
        _ bytes: UnsafeRawBufferPointer, with descriptors: [Int32] = []
    ) -> Result<Int, SystemCallFailure> {
        let result = isOpen ? SystemCalls.send(socket.descriptor, bytes, with: descriptors) : -Int(EPIPE)
        return result < 0 ? .failure(SystemCallFailure(.sendmsg, result)) : .success(result)
    }

    package func close() {
        didBecomeReady = nil
        guard isOpen else { return }
        // The peer detects the end at once, even while a process just started has a copy of the descriptor.
        _ = SystemCalls.shutdownWriting(socket.descriptor)
        socket.close()
    }

    func handle(events: UInt32) { didBecomeReady?() }
}
