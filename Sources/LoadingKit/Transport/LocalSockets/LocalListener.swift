import Glibc

/// Accepts connections from other processes of the machine. Confined to its loop.
package final class LocalListener: EventSource {
    package var didAccept: ((LocalSocket) -> Void)?
    private let socket: Socket

    private init(_ socket: Socket) { self.socket = socket }

    /// Listens at an unused path. The socket's file has the mode 0600.
    package static func listen(at path: String, on loop: EventLoop) -> Result<LocalListener, SystemCallFailure> {
        listen(at: .unix(path: path), on: loop)
    }

    /// Listens at an address of the machine itself; port 0 stands for any that is free.
    package static func listen(
        at address: SocketAddress, on loop: EventLoop
    ) -> Result<LocalListener, SystemCallFailure> {
        Socket.open(for: address, NetworkUse(), on: loop).flatMap { socket in
            // A port is free again when the connections of an earlier process are in TIME_WAIT.
            if case .ip = address { SystemCalls.enable(socket.descriptor, level: SOL_SOCKET, option: SO_REUSEADDR) }
            let bound = address.withSystemAddress { SystemCalls.bind(socket.descriptor, $0, $1) } ?? -Int(EINVAL)
            guard bound >= 0 else { return .failure(SystemCallFailure(.bind, bound)) }
            if case .unix(let path) = address { _ = SystemCalls.changeMode(path, 0o600) }
            let listening = SystemCalls.listen(socket.descriptor, backlog: 128)
            return listening < 0
                ? .failure(SystemCallFailure(.listen, listening)) : .success(LocalListener(socket))
        }
    }

    package var address: SocketAddress? { socket.localAddress }

    /// Takes over a listening socket of another process.
    package static func adopt(_ descriptor: Int32, on loop: EventLoop) -> Result<LocalListener, SystemCallFailure> {
        let result = SystemCalls.adopt(descriptor)
        guard result >= 0 else { return .failure(SystemCallFailure(.fcntl, result)) }
        return .success(LocalListener(Socket(descriptor: descriptor, loop: loop)))
    }

    /// Accepts the waiting connections, and from now on new ones.
    package func start() -> SystemCallFailure? {
        if let failure = socket.watch(by: self) { return failure }
        acceptAll()
        return nil
    }

    /// Accepts the waiting connections. Must be called again after a connection was closed: the process may have had no
    /// descriptor for a waiting connection, for which there is no further event.
    package func acceptAll() {
        while !socket.isClosed {
            let result = SystemCalls.accept(socket.descriptor)
            if result == -Int(ECONNABORTED) { continue }
            guard result >= 0 else { return }
            didAccept?(LocalSocket(Int32(clamping: result), on: socket.loop))
        }
    }

    package func close() {
        didAccept = nil
        socket.close()
    }

    func handle(events: UInt32) { acceptAll() }
}
