import LoadingKitTransport

/// Detects hosts on this machine or in its local network: cleartext to them does not cross a public network.
enum LocalHost {
    static func isLocal(_ host: String) -> Bool {
        if let address = IPAddress(withoutZone: host) { return address.isLocal }
        let name = canonical(host)
        return isUnqualified(name) || name.hasSuffix(".local") || name.hasSuffix(".localhost")
    }

    /// Whether a name has no domain, which places it in this machine's network. A number does not count, because a
    /// proxy may interpret it as an address. A name in another script does not count either, because it may contain
    /// that script's dots.
    private static func isUnqualified(_ name: String) -> Bool {
        name.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: ".") } && !IPAddress.endsInNumber(name)
    }

    /// Whether a host is this machine's loopback address.
    static func isThisMachine(_ host: String) -> Bool {
        if let address = IPAddress(withoutZone: host) { return address.isLoopback }
        let name = canonical(host)
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// A host in lower case and without the root's dot; an address in the system's form.
    static func canonical(_ host: String) -> String {
        IPAddress.canonical((host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased())
    }
}

extension IPAddress {
    var isLoopback: Bool {
        if let mappedV4 { return mappedV4.isLoopback }
        let bytes = bytes
        return bytes.count == 4 ? bytes.first == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    var isLocal: Bool {
        if let mappedV4 { return mappedV4.isLocal }
        let bytes = bytes
        if bytes.count == 4 { return Self.isLocalV4(bytes[...]) }
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
