import CLoadingKitOpenSSL
import TestSupport
import Testing

@testable import LoadingKitTransport

/// What an authority may vouch for, held against the host that is connected to (RFC 5280 §4.2.1.10).
@Suite struct NameConstraintTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        var names: String
        var host: String?
        /// Those of the root and of the intermediate.
        var root: String?
        var intermediate: String?
        /// OpenSSL's number; nil where the chain is to be trusted.
        var code: Int32?
        /// What the failure says.
        var words = ""

        init(_ names: String, _ host: String?, root: String? = nil, _ intermediate: String? = nil) {
            (self.names, self.host, self.root, self.intermediate) = (names, host, root, intermediate)
        }

        func fails(_ code: Int32, _ words: String = "") -> Case {
            var copy = self
            (copy.code, copy.words) = (code, words)
            return copy
        }

        var testDescription: String { "\(host ?? "any") of \(names), \(root ?? "-"), \(intermediate ?? "-")" }
    }

    private static let wildcard = "DNS:*.example.com"
    private static let excluded = X509_V_ERR_EXCLUDED_VIOLATION
    private static let permitted = X509_V_ERR_PERMITTED_VIOLATION

    private static let cases: [Case] = [
        // A wildcard under an exclusion, by the root and by an intermediate.
        Case(wildcard, "bar.example.com", "excluded;DNS:bar.example.com")
            .fails(
                excluded,
                "name constraints of the authority CN=Intermediate exclude DNS:bar.example.com, and so the host"),
        Case(wildcard, "bar.example.com", root: "excluded;DNS:bar.example.com").fails(excluded, "CN=Root exclude"),
        Case(wildcard, "foo.example.com", "excluded;DNS:bar.example.com"),
        Case(wildcard, "abar.example.com", "excluded;DNS:bar.example.com"),
        Case(wildcard, nil, "excluded;DNS:bar.example.com"),
        Case(wildcard, "bar.example.com", root: "excluded;DNS:bar.example.com", "permitted;DNS:example.com")
            .fails(excluded),
        Case(wildcard, "foo.example.com", root: "excluded;DNS:bar.example.com", "permitted;DNS:example.com"),
        Case(
            wildcard, "bar.example.com",
            "permitted;DNS:example.com,excluded;DNS:foo.example.com,excluded;DNS:bar.example.com"
        )
        .fails(excluded, "DNS:bar.example.com"),
        // Case, and the root's dot.
        Case(wildcard, "BAR.Example.COM", "excluded;DNS:bar.example.com").fails(excluded),
        Case(wildcard, "bar.example.com", "excluded;DNS:Bar.EXAMPLE.com").fails(excluded),
        Case(wildcard, "bar.example.com.", "excluded;DNS:bar.example.com").fails(excluded),
        Case(wildcard, "bar.example.com", "excluded;DNS:bar.example.com.").fails(excluded),
        // Names in other scripts, as they are in the DNS.
        Case(wildcard, "xn--bcher-kva.example.com", "excluded;DNS:xn--bcher-kva.example.com").fails(excluded),
        Case(wildcard, "XN--BCHER-kva.example.com", "excluded;DNS:xn--bcher-KVA.example.com").fails(excluded),
        Case(wildcard, "bar.example.com", "excluded;DNS:bücher.example.com").fails(
            X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX),
        // Below a name, and not the name itself.
        Case(wildcard, "bar.example.com", "excluded;DNS:.bar.example.com"),
        Case("DNS:a.bar.example.com", "a.bar.example.com", "excluded;DNS:*.bar.example.com").fails(excluded),
        Case("DNS:*.bar.example.com", "a.bar.example.com", "excluded;DNS:.bar.example.com").fails(excluded),
        Case("DNS:*.bar.example.com", "a.bar.example.com", "excluded;DNS:a.bar.example.com").fails(excluded),
        // What is permitted alone.
        Case(wildcard, "bar.example.com", "permitted;DNS:foo.example.com").fails(permitted),
        Case(wildcard, "foo.example.com", "permitted;DNS:foo.example.com").fails(permitted),
        Case(wildcard, "foo.example.com", "permitted;DNS:example.com"),
        Case(wildcard, "foo.example.com", "permitted;DNS:.example.com"),
        Case(wildcard, "foo.example.com", "permitted;DNS:other.com").fails(permitted),
        Case(wildcard, "foo.example.com", "permitted;DNS:other.com,permitted;DNS:com"),
        Case(wildcard, "foo.example.com", root: "permitted;DNS:example.com", "permitted;DNS:bar.example.com")
            .fails(permitted),
        // Of another kind.
        Case(wildcard, "foo.example.com", "permitted;IP:10.0.0.0/255.0.0.0,excluded;email:example.com"),
        Case("IP:203.0.113.1", "203.0.113.1", "permitted;DNS:example.com,excluded;DNS:113.1"),
        // Addresses.
        Case("IP:203.0.113.1", "203.0.113.1", "excluded;IP:203.0.113.0/255.255.255.0").fails(excluded),
        Case("IP:203.0.113.1", "3405803777", "excluded;IP:203.0.113.0/255.255.255.0").fails(excluded),
        Case("IP:203.0.113.1", "203.0.113.1", "excluded;IP:203.0.114.0/255.255.255.0"),
        Case("IP:203.0.113.1", "3405803777", "permitted;IP:203.0.113.0/255.255.255.0"),
        Case("IP:2001:db8::1", "2001:db8::1", "excluded;IP:2001:db8::/ffff:ffff::").fails(excluded),
        Case("IP:2001:db8::1", "2001:db8::1", "permitted;IP:2001:db8::/ffff:ffff::"),
        Case("IP:fe80::1", "fe80::1%lo", "permitted;IP:fe80::/ffc0::"),
        Case("IP:2001:db8::1", "2001:db8::1", "permitted;IP:203.0.113.0/255.255.255.0").fails(permitted),
        Case("IP:::ffff:203.0.113.1", "::ffff:203.0.113.1", "excluded;IP:203.0.113.0/255.255.255.0")
            .fails(excluded, "exclude IP:203.0.113.0/255.255.255.0"),
        Case("IP:::ffff:203.0.113.1", "::ffff:203.0.113.1", "excluded;IP:203.0.114.0/255.255.255.0"),
        // No constraint says anything of a host that the certificate is not for.
        Case(wildcard, "bar.other.com", "excluded;DNS:bar.other.com").fails(X509_V_ERR_HOSTNAME_MISMATCH),
    ]

    @Test(arguments: cases)
    private func hosts(_ test: Case) async throws {
        let root = try TestCertificate("Root", isAuthority: true, nameConstraints: test.root)
        let intermediate = try TestCertificate(
            "Intermediate", issuer: root, isAuthority: true, nameConstraints: test.intermediate)
        let leaf = try TestCertificate("Leaf", alternativeNames: test.names, issuer: intermediate)
        let chain = try [leaf, intermediate, root].map { try #require(Certificate($0.certificate)) }
        var evaluation = TrustEvaluation(chain: Array(chain[..<2]), serverName: test.host)
        evaluation.anchors = [chain[2]]
        evaluation.trustsSystem = false
        let failure = evaluation.failure
        #expect(failure?.code == test.code, "\(String(describing: failure))")
        #expect(test.words.isEmpty || failure?.text.contains(test.words) == true, "\(failure?.text ?? "")")
        if test.code != nil { #expect(failure?.subject == "CN=Leaf" && failure?.depth == 0) }
        guard let host = test.host else { return }
        #expect(try await handshakeFailure(with: leaf, intermediate, trusting: root, host) == failure)
    }

    private func handshakeFailure(
        with leaf: TestCertificate, _ intermediate: TestCertificate, trusting root: TestCertificate, _ host: String
    ) async throws -> CertificateFailure? {
        var options = TLSPeer.Options()
        options.certificate = leaf
        options.chain = [intermediate]
        let peer = try TLSPeer(options) { _ = try $0.readToEnd() }
        defer { peer.stop() }
        let context = try TLSTests.context { $0.trustRoots = .pem(root.pem) }
        return await withLoop { loop in
            let client = Client(loop)
            let error = await client.connect(peer.endpoint, tls: (context, host))
            await client.close()
            guard let error else { return nil }
            guard case .certificate(let failure) = error.cause else {
                Issue.record("\(error)")
                return nil
            }
            return failure
        }
    }
}
