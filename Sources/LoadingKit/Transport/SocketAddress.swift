import Foundation

/// The address of a socket: IPv4, IPv6 or a path.
package struct SocketAddress: @unchecked Sendable, Hashable, CustomStringConvertible {  // plain bytes
    private let storage: sockaddr_storage
    private let length: socklen_t

    init(_ storage: sockaddr_storage, length: socklen_t) {
        self.storage = storage
        self.length = length
    }

    /// An address in text, IPv6 perhaps with a zone; nil for a name.
    package init?(literal: String, port: UInt16) {
        var hints = addrinfo()
        hints.ai_flags = Int32(AI_NUMERICHOST)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // `getaddrinfo` takes shortened forms such as `127.1`, which no URL means.
        guard literal.contains(":") || literal.split(separator: ".").count == 4,
            let first = try? SocketAddress.lookUp(literal, port, hints).first
        else { return nil }
        self = first
    }

    /// The path of a Unix-domain socket; nil when it is too long for one.
    init?(path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, !bytes.contains(0), bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            return nil
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { to in withUnsafeBytes(of: address) { to.copyMemory(from: $0) } }
        self.init(storage, length: socklen_t(MemoryLayout<sockaddr_un>.size))
    }

    struct LookupError: Error {
        let code: Int32
        let text: String
    }

    /// What `getaddrinfo` says; blocks unless the hints are numeric.
    static func lookUp(_ host: String, _ port: UInt16, _ hints: addrinfo) throws -> [SocketAddress] {
        var hints = hints
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            let text = code == EAI_SYSTEM ? String(cString: strerror(errno)) : String(cString: gai_strerror(code))
            throw LookupError(code: code, text: text)
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr { found.append(SocketAddress(copying: address, entry.ai_addrlen)) }
            next = entry.ai_next
        }
        return found
    }

    private init(copying address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        var storage = sockaddr_storage()
        let count = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
        }
        self.init(storage, length: socklen_t(count))
    }

    var family: Int32 { Int32(storage.ss_family) }
    package var isIPv6: Bool { family == AF_INET6 }
    package var isIPv4: Bool { family == AF_INET }

    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        withUnsafeBytes(of: storage) { bytes in
            bytes.baseAddress.map { body($0.assumingMemoryBound(to: sockaddr.self), length) }
        }
    }

    /// The address in text without its port, and the port; for a path, the path.
    package var text: (address: String, port: UInt16?) {
        guard isIPv4 || isIPv6 else {
            return (
                withUnsafeBytes(of: storage) { String(decoding: $0.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self) },
                nil
            )
        }
        var host = [CChar](repeating: 0, count: 128)
        var service = [CChar](repeating: 0, count: 16)
        let flags = Int32(NI_NUMERICHOST) | Int32(NI_NUMERICSERV)
        let code = withPointer {
            getnameinfo($0, $1, &host, socklen_t(host.count), &service, socklen_t(service.count), flags)
        }
        guard code == 0 else { return ("unknown", nil) }
        return (Self.string(host), UInt16(Self.string(service)))
    }

    private static func string(_ text: [CChar]) -> String {
        String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    package var description: String {
        let (address, port) = text
        guard let port else { return address }
        return isIPv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
    }

    private var bytes: [UInt8] { withUnsafeBytes(of: storage) { Array($0.prefix(Int(length))) } }

    package static func == (a: SocketAddress, b: SocketAddress) -> Bool { a.bytes == b.bytes }
    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
