import Testing

@testable import LoadingKitCore

@Suite struct AppTransportSecurityTests {
    @Test func localHostsMayBeLoadedInCleartext() {
        let policy = AppTransportSecurity()
        let allowed = [
            "localhost", "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "169.254.1.1", "::1", "fe80::1%eth0", "fd00::1", "fc12::1", "::ffff:10.0.0.1", "printer.local", "intranet",
            "a.localhost",
        ]
        let refused = [
            "example.org", "8.8.8.8", "172.15.0.1", "172.32.0.1", "192.169.0.1", "2001:db8::1", "::ffff:8.8.8.8",
            "local.example.org", "127.0.0.1.example.org",
        ]
        #expect(allowed.filter { !policy.allowsCleartext(to: $0) }.isEmpty)
        #expect(refused.filter { policy.allowsCleartext(to: $0) }.isEmpty)
    }

    @Test func exceptionsCoverSubdomains() {
        let policy = AppTransportSecurity(exceptionDomains: ["Example.org"])
        #expect(policy.allowsCleartext(to: "example.org"))
        #expect(policy.allowsCleartext(to: "a.b.EXAMPLE.org"))
        #expect(!policy.allowsCleartext(to: "badexample.org"))
        #expect(AppTransportSecurity(allowsArbitraryLoads: true).allowsCleartext(to: "example.org"))
    }

    @Test func theInfoPlistIsRead() {
        let exceptions: [String: Any] = [
            "a.org": ["NSExceptionAllowsInsecureHTTPLoads": true],
            "b.org": ["NSExceptionAllowsInsecureHTTPLoads": false],
            "c.org": "nonsense",
        ]
        let policy = AppTransportSecurity(infoDictionary: [
            "NSAppTransportSecurity": ["NSExceptionDomains": exceptions]
        ])
        #expect(policy == AppTransportSecurity(exceptionDomains: ["a.org"]))
        #expect(
            AppTransportSecurity(infoDictionary: ["NSAppTransportSecurity": ["NSAllowsArbitraryLoads": true]])
                .allowsArbitraryLoads)
        #expect(AppTransportSecurity(infoDictionary: ["NSAppTransportSecurity": 7]) == AppTransportSecurity())
    }
}
