import Glibc

extension Resolver {
    /// Asks the system's resolver (`getaddrinfo`), which sorts the addresses by RFC 6724. Blocks.
    package static let systemLookup: Lookup = { name, family in
        var hints = addrinfo()
        hints.ai_family = family.number
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(name, nil, &hints, &list)
        guard result == 0 else { return .failure(failure(of: result)) }
        defer { freeaddrinfo(list) }
        var addresses: [IPAddress] = []
        var next = list
        while let info = next {
            next = info.pointee.ai_next
            if let address = address(in: info.pointee), !addresses.contains(address) { addresses.append(address) }
        }
        return addresses.isEmpty ? .failure(.notFound("no address")) : .success(addresses)
    }

    private static func address(in info: addrinfo) -> IPAddress? {
        guard let pointer = info.ai_addr, info.ai_addrlen <= socklen_t(MemoryLayout<sockaddr_storage>.size) else {
            return nil
        }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { buffer in
            buffer.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: Int(info.ai_addrlen)))
        }
        guard case .ip(let address, _) = SocketAddress(storage) else { return nil }
        return address
    }

    private static func failure(of code: Int32) -> ResolverFailure {
        // Glibc's EAI_NODATA and EAI_ADDRFAMILY: the name exists without such an address.
        let absent: Set<Int32> = [EAI_NONAME, -5, -9]
        let text = code == EAI_SYSTEM ? SystemCalls.text(ofError: errno) : String(cString: gai_strerror(code))
        return absent.contains(code) ? .notFound(text) : .failed(text)
    }
}
