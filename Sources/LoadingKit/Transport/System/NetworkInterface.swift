import Glibc

/// One of the system's network interfaces.
struct NetworkInterface: Hashable {
    let name: String

    /// Whether the interface is a modem: it is named `ww…` (systemd.net-naming-scheme), or reports this kind.
    var isCellular: Bool { name.hasPrefix("ww") || kind.contains("DEVTYPE=wwan") }

    private var kind: String {
        guard !name.contains("/"), let file = fopen("/sys/class/net/\(name)/uevent", "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The interface by which packets to an address leave now; nil if there is none.
    static func outgoing(to address: SocketAddress, by required: RequiredInterface?) -> NetworkInterface? {
        switch required {
        case .name(let name): NetworkInterface(name: name)
        case .address(let local): having(local)
        case nil: source(to: address).flatMap(having)
        }
    }

    static func having(_ local: IPAddress) -> NetworkInterface? {
        addresses().first { $0.address == local }?.interface
    }

    /// The address from which packets to an address are sent now; nil if they cannot be sent. Sends no packets.
    static func source(to address: SocketAddress) -> IPAddress? {
        if case .from(let local) = route(to: address) { local } else { nil }
    }

    /// The way of packets to an address.
    enum Route {
        case from(IPAddress)
        /// The system would not send them.
        case none
        /// The system did not say, as it has no descriptor left.
        case unknown
    }

    /// Sends no packets.
    static func route(to address: SocketAddress) -> Route {
        guard case .ip = address else { return .unknown }
        let descriptor = SystemCalls.datagramSocket(address.family)
        guard descriptor >= 0 else { return .unknown }
        let socket = Int32(descriptor)
        defer { SystemCalls.close(socket) }
        guard let result = address.withSystemAddress({ SystemCalls.connect(socket, $0, $1) }) else { return .unknown }
        guard result == 0 else { return [-ENETUNREACH, -EHOSTUNREACH].contains(Int32(result)) ? .none : .unknown }
        var storage = sockaddr_storage()
        guard SystemCalls.localAddress(socket, &storage) == 0, case .ip(let local, _)? = SocketAddress(storage) else {
            return .unknown
        }
        return .from(local)
    }

    fileprivate struct Assignment {
        let interface: NetworkInterface
        let address: IPAddress
        let isLoopback: Bool
    }

    /// The addresses of the interfaces that are up.
    fileprivate static func addresses() -> [Assignment] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [Assignment] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0, let name = entry.ifa_name,
                let address = entry.ifa_addr.flatMap({ IPAddress($0) })
            else { continue }
            found.append(
                Assignment(
                    interface: NetworkInterface(name: String(cString: name)), address: address,
                    isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0))
        }
        return found
    }
}

package enum Networks {
    /// Whether the interface that now has an address is a modem.
    package static func isCellular(_ address: String) -> Bool {
        NetworkInterface.addresses().first { $0.address.description == address }?.interface.isCellular ?? false
    }

    /// Whether any interface other than the loopback interface has an address.
    package static var exist: Bool { NetworkInterface.addresses().contains { !$0.isLoopback } }
}

/// The networks that a connection may use, the marking of its packets, and the requirements for its address.
package struct NetworkUse: Sendable, Hashable {
    package enum Exclusion: Sendable, Hashable {
        case cellular, expensive
    }

    package var allowsCellular = true
    package var allowsExpensive = true
    /// The differentiated services code point (RFC 2474); 0 is ordinary traffic.
    package var codePoint: UInt8 = 0
    /// Whether a connection may use several networks at once.
    package var isMultipath = false
    /// Whether a name's addresses must be validated by DNSSEC.
    package var requiresDNSSEC = false
    /// Nil: the system selects it.
    package var interface: RequiredInterface?

    package init() {}

    var isRestricted: Bool { !allowsCellular || !allowsExpensive }

    /// The reason why the interface is not used; nil if it may be. Cellular interfaces count as expensive.
    func exclusion(of interface: NetworkInterface) -> Exclusion? {
        guard interface.isCellular else { return nil }
        return allowsCellular ? allowsExpensive ? nil : .expensive : .cellular
    }
}
