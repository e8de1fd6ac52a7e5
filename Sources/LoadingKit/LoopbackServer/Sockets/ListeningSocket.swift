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
        var attempt = 1
        while true {
            let (descriptor, bound) = try Self.listen(address, backlog)
            do throws(SocketError) {
                reserved = address == .ipv4(port: 0) ? try ReservedPort(bound.port ?? 0) : nil
                self.address = bound
                self.descriptor = Guarded(descriptor)
                return
            } catch {
                Glibc.close(descriptor)
                guard error.code == EADDRINUSE, attempt < Self.attempts else { throw error }
                attempt += 1
            }
        }
    }

    private static func listen(
        _ address: LoopbackAddress, _ backlog: Int32
    ) throws(SocketError) -> (Int32, LoopbackAddress) {
        let descriptor = try address.makeSocket("bind to", Glibc.bind, prepare: allowReuse)
        do throws(SocketError) {
            guard Glibc.listen(descriptor, backlog) == 0 else { throw SocketError("listen") }
            return (descriptor, try address.bound(by: descriptor))
        } catch {
            Glibc.close(descriptor)
            throw error
        }
    }

    private static func allowReuse(_ descriptor: Int32) {
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
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
        guard let closed = descriptor.withLock({ $0.take() }) else { return }
        Glibc.close(closed)
        if case .unix(let path) = address { unlink(path) }
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
        do throws(SocketError) {
            // Without SO_REUSEADDR, so that no other socket can be bound there, either.
            descriptor = try LoopbackAddress.ipv6(port: port).makeSocket("bind to", Glibc.bind)
        } catch {
            guard [EAFNOSUPPORT, EADDRNOTAVAIL].contains(error.code) else { throw error }
            descriptor = nil
        }
    }

    deinit { if let descriptor { close(descriptor) } }
}
