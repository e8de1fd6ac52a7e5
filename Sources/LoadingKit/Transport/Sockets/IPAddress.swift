import Glibc
import LoadingKitPrimitives

package enum IPAddress: BitwiseCopyable, Hashable, Sendable, CustomStringConvertible {
    /// The 32 bits of an IPv4 address, the first octet most significant.
    case v4(UInt32)
    /// The 128 bits of an IPv6 address, and the interface's number for link-local addresses (0: none).
    case v6(high: UInt64, low: UInt64, zone: UInt32)

    package enum Family: Hashable, Sendable, CaseIterable {
        case v6, v4

        var number: Int32 {
            switch self {
            case .v4: AF_INET
            case .v6: AF_INET6
            }
        }
    }

    package static let loopback4 = IPAddress.v4(0x7F00_0001)
    package static let loopback6 = IPAddress.v6(high: 0, low: 1, zone: 0)

    package var family: Family {
        switch self {
        case .v4: .v4
        case .v6: .v6
        }
    }

    /// Whether the address is a link-local address (RFC 3927, RFC 4291 §2.5.6).
    package var isLinkLocal: Bool {
        switch self {
        case .v4(let bits): bits >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0xFE80 >> 6
        }
    }

    /// The literal address in a host, by the rules of URLs and the system's resolver; nil for a name.
    ///
    /// An IPv4 address may have each form that `inet_aton` and the URL standard accept: one to four numbers, the last
    /// of which fills the remaining bits (`127.1`), each decimal, octal (`0177`) or hexadecimal (`0x7f`), with or
    /// without the root's dot. An IPv6 address has no brackets, and may have a zone.
    ///
    /// Every rule that distinguishes addresses from names uses this initializer. A host that a rule took for a name and
    /// the resolver for an address would otherwise escape the rule.
    package init?(_ host: String) {
        if let bits = Self.v4(host.utf8[...]) {
            self = .v4(bits)
            return
        }
        // Most hosts are names. The system's functions would ignore the text behind a NUL.
        guard host.utf8.contains(UInt8(ascii: ":")), !host.utf8.contains(0) else { return nil }
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var six = in6_addr()
        guard let address = parts.first, inet_pton(AF_INET6, String(address), &six) == 1 else { return nil }
        var zone: UInt32 = 0
        if parts.count == 2 {
            let name = String(parts[1])
            if let number = UInt32(name) {
                zone = number
            } else {
                zone = if_nametoindex(name)
                guard zone != 0 else { return nil }
            }
        }
        self.init(six, zone: zone)
    }

    /// The literal address in a host without its zone, which need not be an interface of this machine.
    package init?(withoutZone host: String) {
        let hasZone = host.utf8.contains(UInt8(ascii: ":")) && host.utf8.contains(UInt8(ascii: "%"))
        self.init(hasZone ? String(host.prefix { $0 != "%" }) : host)
    }

    /// The address with these 4 or 16 bytes.
    init?(bytes: some Collection<UInt8>) {
        func number<Number: FixedWidthInteger>(_ bytes: some Sequence<UInt8>) -> Number {
            bytes.reduce(0) { $0 << 8 | Number($1) }
        }
        switch bytes.count {
        case 4: self = .v4(number(bytes))
        case 16: self = .v6(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8)), zone: 0)
        case _: return nil
        }
    }

    /// The address in the system's form; nil for other families.
    init?(_ address: UnsafePointer<sockaddr>) {
        let start = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self = .v4(UInt32(bigEndian: start.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            let six = start.loadUnaligned(as: sockaddr_in6.self)
            self.init(six.sin6_addr, zone: six.sin6_scope_id)
        case _: return nil
        }
    }

    /// Nil if the host does not begin with a digit, as most names.
    private static func v4(_ host: Substring.UTF8View) -> UInt32? {
        guard let first = host.first, ASCII.isDigit(first) else { return nil }
        var rest = withoutRoot(host)
        var bits: UInt64 = 0
        for place in 0..<4 {
            guard let dot = rest.firstIndex(of: UInt8(ascii: ".")) else {
                guard let last = number(rest), last >> (32 - 8 * place) == 0 else { return nil }
                return UInt32(truncatingIfNeeded: bits | last)
            }
            guard let number = number(rest[..<dot]), number <= 255 else { return nil }
            bits |= number << (24 - 8 * place)
            rest = rest[rest.index(after: dot)...]
        }
        return nil
    }

    /// A number of at most 32 bits, with the radix of its prefix. `0x` alone is 0 (URL standard, IPv4 parser).
    private static func number(_ text: Substring.UTF8View) -> UInt64? {
        guard !text.isEmpty else { return nil }
        var digits = text
        var radix: UInt64 = 10
        if digits.first == UInt8(ascii: "0"), digits.count > 1 {
            digits = digits.dropFirst()
            radix = 8
            if digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X") {
                digits = digits.dropFirst()
                radix = 16
            }
        }
        var number: UInt64 = 0
        for byte in digits {
            guard let digit = ASCII.hexDigit(byte), digit < radix else { return nil }
            number = number * radix + UInt64(digit)
            guard number <= UInt32.max else { return nil }
        }
        return number
    }

    private static func withoutRoot(_ host: Substring.UTF8View) -> Substring.UTF8View {
        host.last == UInt8(ascii: ".") ? host.dropLast() : host
    }

    /// Whether a host's last label is a number (URL standard, “ends in a number”). Such a host is an IPv4 address or
    /// cannot exist, since no top-level domain is a number.
    package static func endsInNumber(_ host: String) -> Bool {
        let bytes = withoutRoot(host.utf8[...])
        let label = bytes.lastIndex(of: UInt8(ascii: ".")).map { bytes[bytes.index(after: $0)...] } ?? bytes
        guard let first = label.first, ASCII.isDigit(first) else { return false }
        let isHexadecimal = label.starts(with: "0x".utf8) || label.starts(with: "0X".utf8)
        return label.dropFirst(isHexadecimal ? 2 : 0).allSatisfy { byte in
            isHexadecimal ? ASCII.isHexDigit(byte) : ASCII.isDigit(byte)
        }
    }

    /// The canonical form of a host: an address in the system's notation, or the unchanged name.
    package static func canonical(_ host: String) -> String {
        guard let address = IPAddress(withoutZone: host) else { return host }
        guard case .v6 = address, let zone = host.firstIndex(of: "%") else { return address.description }
        return address.description + host[zone...]
    }

    /// The address in an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2), to which the system connects.
    package var mappedV4: IPAddress? {
        guard case .v6(0, let low, _) = self, low >> 32 == 0xFFFF else { return nil }
        return .v4(UInt32(truncatingIfNeeded: low))
    }

    /// The 4 or 16 bytes in network order, without the zone.
    package var bytes: [UInt8] {
        switch self {
        case .v4(let bits): withUnsafeBytes(of: bits.bigEndian) { Array($0) }
        case .v6(let high, let low, _):
            withUnsafeBytes(of: high.bigEndian) { Array($0) } + withUnsafeBytes(of: low.bigEndian) { Array($0) }
        }
    }

    init(_ address: in6_addr, zone: UInt32) {
        let (high, low) = withUnsafeBytes(of: address) { bytes in
            (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self = .v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), zone: zone)
    }

    var in6: in6_addr {
        var address = in6_addr()
        guard case .v6(let high, let low, _) = self else { return address }
        withUnsafeMutableBytes(of: &address) { bytes in
            bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return address
    }

    package var description: String {
        switch self {
        case .v4(let bits): return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(_, _, let zone):
            var address = in6
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
                inet_ntop(AF_INET6, &address, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
            }
            guard zone != 0 else { return text ?? "::" }
            return "\(text ?? "::")%\(zone)"
        }
    }
}
