import Glibc

/// The network interface by which connections leave, or the address from which they start.
package enum RequiredInterface: Sendable, Hashable {
    case name(String)
    case address(IPAddress)

    /// - Parameter text: a name, or an address.
    package init(_ text: String) { self = IPAddress(text).map { .address($0) } ?? .name(text) }

    /// Binds a socket before it is connected. Returns 0, or a negated `errno`.
    func bind(_ descriptor: Int32, for family: Int32) -> Int {
        switch self {
        case .name(let name):
            return Self.canExist(name) ? SystemCalls.bind(descriptor, toInterface: name) : -Int(ENODEV)
        case .address(let local):
            guard local.family.number == family else { return -Int(EAFNOSUPPORT) }
            // The system then selects a port that is free for the destination, and not for all.
            SystemCalls.enable(descriptor, level: Int32(IPPROTO_IP), option: Self.bindsAddressAlone)
            let address = SocketAddress.ip(local, port: 0)
            return address.withSystemAddress { SystemCalls.bind(descriptor, $0, $1) } ?? -Int(EINVAL)
        }
    }

    /// Whether an interface may have a name. The system would not bind the socket for an empty name, and would cut others
    /// at a NUL or after 15 bytes.
    static func canExist(_ name: String) -> Bool { (1...15).contains(name.utf8.count) && !name.utf8.contains(0) }

    /// Linux's IP_BIND_ADDRESS_NO_PORT, which not all C libraries define.
    private static let bindsAddressAlone: Int32 = 24
}

extension RequiredInterface: CustomStringConvertible {
    package var description: String {
        switch self {
        case .name(let name): name
        case .address(let address): address.description
        }
    }
}
