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
