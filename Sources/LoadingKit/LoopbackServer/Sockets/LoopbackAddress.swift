import Glibc
import LoadingKitTransport

/// The address of a loopback server. Port 0 means any free port.
public enum LoopbackAddress: Sendable, Hashable, CustomStringConvertible {
    case ipv4(port: UInt16 = 0)
    case ipv6(port: UInt16 = 0)
    case unix(path: String)

    /// The port; nil for a Unix socket.
    public var port: UInt16? { socketAddress.port }

    /// The host in a URL's authority, without the port: `127.0.0.1`, `[::1]`, or `localhost` for a Unix socket.
    public var host: String {
        switch self {
        case .ipv4: "127.0.0.1"
        case .ipv6: "[::1]"
        case .unix: "localhost"
        }
    }

    /// The authority in a URL, such as `127.0.0.1:8080`; the path of a Unix socket.
    public var description: String { socketAddress.description }

    private var socketAddress: SocketAddress {
        switch self {
        case .ipv4(let port): .ip(.v4(0x7F00_0001), port: port)
        case .ipv6(let port): .ip(.v6(high: 0, low: 1, zone: 0), port: port)
        case .unix(let path): .unix(path: path)
        }
    }

    /// The same address with the port to which the socket is bound.
    func bound(by descriptor: Int32) throws(SocketError) -> LoopbackAddress {
        var storage = sockaddr_storage()
        var count = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &count) }
        }
        guard result == 0 else { throw SocketError("getsockname") }
        let port = SocketAddress(storage)?.port ?? 0
        return switch self {
        case .ipv4: .ipv4(port: port)
        case .ipv6: .ipv6(port: port)
        case .unix: self
        }
    }

    /// Makes a socket, and calls `bind` or `connect` with the address in the system's form.
    ///
    /// - Parameter prepare: sets the socket's options before the call.
    func makeSocket(
        _ operation: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        prepare: (Int32) -> Void = { _ in }
    ) throws(SocketError) -> Int32 {
        let descriptor = socket(socketAddress.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        prepare(descriptor)
        let result = socketAddress.withSystemAddress { call(descriptor, $0, $1) }
        guard result == 0 else {
            let code = result == nil ? ENAMETOOLONG : errno
            close(descriptor)
            throw SocketError(operation: "\(operation) \(self)", code: code)
        }
        return descriptor
    }
}
