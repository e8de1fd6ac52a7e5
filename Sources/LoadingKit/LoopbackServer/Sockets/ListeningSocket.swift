import Glibc
import LoadingKitPrimitives

/// A socket that listens on a loopback address. Any thread may shut it down; one thread accepts and closes.
package final class ListeningSocket: Sendable {
    /// The address with the port that the system selected.
    package let address: LoopbackAddress
    /// Where the system selected a port of 127.0.0.1: the same port of ::1, which no other server has.
    package let reserved: ReservedPort?
    private let descriptor: Guarded<Int32?>

    /// The number of attempts to find a port that is also free for ::1.
    private static let attempts = 100

    /// Binds and listens. `backlog` is the number of connections that the system holds before they are accepted.
    package init(_ address: LoopbackAddress, backlog: Int32 = SOMAXCONN) throws(SocketError) {
        let opened = try Self.open(address, backlog)
        self.address = opened.address
        reserved = opened.reserved
        descriptor = Guarded(opened.descriptor)
    }

    private typealias Opened = (descriptor: Int32, address: LoopbackAddress, reserved: ReservedPort?)

    private static func open(_ address: LoopbackAddress, _ backlog: Int32) throws(SocketError) -> Opened {
        guard case .ipv4(port: 0) = address else {
            let (descriptor, bound) = try listen(address, backlog)
            return (descriptor, bound, nil)
        }
        var attempt = 1
        while true {
            let (descriptor, bound) = try listen(address, backlog)
            do throws(SocketError) {
                return (descriptor, bound, try ReservedPort(bound.port ?? 0))
            } catch {
                Glibc.close(descriptor)
                guard error.code == EADDRINUSE, attempt < attempts else { throw error }
                attempt += 1
            }
        }
    }

    private static func listen(
        _ address: LoopbackAddress, _ backlog: Int32
    ) throws(SocketError) -> (Int32, LoopbackAddress) {
        let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketError("socket") }
        do throws(SocketError) {
            try bind(descriptor, to: address)
            guard Glibc.listen(descriptor, backlog) == 0 else { throw SocketError("listen") }
            return (descriptor, try boundAddress(of: descriptor, asked: address))
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit { close() }

    /// Blocks until a connection arrives. Nil once the socket is shut down or closed.
    package func accept() throws(SocketError) -> StreamSocket? {
        while true {
            guard let listening = descriptor.withLock({ $0 }) else { return nil }
            let accepted = Glibc.accept(listening, nil, nil)
            if accepted >= 0 { return StreamSocket(owning: accepted) }
            switch errno {
            // The connection was closed before it was accepted, or a signal arrived: the next one.
            case ECONNABORTED, EINTR: continue
            // The errors of a listening socket that is shut down.
            case EINVAL, EBADF: return nil
            default: throw SocketError("accept")
            }
        }
    }

    /// Wakes the accepting thread. The descriptor stays open until `close()`, so that its number is not reused.
    package func shutDown() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = Glibc.shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// Connections are refused from here on. Not while another thread is in `accept()`: `shutDown()` wakes it first.
    func close() {
        let closed: Int32? = descriptor.withLock { descriptor in
            let closed = descriptor
            descriptor = nil
            return closed
        }
        guard let closed else { return }
        Glibc.close(closed)
        if case .unix(let path) = address { unlink(path) }
    }

    private static func bind(_ descriptor: Int32, to address: LoopbackAddress) throws(SocketError) {
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = try address.withSocketAddress { Glibc.bind(descriptor, $0, $1) }
        guard result == 0 else { throw SocketError("bind to \(address)") }
    }

    private static func boundAddress(
        of descriptor: Int32, asked: LoopbackAddress
    ) throws(SocketError) -> LoopbackAddress {
        switch asked {
        case .ipv4: .ipv4(port: try boundPort(of: descriptor))
        case .ipv6: .ipv6(port: try boundPort(of: descriptor))
        case .unix: asked
        }
    }

    /// IPv4 and IPv6 addresses have the port at the same position, after the family.
    private static func boundPort(of descriptor: Int32) throws(SocketError) -> UInt16 {
        var address = sockaddr_in6()
        var count = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &count) }
        }
        guard result == 0 else { throw SocketError("getsockname") }
        return UInt16(bigEndian: address.sin6_port)
    }
}

/// Reserves a port of ::1, while a server listens at the same port of 127.0.0.1.
///
/// A client that connects to the server by the name `localhost` tries ::1 first, and is refused there, because no
/// socket listens. Without the reservation another server could get that port of ::1, and the connection.
package final class ReservedPort: Sendable {
    /// Nil on a machine without IPv6, where no server can get the port.
    private let descriptor: Int32?

    /// Throws where another socket has the port.
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
