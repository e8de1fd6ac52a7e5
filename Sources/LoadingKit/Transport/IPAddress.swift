import Glibc

/// An address of the Internet Protocol.
package enum IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// The 32 bits, the first octet most significant.
    case v4(UInt32)
    /// The 128 bits, and the interface's number for addresses of a link (0: none).
    case v6(high: UInt64, low: UInt64, zone: UInt32)

    /// The families that a name can have addresses in.
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

    /// An address as it is written: dotted quad, or IPv6 without brackets, perhaps with a zone.
    package init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
            return
        }
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var six = in6_addr()
        guard let address = parts.first, inet_pton(AF_INET6, String(address), &six) == 1 else { return nil }
        var zone: UInt32 = 0
        if parts.count == 2 {
            zone = UInt32(parts[1]) ?? if_nametoindex(String(parts[1]))
            guard zone != 0 else { return nil }
        }
        self.init(six, zone: zone)
    }

    /// The 4 or 16 bytes, in the order of the network; without the zone.
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
