import Glibc
import TestSupport
import Testing

@testable import LoadingKitTransport

@Suite struct IPAddressTests {
    private static let documentation = IPAddress.v4(0xCB00_7101)  // 203.0.113.1

    private static func v6(_ high: UInt64, _ low: UInt64) -> IPAddress { .v6(high: high, low: low, zone: 0) }

    private static let addresses: [(String, IPAddress)] = [
        ("203.0.113.1", documentation), ("3405803777", documentation), ("0xcb007101", documentation),
        ("0XCB007101", documentation), ("0xcb.0.113.1", documentation), ("0313.0.0161.1", documentation),
        ("203.28929", documentation), ("203.0.28929", documentation), ("0xcB.0x0.0X71.0x1", documentation),
        ("031300070401", documentation), ("0000313.00.000161.01", documentation), ("203.0.113.1.", documentation),
        ("3405803777.", documentation),
        ("127.1", .loopback4), ("127.0.1", .loopback4), ("0x7f.1", .loopback4), ("0x7f000001", .loopback4),
        ("017700000001", .loopback4), ("2130706433", .loopback4), ("127.1.", .loopback4),
        ("0", .v4(0)), ("0x", .v4(0)), ("0.", .v4(0)), ("00", .v4(0)), ("4294967295", .v4(.max)),
        ("1.16777215", .v4(0x01FF_FFFF)),
        ("255.255.255.255", .v4(.max)),
        ("::1", .loopback6), ("0:0:0:0:0:0:0:1", .loopback6), ("2001:DB8::A", v6(0x2001_0DB8 << 32, 0xA)),
        ("::ffff:203.0.113.1", v6(0, 0xFFFF_CB00_7101)), ("::FFFF:cb00:7101", v6(0, 0xFFFF_CB00_7101)),
        ("::203.0.113.1", v6(0, 0xCB00_7101)), ("64:ff9b::203.0.113.1", v6(0x0064_FF9B << 32, 0xCB00_7101)),
        ("fe80::1%1", .v6(high: 0xFE80 << 48, low: 1, zone: 1)),
        ("fe80::1%lo", .v6(high: 0xFE80 << 48, low: 1, zone: 1)),
    ]

    private static let names = [
        "", ".", "..", "localhost", "example.com", "256.256.256.256", "4294967296", "0x100000000", "040000000000",
        "99999999999999999999999", "1.2.3.256", "1.2.65536", "1.16777216", "1.2.3.4.5", "1.2.3.4..", "1..2", ".1.2.3.4",
        "08", "1.2.3.09", "0x1g", "0xcb.0.113.g", "1.2.3.4x", "1.2.3.-4", "+1", " 1", "1 ", "1.2.3.4 ", "1.2.3.4\0",
        "a.1",
        "1.a", "x7f.1", "١٢٧.١", "１２７.１", ":", "::g", "1::2::3", "::1.", "[::1]", "::1\0", "::1%", "::1%\0",
        "::ffff:0x7f.1", "127.0.0.1%lo", "fe80::1%no-such-interface",
    ]

    @Test func whatIsAnAddress() {
        for (text, address) in Self.addresses { #expect(IPAddress(text) == address, "\(text)") }
        for text in Self.names { #expect(IPAddress(text) == nil, "\(text.debugDescription)") }
    }

    @Test func theZoneOfAnotherMachine() {
        #expect(IPAddress(withoutZone: "fe80::1%no-such-interface") == Self.v6(0xFE80 << 48, 1))
        #expect(IPAddress(withoutZone: "::1") == .loopback6 && IPAddress(withoutZone: "127.1") == .loopback4)
        #expect(IPAddress(withoutZone: "127.0.0.1%lo") == nil && IPAddress(withoutZone: "name%lo") == nil)
    }

    @Test func allWaysToWriteAHostAreOne() {
        let hosts = [
            ("3405803777", "203.0.113.1"), ("127.1.", "127.0.0.1"), ("0:0::1", "::1"), ("2001:DB8::0A", "2001:db8::a"),
            ("FE80:0::1%eth9", "fe80::1%eth9"), ("example.com", "example.com"), ("example.com.", "example.com."),
            ("4294967296", "4294967296"), ("", ""),
        ]
        for (host, canonical) in hosts { #expect(IPAddress.canonical(host) == canonical) }
    }

    @Test func whatEndsInANumber() {
        let numbers = [
            "1", "1.", "08", "a.1", "1.2.3.4.5", "4294967296", "256.256.256.256", "0x", "a.0xfFfFfFfFf", "a.0x1.",
        ]
        for host in numbers { #expect(IPAddress.endsInNumber(host), "\(host)") }
        let names = ["", ".", "a", "1a", "1.a", "0xg", "1.2.3.4..", "x1", "example.com", "a.1x", "0x1.com"]
        for host in names { #expect(!IPAddress.endsInNumber(host), "\(host)") }
    }

    @Test func addressesThatStandForOthers() {
        #expect(IPAddress("::ffff:203.0.113.1")?.mappedV4 == Self.documentation)
        for text in ["::203.0.113.1", "64:ff9b::203.0.113.1", "::1", "203.0.113.1", "1::ffff:203.0.113.1"] {
            #expect(IPAddress(text)?.mappedV4 == nil, "\(text)")
        }
    }

    /// What the system's resolver takes for an address without asking anyone.
    private static func systemAddress(_ text: String) -> IPAddress? {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(text, nil, &hints, &list) == 0, let list, let address = list.pointee.ai_addr else {
            return nil
        }
        defer { freeaddrinfo(list) }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(list.pointee.ai_addrlen)))
        }
        guard case .ip(let found, _)? = SocketAddress(storage) else { return nil }
        return found
    }

    @Test func whatTheSystemTakesForAnAddressIsOne() {
        var random = SeededGenerator(seed: 9)
        var found = 0
        let alphabet = Array("0123456789.....0x0xXabcfF::%")
        for _ in 0..<200_000 {
            let text = String(
                (0..<Int.random(in: 1...14, using: &random)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                })
            guard let address = Self.systemAddress(text) else { continue }
            found += 1
            #expect(IPAddress(text) == address, "\(text)")
            if !text.contains(":") { #expect(IPAddress.endsInNumber(text), "\(text)") }
        }
        #expect(found > 1_000)
        for (text, address) in Self.addresses where !text.hasSuffix(".") && text != "0x" {
            #expect(Self.systemAddress(text) == address, "\(text)")
        }
        for text in Self.names where !text.utf8.contains(0) { #expect(Self.systemAddress(text) == nil, "\(text)") }
    }
}
