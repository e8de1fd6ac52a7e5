import Glibc

/// An address that a socket is connected to or bound to.
package enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    case ip(IPAddress, port: UInt16)
    case unix(path: String)

    /// The address if the system does not return it.
    static let unknown = SocketAddress.ip(.v4(0), port: 0)

    /// The address without the port; the path of a Unix socket.
    package var address: String {
        switch self {
        case .ip(let address, _): address.description
        case .unix(let path): path
        }
    }

    /// Nil for a Unix socket.
    package var ip: IPAddress? {
        switch self {
        case .ip(let address, _): address
        case .unix: nil
        }
    }

    /// The port; nil for a Unix socket.
    package var port: UInt16? {
        switch self {
        case .ip(_, let port): port
        case .unix: nil
        }
    }

    package var description: String {
        switch self {
        case .ip(.v4, let port): "\(address):\(port)"
        case .ip(.v6, let port): "[\(address)]:\(port)"
        case .unix(let path): path
        }
    }

    package var family: Int32 {
        switch self {
        case .ip(let address, _): address.family.number
        case .unix: AF_UNIX
        }
    }

    /// Calls `body` with the system's form of the address; nil for a path that is too long or contains a NUL.
    package func withSystemAddress<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        switch self {
        case .ip(.v4(let bits), let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = bits.bigEndian
            return Self.rebound(&address, body)
        case .ip(let six, let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = six.in6
            if case .v6(_, _, let zone) = six { address.sin6_scope_id = zone }
            return Self.rebound(&address, body)
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let capacity = MemoryLayout.size(ofValue: address.sun_path)
            guard !path.isEmpty, path.utf8.count < capacity, !path.utf8.contains(0) else { return nil }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            return Self.rebound(&address, body)
        }
    }

    private static func rebound<A, R>(_ address: inout A, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<A>.size)) }
        }
    }

    /// The address that the system returned for a socket; `nil` for families that are not used here.
    package init?(_ storage: sockaddr_storage) {
        let address: SocketAddress? = withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let four = bytes.loadUnaligned(as: sockaddr_in.self)
                return .ip(.v4(UInt32(bigEndian: four.sin_addr.s_addr)), port: UInt16(bigEndian: four.sin_port))
            case AF_INET6:
                let six = bytes.loadUnaligned(as: sockaddr_in6.self)
                let ip = IPAddress(six.sin6_addr, zone: six.sin6_scope_id)
                return .ip(ip, port: UInt16(bigEndian: six.sin6_port))
            case AF_UNIX:
                let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
                let capacity = MemoryLayout<sockaddr_un>.size - offset
                let path = bytes[offset..<(offset + capacity)].prefix { $0 != 0 }
                return .unix(path: String(decoding: path, as: UTF8.self))
            case _: return nil
            }
        }
        guard let address else { return nil }
        self = address
    }
}
