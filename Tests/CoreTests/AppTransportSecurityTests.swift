import Testing

@testable import LoadingKitCore

@Suite struct AppTransportSecurityTests {
    @Test func localHostsMayBeLoadedInCleartext() {
        let policy = AppTransportSecurity()
        let allowed = [
            "localhost", "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.1.1", "::1", "fe80::1%eth0", "fd00::1", "fc12::1", "::ffff:10.0.0.1", "printer.local", "intranet",
            "a.localhost", "localhost.", "127.1", "127.1.", "0x7f000001", "017700000001", "2130706433", "0xA.0.0.1",
            "192.168.1", "::ffff:127.0.0.1", "fe80::1%no-such-interface",
        ]
        let refused = [
            "example.org", "8.8.8.8", "172.15.0.1", "172.32.0.1", "192.169.0.1", "2001:db8::1", "::ffff:8.8.8.8",
            "local.example.org", "127.0.0.1.example.org", "3405803777", "3405803777.", "0xcb007101", "0313.0.0161.1",
            "203.28929", "0XCB.0.0x71.1", "0", "::", "::ffff:203.0.113.1", "::203.0.113.1", "::127.0.0.1",
            "64:ff9b::203.0.113.1", "64:ff9b::127.0.0.1", "2001:db8::1%1",
            // No addresses, and no names of a local network either, whatever a proxy makes of them.
            "4294967296", "0x100000000", "040000000000", "09", "127.0.0.1%lo", "example。org", "３４０５８０３７７７",
        ]
        #expect(allowed.filter { !policy.allowsCleartext(to: $0) }.isEmpty)
        #expect(refused.filter { policy.allowsCleartext(to: $0) }.isEmpty)
    }

    @Test func exceptionsCoverSubdomains() {
        let policy = AppTransportSecurity(exceptionDomains: ["Example.org": .init()])
        #expect(policy.allowsCleartext(to: "example.org"))
        #expect(policy.allowsCleartext(to: "a.b.EXAMPLE.org"))
        #expect(!policy.allowsCleartext(to: "badexample.org"))
        #expect(AppTransportSecurity(allowsArbitraryLoads: true).allowsCleartext(to: "example.org"))
        let address = AppTransportSecurity(exceptionDomains: ["203.28929": .init()])
        #expect(address.allowsCleartext(to: "3405803777") && !address.allowsCleartext(to: "203.0.113.2"))
        let strict = AppTransportSecurity(
            allowsArbitraryLoads: true, exceptionDomains: ["Bücher.example": .init(allowsInsecureHTTPLoads: false)])
        #expect(!strict.allowsCleartext(to: "a.xn--bcher-kva.example") && strict.allowsCleartext(to: "a.example"))
        for domain in ["bücher.example:80", "a@bücher.example"] {
            let policy = AppTransportSecurity(
                allowsArbitraryLoads: true, exceptionDomains: [domain: .init(allowsInsecureHTTPLoads: false)])
            #expect(policy.allowsCleartext(to: "xn--bcher-kva.example"), "\(domain)")
        }
    }

    @Test func theLongestExceptionCounts() {
        let policy = AppTransportSecurity(
            allowsArbitraryLoads: true,
            exceptionDomains: [
                "example.org": .init(allowsInsecureHTTPLoads: false, minimumTLSVersion: .TLSv13),
                "old.example.org": .init(includesSubdomains: false),
            ])
        #expect(policy.allowsCleartext(to: "elsewhere.org") && policy.allowsCleartext(to: "old.example.org"))
        #expect(!policy.allowsCleartext(to: "example.org") && !policy.allowsCleartext(to: "a.old.example.org"))
        #expect(!policy.allowsCleartext(to: "example.org."))
        #expect(policy.minimumTLSVersion(for: "www.example.org") == .TLSv13)
        #expect(policy.minimumTLSVersion(for: "old.example.org") == nil)
    }

    @Test func localNetworkingCanBeRefused() {
        let policy = AppTransportSecurity(dictionary: ["NSAllowsLocalNetworking": false])
        #expect(["printer.local", "10.0.0.1", "intranet"].filter(policy.allowsCleartext).isEmpty)
        #expect(
            ["localhost", "localhost.", "127.0.0.1", "127.1", "::1", "::ffff:127.0.0.1"].filter {
                !policy.allowsCleartext(to: $0)
            }.isEmpty)
    }

    @Test func theInfoPlistIsRead() {
        let exceptions: [String: Any] = [
            "a.org": ["NSExceptionAllowsInsecureHTTPLoads": true, "NSIncludesSubdomains": true],
            "b.org": ["NSExceptionMinimumTLSVersion": "TLSv1.3"],
            "c.org": "nonsense",
        ]
        let policy = AppTransportSecurity(infoDictionary: [
            "NSAppTransportSecurity": ["NSExceptionDomains": exceptions]
        ])
        let expected: [String: AppTransportSecurity.ExceptionDomain] = [
            "a.org": .init(),
            "b.org": .init(includesSubdomains: false, allowsInsecureHTTPLoads: false, minimumTLSVersion: .TLSv13),
            "c.org": .init(allowsInsecureHTTPLoads: false),
        ]
        #expect(policy == AppTransportSecurity(exceptionDomains: expected))
        #expect(
            AppTransportSecurity(infoDictionary: ["NSAppTransportSecurity": ["NSAllowsArbitraryLoads": true]])
                .allowsArbitraryLoads)
        #expect(AppTransportSecurity(infoDictionary: ["NSAppTransportSecurity": 7]) == AppTransportSecurity())
        // The general permission does not apply to a domain whose entry is a mistake.
        let arbitrary = AppTransportSecurity(dictionary: [
            "NSAllowsArbitraryLoads": true, "NSExceptionDomains": ["c.org": [true]],
        ])
        for host in ["c.org", "a.c.org"] {
            #expect(!arbitrary.allowsCleartext(to: host), "\(host)")
            #expect(arbitrary.requiresForwardSecrecy(of: host) && arbitrary.requiresStrongCertificate(of: host))
        }
        #expect(arbitrary.allowsCleartext(to: "d.org"))
    }
}
