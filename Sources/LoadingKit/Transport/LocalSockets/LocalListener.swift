import CLoadingKitShims
import Glibc

/// Accepts connections from other processes of the machine. Confined to its loop.
package final class LocalListener: EventSource {
    /// Called with each connection.
    package var didAccept: ((LocalSocket) -> Void)?
    private let loop: EventLoop
    private var descriptor: Int32
    private var token: UInt64?

    private init(_ descriptor: Int32, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit { if descriptor >= 0 { SystemCalls.close(descriptor) } }

    /// Listens at an unused path. The socket's file has the mode 0600.
    package static func listen(at path: String, on loop: EventLoop) -> Result<LocalListener, SystemCallFailure> {
        let result = SystemCalls.streamSocket(AF_UNIX)
        guard result >= 0 else { return .failure(SystemCallFailure(name: .socket, code: Int32(clamping: -result))) }
        let listener = LocalListener(Int32(clamping: result), on: loop)
        let code =
            SocketAddress.unix(path: path).withSystemAddress { SystemCalls.bind(listener.descriptor, $0, $1) }
            ?? -Int(EINVAL)
        guard code >= 0 else { return .failure(SystemCallFailure(name: .bind, code: Int32(clamping: -code))) }
        _ = SystemCalls.changeMode(path, 0o600)
        let listening = SystemCalls.listen(listener.descriptor, backlog: 128)
        guard listening >= 0 else {
            return .failure(SystemCallFailure(name: .listen, code: Int32(clamping: -listening)))
        }
        return .success(listener)
    }

    /// Takes over a listening socket of another process.
    package static func adopt(_ descriptor: Int32, on loop: EventLoop) -> Result<LocalListener, SystemCallFailure> {
        let result = SystemCalls.adopt(descriptor)
        guard result >= 0 else { return .failure(SystemCallFailure(name: .fcntl, code: Int32(clamping: -result))) }
        return .success(LocalListener(descriptor, on: loop))
    }

    /// Accepts the waiting connections, and from now on new ones.
    package func start() -> SystemCallFailure? {
        switch loop.register(descriptor, self) {
        case .success(let token):
            self.token = token
            acceptAll()
            return nil
        case .failure(let failure): return failure
        }
    }

    /// Accepts the waiting connections. Must be called again after a connection was closed: the process may have had no
    /// descriptor for a waiting connection, for which there is no further event.
    package func acceptAll() {
        while descriptor >= 0 {
            let result = SystemCalls.accept(descriptor)
            if result == -Int(ECONNABORTED) { continue }
            guard result >= 0 else { return }
            didAccept?(LocalSocket(Int32(clamping: result), on: loop))
        }
    }

    package func close() {
        didAccept = nil
        if let token { loop.sources.remove(token) }
        if descriptor >= 0 { SystemCalls.close(descriptor) }
        descriptor = -1
        token = nil
    }

    func handle(events: UInt32) { acceptAll() }
}
