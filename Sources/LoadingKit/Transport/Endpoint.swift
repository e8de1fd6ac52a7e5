/// Where to connect to.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets (a zone is allowed: `fe80::1%eth0`).
    case tcp(host: String, port: UInt16)
    /// A socket in the file system.
    case unix(path: String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): path
        }
    }
}
