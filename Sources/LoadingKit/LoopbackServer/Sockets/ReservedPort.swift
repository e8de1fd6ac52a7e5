import Glibc

/// Keeps a port of ::1 from everybody, while a server listens at the same port of 127.0.0.1.
///
/// Whoever connects to the server by the name `localhost` tries ::1 first, and is refused there: nobody listens. Otherwise
/// another server, which was given the port of that address, could be met.
package final class ReservedPort: Sendable {
    /// Nil on a machine without IPv6, where nobody can be met.
    private let descriptor: Int32?

    /// Throws where somebody has the port.
    package init(_ port: UInt16) throws(SocketError) {
        let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else {
            guard errno == EAFNOSUPPORT else { throw SocketError("socket") }
            self.descriptor = nil
            return
        }
        // Without SO_REUSEADDR, so that no other socket can be bound there, either.
        let result = try LoopbackAddress.ipv6(port: port).withSocketAddress { bind(descriptor, $0, $1) }
        if result != 0 {
            let error = SocketError("bind to \(LoopbackAddress.ipv6(port: port))")
            close(descriptor)
            guard error.code == EADDRNOTAVAIL else { throw error }
        }
        self.descriptor = result == 0 ? descriptor : nil
    }

    deinit { if let descriptor { close(descriptor) } }
}
