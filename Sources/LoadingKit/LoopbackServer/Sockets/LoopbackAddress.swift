import Glibc

/// The address of a loopback server. Port 0 means any free port.
public enum LoopbackAddress: Sendable, Hashable, CustomStringConvertible {
    case ipv4(port: UInt16 = 0)
    case ipv6(port: UInt16 = 0)
    case unix(path: String)

    /// The port; nil for a Unix socket.
    public var port: UInt16? {
        switch self {
        case .ipv4(let port), .ipv6(let port): port
        case .unix: nil
        }
    }

    /// The host in a URL's authority, without the port: `127.0.0.1`, `[::1]`, or `localhost` for a Unix socket.
    public var host: String {
        switch self {
        case .ipv4: "127.0.0.1"
        case .ipv6: "[::1]"
        case .unix: "localhost"
        }
    }

    /// The authority in a URL: `127.0.0.1:8080`.
    public var description: String {
        switch self {
        case .ipv4(let port), .ipv6(let port): "\(host):\(port)"
        case .unix(let path): path
        }
    }

    var family: Int32 {
        switch self {
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        case .unix: AF_UNIX
        }
    }

    /// Calls the body with the address in the system's form.
    func withSocketAddress<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) throws(SocketError) -> Result {
        switch self {
        case .ipv4(let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return Self.withErased(&address, body)
        case .ipv6(let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0[15] = 1 }
            return Self.withErased(&address, body)
        case .unix(let path):
            var address = try Self.unixAddress(path)
            return Self.withErased(&address, body)
        }
    }

    private static func unixAddress(_ path: String) throws(SocketError) -> sockaddr_un {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            // One byte is reserved for the terminating NUL.
            guard bytes.count < room.count, !bytes.isEmpty else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        guard fits else { throw SocketError(operation: "the socket path \(path)", code: ENAMETOOLONG) }
        return address
    }

    private static func withErased<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}
