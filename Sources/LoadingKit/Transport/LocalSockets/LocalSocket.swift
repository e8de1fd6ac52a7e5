import CLoadingKitShims
import Glibc

/// A connection to another process of the machine (`AF_UNIX`, stream), which can transfer descriptors. Confined to its
/// loop.
package final class LocalSocket: EventSource {
    /// The process at the other end, when the connection was established.
    package struct Peer: Hashable, Sendable {
        package var user: UInt32
        package var process: Int32
    }

    package let loop: EventLoop
    /// Called when there may be input, or room for output. It retains its captured objects until ``close()``.
    package var didBecomeReady: (() -> Void)?
    private var descriptor: Int32
    private var token: UInt64?

    /// - Parameter descriptor: The nonblocking descriptor of a connected socket. The object owns it from now on.
    package init(_ descriptor: Int32, on loop: EventLoop) {
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit {
        let (loop, descriptor, token) = (loop, descriptor, token)
        guard descriptor >= 0 else { return }
        if token == nil || loop.isCurrent {
            Self.release(descriptor, token, loop)
        } else if !loop.submit(.closure { Self.release(descriptor, token, loop) }) {
            SystemCalls.close(descriptor)
        }
    }

    /// Connects to a socket in the file system. A failure with `EAGAIN` means that the listener has too many waiting
    /// connections. A failure with `EINVAL` means that the path is empty, is too long, or contains a NUL.
    package static func connect(to path: String, on loop: EventLoop) -> Result<LocalSocket, SystemCallFailure> {
        let result = SystemCalls.streamSocket(AF_UNIX)
        guard result >= 0 else { return .failure(SystemCallFailure(name: .socket, code: Int32(clamping: -result))) }
        let descriptor = Int32(clamping: result)
        let code =
            SocketAddress.unix(path: path).withSystemAddress { SystemCalls.connect(descriptor, $0, $1) }
            ?? -Int(EINVAL)
        guard code >= 0 else {
            SystemCalls.close(descriptor)
            return .failure(SystemCallFailure(name: .connect, code: Int32(clamping: -code)))
        }
        return .success(LocalSocket(descriptor, on: loop))
    }

    package var isOpen: Bool { descriptor >= 0 }

    package var peer: Peer? {
        var peer = Peer(user: 0, process: 0)
        return SystemCalls.peer(descriptor, user: &peer.user, process: &peer.process) >= 0 ? peer : nil
    }

    /// Calls ``didBecomeReady`` from now on.
    package func watch() -> SystemCallFailure? {
        switch loop.register(descriptor, self) {
        case .success(let token):
            self.token = token
            return nil
        case .failure(let failure): return failure
        }
    }

    /// Returns the number of bytes read; 0 at the end. A failure with `EAGAIN` means that there is no more input now.
    package func receive(
        _ buffer: UnsafeMutableRawBufferPointer, descriptors: inout [OwnedDescriptor]
    ) -> Result<Int, SystemCallFailure> {
        guard descriptor >= 0 else { return .success(0) }
        var numbers: [Int32] = []
        let result = SystemCalls.receive(descriptor, buffer, descriptors: &numbers)
        descriptors += numbers.map { OwnedDescriptor($0) }
        return result >= 0
            ? .success(result) : .failure(SystemCallFailure(name: .recvmsg, code: Int32(clamping: -result)))
    }

    /// Returns the number of bytes taken. The descriptors are sent with the first of them. A failure with `EAGAIN`
    /// means that there is no room now.
    package func send(
        _ bytes: UnsafeRawBufferPointer, with descriptors: [Int32] = []
    ) -> Result<Int, SystemCallFailure> {
        guard descriptor >= 0 else { return .failure(SystemCallFailure(name: .sendmsg, code: EPIPE)) }
        let result = SystemCalls.send(descriptor, bytes, with: descriptors)
        return result >= 0
            ? .success(result) : .failure(SystemCallFailure(name: .sendmsg, code: Int32(clamping: -result)))
    }

    package func close() {
        didBecomeReady = nil
        guard descriptor >= 0 else { return }
        // The peer detects the end at once, even while a process that another thread starts has a copy of the
        // descriptor.
        _ = SystemCalls.shutdownWriting(descriptor)
        Self.release(descriptor, token, loop)
        descriptor = -1
        token = nil
    }

    func handle(events: UInt32) { didBecomeReady?() }

    private static func release(_ descriptor: Int32, _ token: UInt64?, _ loop: EventLoop) {
        if let token { loop.sources.remove(token) }
        SystemCalls.close(descriptor)
    }
}
