/// Where to connect to.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 or an IPv6 address without brackets, perhaps with a zone.
    case tcp(host: String, port: UInt16)
    case unix(path: String)

    package var description: String {
        switch self {
        case .tcp(let host, let port): "\(host) port \(port)"
        case .unix(let path): path
        }
    }
}
