import LoadingKitCore
import LoadingKitTransport

/// The hosts that are reached without a proxy.
struct ProxyExceptions: Sendable {
    private enum Pattern: Sendable {
        case everything
        /// A domain and all its subdomains.
        case domain(String)
        /// The addresses that begin with these bits.
        case network(bytes: [UInt8], bits: Int)
    }

    private var patterns: [Pattern] = []
    /// Whether names without a dot are reached without a proxy.
    var includesSimpleNames = false

    /// The exceptions in the environment variable `no_proxy`, by curl's rules. Entries are separated by commas or
    /// spaces. `*` means every host. A name means itself and its subdomains, with or without a dot before it. An
    /// address may have a prefix length.
    init(list: String) { self.init(list.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)) }

    /// The exceptions in Apple's `ExceptionsList`: the same entries, and names may begin with `*.`.
    init(_ entries: [String]) { patterns = entries.compactMap(Self.pattern) }

    private static func pattern(_ entry: String) -> Pattern? {
        if entry == "*" { return .everything }
        if let network = network(entry) { return network }
        var name = entry.lowercased()[...]
        if name.hasPrefix("*") { name.removeFirst() }
        if name.hasPrefix(".") { name.removeFirst() }
        if name.hasSuffix(".") { name.removeLast() }
        return name.isEmpty ? nil : .domain(RuleDomain.canonical(String(name)))
    }

    private static func network(_ entry: String) -> Pattern? {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard var address = parts.first.map(String.init) else { return nil }
        if address.hasPrefix("["), address.hasSuffix("]") { address = String(address.dropFirst().dropLast()) }
        // `169.254/16` is short for `169.254.0.0/16`.
        let missing = address.contains(":") ? 0 : 3 - address.count { $0 == "." }
        if parts.count > 1, (1...3).contains(missing) { address += String(repeating: ".0", count: missing) }
        guard let bytes = IPAddress(withoutZone: address)?.bytes else { return nil }
        guard parts.count > 1 else { return .network(bytes: bytes, bits: bytes.count * 8) }
        guard let bits = Int(parts[1]), (0...bytes.count * 8).contains(bits) else { return nil }
        return .network(bytes: bytes, bits: bits)
    }

    /// - Parameter host: a name or an address, lowercase and without brackets.
    func contains(_ host: String) -> Bool {
        if patterns.isEmpty && !includesSimpleNames { return false }
        let address = IPAddress(withoutZone: host)
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if includesSimpleNames, address == nil, !IPAddress.endsInNumber(name), !name.utf8.contains(UInt8(ascii: ".")) {
            return true
        }
        return patterns.contains { pattern in
            switch pattern {
            case .everything: true
            case .domain(let domain): address == nil && (name == domain || name.hasSuffix("." + domain))
            case .network(let bytes, let bits):
                // An IPv4-mapped IPv6 address belongs to the networks of both families.
                [address, address?.mappedV4].contains { $0.map { Self.agree($0.bytes, bytes, bits) } ?? false }
            }
        }
    }

    /// Whether two addresses of one family begin with the same `bits` bits.
    private static func agree(_ a: [UInt8], _ b: [UInt8], _ bits: Int) -> Bool {
        guard a.count == b.count else { return false }
        for index in a.indices {
            let left = max(0, min(8, bits - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> left)
            if (a[index] ^ b[index]) & mask != 0 { return false }
        }
        return true
    }
}
