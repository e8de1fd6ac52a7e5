import LoadingKitTransport

/// Which hosts are this machine or its own network, so that cleartext to them crosses no public one.
enum LocalHost {
    static func isLocal(_ host: String) -> Bool {
        if let address = address(host) { return address.isLocal }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        return !name.contains(".") || name.lowercased().hasSuffix(".local") || name.lowercased().hasSuffix(".localhost")
    }

    /// Whether a host is an address, not a name.
    static func isAddress(_ host: String) -> Bool { address(host) != nil }

    /// Whether a host is the loopback of the machine that asks.
    static func isThisMachine(_ host: String) -> Bool {
        if let address = address(host) { return address.isLoopback }
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// An address whose zone says nothing here: whether there is such an interface does not count.
    private static func address(_ host: String) -> IPAddress? { IPAddress(String(host.prefix { $0 != "%" })) }
}

extension IPAddress {
    var isLoopback: Bool {
        bytes.count == 4 ? bytes.first == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    var isLocal: Bool {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        if bytes.count == 4 { return Self.isLocalV4(bytes[...]) }
        if bytes.starts(with: mapped) { return Self.isLocalV4(bytes.dropFirst(12)) }
        // fc00::/7 (RFC 4193) and fe80::/10 (RFC 4291 §2.5.6).
        return isLoopback || bytes.starts(with: [0xfc]) || bytes.starts(with: [0xfd])
            || (bytes.first == 0xfe && bytes.dropFirst().first.map { $0 & 0xc0 == 0x80 } == true)
    }

    /// RFC 1122 loopback, RFC 1918 private use, RFC 3927 link-local.
    private static func isLocalV4(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, let second = bytes.dropFirst().first else { return false }
        return first == 127 || first == 10 || (first == 172 && second & 0xf0 == 16)
            || (first == 192 && second == 168) || (first == 169 && second == 254)
    }
}
