import Glibc

/// One of the system's network interfaces.
struct NetworkInterface: Hashable {
    let name: String

    /// Whether it is a modem: the system names those `ww…` (systemd.net-naming-scheme), and gives it as their kind.
    var isCellular: Bool { name.hasPrefix("ww") || kind.contains("DEVTYPE=wwan") }

    private var kind: String {
        guard !name.contains("/"), let file = fopen("/sys/class/net/\(name)/uevent", "re") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    /// The interface by which packets to an address leave now; nil when none does.
    static func outgoing(to address: SocketAddress) -> NetworkInterface? {
        source(to: address).flatMap { local in addresses().first { $0.address == local }?.interface }
    }

    /// The interface that has an address, as text.
    static func having(_ address: String) -> NetworkInterface? {
        addresses().first { $0.address.description == address }?.interface
    }

    /// The address from which packets to an address are sent now; nil when they cannot be. Sends nothing.
    static func source(to address: SocketAddress) -> IPAddress? {
        guard case .ip = address else { return nil }
        let descriptor = SystemCalls.datagramSocket(address.family)
        guard descriptor >= 0 else { return nil }
        let socket = Int32(descriptor)
        defer { SystemCalls.close(socket) }
        guard let result = address.withSystemAddress({ SystemCalls.connect(socket, $0, $1) }), result == 0 else {
            return nil
        }
        var storage = sockaddr_storage()
        guard SystemCalls.localAddress(socket, &storage) == 0, case .ip(let local, _)? = SocketAddress(storage) else {
            return nil
        }
        return local
    }

    /// Whether any interface but the loopback has an address.
    static var anyIsUp: Bool { addresses().contains { !$0.isLoopback } }

    private struct Assignment {
        let interface: NetworkInterface
        let address: IPAddress
        let isLoopback: Bool
    }

    /// Those that are up.
    private static func addresses() -> [Assignment] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [Assignment] = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_UP) != 0, let name = entry.ifa_name,
                let address = entry.ifa_addr.flatMap(ipAddress)
            else { continue }
            found.append(
                Assignment(
                    interface: NetworkInterface(name: String(cString: name)), address: address,
                    isLoopback: entry.ifa_flags & UInt32(IFF_LOOPBACK) != 0))
        }
        return found
    }

    private static func ipAddress(_ pointer: UnsafeMutablePointer<sockaddr>) -> IPAddress? {
        var storage = sockaddr_storage()
        let size: Int
        switch Int32(pointer.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        case _: return nil
        }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size))
        }
        guard case .ip(let address, _)? = SocketAddress(storage) else { return nil }
        return address
    }
}

package enum Networks {
    /// Whether the interface that has an address now is a modem's.
    package static func isCellular(_ address: String) -> Bool { NetworkInterface.having(address)?.isCellular ?? false }

    /// Whether there is any network but the machine itself.
    package static var exist: Bool { NetworkInterface.anyIsUp }
}

/// Over which networks a connection may go, how its packets are marked, and what its address must be.
package struct NetworkUse: Sendable, Hashable {
    /// Why an interface is not used.
    package enum Exclusion: Sendable, Hashable {
        case cellular, expensive
    }

    package var allowsCellular = true
    package var allowsExpensive = true
    /// The differentiated services code point (RFC 2474); 0 is ordinary traffic.
    package var codePoint: UInt8 = 0
    /// Whether a connection may go over several networks at once.
    package var isMultipath = false
    /// Whether a name's addresses must be validated by DNSSEC.
    package var requiresDNSSEC = false

    package init() {}

    var isRestricted: Bool { !allowsCellular || !allowsExpensive }

    /// Why the interface is not used; nil when it may be. Of the interfaces of Linux the cellular ones count as expensive.
    func exclusion(of interface: NetworkInterface) -> Exclusion? {
        guard interface.isCellular else { return nil }
        return allowsCellular ? allowsExpensive ? nil : .expensive : .cellular
    }
}
