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

    /// The interface by which packets to an address leave now; nil if they would not be sent. Throws where the system does
    /// not say.
    static func outgoing(
        to address: SocketAddress, by required: RequiredInterface?
    ) throws(SystemCallFailure) -> NetworkInterface? {
        switch required {
        case .name(let name): return RequiredInterface.canExist(name) ? NetworkInterface(name: name) : nil
        case .address(let local): return try having(local)
        case nil:
            guard let local = try localAddress(forRouteTo: address) else { return nil }
            return try having(local)
        }
    }

    /// The interface that has an address; nil if none has it.
    static func having(_ local: IPAddress) throws(SystemCallFailure) -> NetworkInterface? {
        try addresses().first { $0.address == local }?.interface
    }

    /// Whether an interface has the address, or the system does not say.
    static func mayHave(_ local: IPAddress) -> Bool {
        do { return try having(local) != nil } catch { return true }
    }

    /// The address from which packets to an address are sent now; nil if the system would not send them. Sends no
    /// packets. Throws where the system does not say, for example as it has no descriptor left.
    ///
    /// - Parameter required: the interface by which they have to leave; nil where the system selects it.
    static func localAddress(
        forRouteTo address: SocketAddress, by required: RequiredInterface? = nil
    ) throws(SystemCallFailure) -> IPAddress? {
        let descriptor = SystemCalls.datagramSocket(address.family)
        guard descriptor >= 0 else {
            let failure = SystemCallFailure(.socket, descriptor)
            if failure.isLackOfRoute { return nil }
            throw failure
        }
        let socket = Int32(descriptor)
        defer { SystemCalls.close(socket) }
        if let bound = required?.bind(socket, for: address.family), bound < 0 {
            throw SystemCallFailure(.bind, bound)
        }
        let connected = address.withSystemAddress { SystemCalls.connect(socket, $0, $1) } ?? -Int(ENAMETOOLONG)
        guard connected == 0 else {
            let failure = SystemCallFailure(.connect, connected)
            if failure.isLackOfRoute { return nil }
            throw failure
        }
        var storage = sockaddr_storage()
        let named = SystemCalls.localAddress(socket, &storage)
        guard named == 0, case .ip(let local, _)? = SocketAddress(storage) else {
            throw SystemCallFailure(.getsockname, named)
        }
        return local
    }

    /// Whether the system itself has no route to an address now. Where this is false, a router may have none, or the system
    /// did not say.
    static func isUnreachable(_ address: SocketAddress, by required: RequiredInterface? = nil) -> Bool {
        do { return try localAddress(forRouteTo: address, by: required) == nil } catch { return false }
    }

    fileprivate struct Assignment {
        let interface: NetworkInterface
        let address: IPAddress
        let isLoopback: Bool
    }

    /// The addresses of the interfaces that are up.
    fileprivate static func addresses() throws(SystemCallFailure) -> [Assignment] {
        var list: UnsafeMutablePointer<ifaddrs>?
        // `getifaddrs` opens a socket, which a sandbox may forbid.
        guard getifaddrs(&list) == 0 else { throw SystemCallFailure(name: .socket, code: errno) }
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
        let assignment = try? NetworkInterface.addresses().first { $0.address.description == address }
        return assignment?.interface.isCellular ?? false
    }

    /// Whether the interfaces have only loopback and link-local addresses. False where the system does not say.
    static var haveNoAddress: Bool {
        guard let addresses = try? NetworkInterface.addresses() else { return false }
        return addresses.allSatisfy { $0.isLoopback || $0.address.isLinkLocal }
    }

    /// Whether the system has no route to the Internet in either address family. False where the system does not say.
    /// An address alone proves no network: a bridge to containers keeps its address when all networks are down.
    static var haveNoDefaultRoute: Bool {
        // Reserved for documentation (RFC 5737, RFC 3849), and in no local network.
        [IPAddress("192.0.2.1"), IPAddress("2001:db8::1")].compactMap(\.self)
            .allSatisfy { NetworkInterface.isUnreachable(.ip($0, port: 53)) }
    }
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

    /// Whether the system selects the network, so that another one can be selected when the networks change.
    package var isSelectedBySystem: Bool { interface == nil && !isMultipath }

    var isRestricted: Bool { !allowsCellular || !allowsExpensive }

    /// The reason why the interface is not used; nil if it may be. Cellular interfaces count as expensive.
    func exclusion(of interface: NetworkInterface) -> Exclusion? {
        guard interface.isCellular else { return nil }
        return allowsCellular ? allowsExpensive ? nil : .expensive : .cellular
    }
}
