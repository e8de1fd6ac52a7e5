import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// App Transport Security's demands on TLS.
@Suite struct TransportSecurityTests {
    private struct Case: Sendable {
        var what: String
        var rules: AppTransportSecurity
        var outcome: Outcome
    }

    private static func rules(_ exception: [String: Any]) -> AppTransportSecurity {
        AppTransportSecurity(dictionary: ["NSExceptionDomains": ["localhost": exception]])
    }

    private static func load(
        _ tls: TLSServerOptions, _ authority: CertificateAuthority, _ rules: AppTransportSecurity
    ) async throws -> (Outcome, String) {
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { _ in .text("a") }
        defer { server.stop() }
        let session = makeSession {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.appTransportSecurity = rules
        }
        defer { session.invalidateAndCancel() }
        let request = try BothVersions.request(server, "/")
        return try await withTimeout {
            do {
                let (data, _) = try await session.data(for: request)
                return (.ok(String(decoding: data, as: UTF8.self)), "")
            } catch let error as URLError {
                return (.failed(error.code), error.localizedDescription)
            }
        }
    }

    /// Through a proxy on loopback, so that nothing leaves this machine even where the rule is broken.
    @Test(arguments: [
        "3405803777", "0xcb007101", "0313.0.0161.1", "203.28929", "203.0.113.1.", "%33405803777", "4294967296",
        "[::ffff:203.0.113.1]", "[64:ff9b::203.0.113.1]",
    ])
    func addressesInNumbersAreNoLocalNames(host: String) async throws {
        let proxy = try LoopbackServer { _ in .text("proxied") }
        defer { proxy.stop() }
        let session = makeSession {
            $0.appTransportSecurity = AppTransportSecurity()
            $0.connectionProxyDictionary = [
                kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPPort: Int(proxy.address.port ?? 0),
            ]
        }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "http://\(host)/"))
        #expect(await session.outcome(URLRequest(url: url)) == .failed(.appTransportSecurityRequiresSecureConnection))
        #expect(proxy.requests.count == 0)
    }

    /// What a session may not load it does not get from the cache either, where another session has stored it.
    @Test(arguments: [
        URLRequest.CachePolicy.useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad,
    ])
    func aStoredResponseIsNotAllowedEither(_ policy: URLRequest.CachePolicy) async throws {
        let proxy = try LoopbackServer { _ in .text("stored").adding("Cache-Control", "max-age=600") }
        defer { proxy.stop() }
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let sessions = [true, false].map { allowsAll in
            makeSession {
                $0.urlCache = cache
                $0.appTransportSecurity = AppTransportSecurity(allowsArbitraryLoads: allowsAll)
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesHTTPEnable: true, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                    kCFNetworkProxiesHTTPPort: Int(proxy.address.port ?? 0),
                ]
            }
        }
        defer { for session in sessions { session.invalidateAndCancel() } }
        let url = try #require(URL(string: "http://a.example/"))
        #expect(await sessions[0].outcome(URLRequest(url: url)) == .ok("stored"))
        let request = URLRequest(url: url, cachePolicy: policy)
        for _ in 0..<2 {
            #expect(await sessions[0].outcome(request) == .ok("stored"))
            #expect(await sessions[1].outcome(request) == .failed(.appTransportSecurityRequiresSecureConnection))
        }
        #expect(proxy.requests.count == 1)
    }

    @Test func allWaysToWriteAnAddressAreOneOrigin() async throws {
        let server = try LoopbackServer { request in .text(request.fields[.host] ?? "") }
        defer { server.stop() }
        let session = makeSession { $0.appTransportSecurity = AppTransportSecurity() }
        defer { session.invalidateAndCancel() }
        let port = try #require(server.address.port)
        for host in ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "017700000001", "0x7F.1.", "12%37.1"] {
            let url = try #require(URL(string: "http://\(host):\(port)/"))
            let (data, _) = try await withTimeout { try await session.data(from: url) }
            #expect(String(decoding: data, as: UTF8.self) == "127.0.0.1:\(port)", "\(host)")
        }
        #expect(server.openings.count == 1)
    }

    @Test func forwardSecrecy() async throws {
        let authority = try CertificateAuthority()
        var template = CertificateTemplate()
        template.key = .rsa(bits: 2048)
        var tls = TLSServerOptions(try authority.issue(template))
        tls.maximumVersion = .v1_2
        let refused = Outcome.failed(.secureConnectionFailed)
        let cases = [
            Case(what: "default", rules: AppTransportSecurity(), outcome: refused),
            Case(what: "an exception without it", rules: Self.rules([:]), outcome: refused),
            Case(
                what: "allowed", rules: Self.rules(["NSExceptionRequiresForwardSecrecy": false]), outcome: .ok("a")),
            Case(
                what: "allowed elsewhere",
                rules: AppTransportSecurity(exceptionDomains: ["a.test": .init(requiresForwardSecrecy: false)]),
                outcome: refused),
            Case(what: "everything", rules: AppTransportSecurity(allowsArbitraryLoads: true), outcome: .ok("a")),
        ]
        for (suites, hasForwardSecrecy) in [("AES128-GCM-SHA256", false), ("ECDHE-RSA-AES128-GCM-SHA256", true)] {
            tls.cipherSuites = suites
            for test in cases {
                let (outcome, words) = try await Self.load(tls, authority, test.rules)
                #expect(outcome == (hasForwardSecrecy ? .ok("a") : test.outcome), "\(test.what)")
                if outcome == refused { #expect(words.contains("requiresForwardSecrecy"), "\(words)") }
            }
        }
    }

    @Test func strongCertificates() async throws {
        let authority = try CertificateAuthority()
        // A client of OpenSSL does not take part in a handshake with a shorter elliptic key.
        var weakDigest = CertificateTemplate()
        weakDigest.digest = .sha224
        for template in [weakDigest] {
            let tls = TLSServerOptions(try authority.issue(template))
            let refused = Outcome.failed(.serverCertificateUntrusted)
            let weakAllowed = AppTransportSecurity(
                exceptionDomains: ["localhost": .init(requiresStrongCertificates: false)])
            let cases = [
                Case(what: "default", rules: AppTransportSecurity(), outcome: refused),
                Case(what: "allowed", rules: weakAllowed, outcome: .ok("a")),
                Case(what: "everything", rules: AppTransportSecurity(allowsArbitraryLoads: true), outcome: .ok("a")),
            ]
            for test in cases {
                let (outcome, words) = try await Self.load(tls, authority, test.rules)
                #expect(outcome == test.outcome, "\(test.what): \(words)")
                if outcome == refused { #expect(words.contains("requiresStrongCertificates"), "\(words)") }
            }
        }
    }
}
