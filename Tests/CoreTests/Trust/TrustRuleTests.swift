import LoadingKitCore
import LoadingKitLoopbackServer
import Testing

/// The rules for certificates' names and for authorities (RFC 9525 §6, RFC 5280 §4.2.1 and §6.1).
@Suite struct TrustRuleTests {
    private static func isTrusted(
        _ identity: ServerIdentity, below root: CertificateAuthority, as host: String, isStrict: Bool = false
    ) throws -> Bool {
        let chain = try X509Certificate.certificates(pemRepresentation: identity.certificatePEM)
        var trust = ServerTrust(certificates: chain, host: host)
        trust.anchorCertificates = try X509Certificate.certificates(pemRepresentation: root.certificatePEM)
        trust.isStrict = isStrict
        return trust.isTrusted
    }

    @Test("a certificate is for the hosts that its alternative names match")
    func names() throws {
        let root = try CertificateAuthority()
        let cases: [(String, [String], Bool)] = [
            ("a.test", ["a.test"], true), ("A.tesT", ["a.TEST"], true), ("b.test", ["a.test", "b.test"], true),
            ("b.a.test", ["a.test"], false), ("a.test", ["b.a.test"], false), ("ba.test", ["a.test"], false),
            // A wildcard is one whole label, the first.
            ("b.a.test", ["*.a.test"], true), ("a.test", ["*.a.test"], false), ("c.b.a.test", ["*.a.test"], false),
            ("c.b.a.test", ["c.*.a.test"], false), ("bc.a.test", ["b*.a.test"], false),
            ("xn--4ca.a.test", ["xn--*.a.test"], false), ("test", ["*"], false),
            // An address is no DNS name, and the common name is no name at all.
            ("192.0.2.1", ["192.0.2.1"], false), ("192.0.2.1", ["*.0.2.1"], false), ("cn.test", [], false),
            ("cn.test", ["a.test"], false), ("192.0.2.7", [], true), ("2001:db8::7", [], true),
            ("192.0.2.8", [], false), ("2001:db8::8", [], false),
        ]
        for (host, names, isTrusted) in cases {
            let template = CertificateTemplate(
                commonName: "cn.test", dnsNames: names, ipAddresses: ["192.0.2.7", "2001:db8::7"])
            let identity = try root.issue(template)
            #expect(try Self.isTrusted(identity, below: root, as: host) == isTrusted, "\(host) \(names)")
        }
    }

    @Test("only an authority issues, as far down as those above it allow")
    func authorities() throws {
        let ca = CertificateTemplate.Usage.authority(pathLength: nil)
        let cases: [([CertificateTemplate.Usage], Bool)] = [
            ([], true), ([ca], true), ([ca, ca, ca], true), ([.authority(pathLength: 0)], true),
            ([.authority(pathLength: 0), ca], false), ([.authority(pathLength: 1), ca], true),
            ([.authority(pathLength: 1), ca, ca], false),
            // What is below cannot allow more.
            ([.authority(pathLength: 0), .authority(pathLength: 5)], false),
            ([.server], false), ([.client], false), ([.unspecified], false), ([ca, .server], false),
        ]
        for (usages, isTrusted) in cases {
            let root = try CertificateAuthority()
            var issuer = root
            for (index, usage) in usages.enumerated() {
                var template = CertificateAuthority.authorityTemplate("Authority \(index)")
                template.usage = usage
                issuer = try issuer.intermediate(template)
            }
            #expect(try Self.isTrusted(issuer.issue(), below: root, as: "localhost") == isTrusted, "\(usages)")
        }
    }

    @Test("an authority with constraints issues for the names that they allow")
    func nameConstraints() throws {
        let cases: [(String, [String], Bool)] = [
            ("permitted;DNS:a.test", ["a.test"], true), ("permitted;DNS:a.test", ["b.a.test"], true),
            ("permitted;DNS:a.test", ["ba.test"], false), ("permitted;DNS:b.a.test", ["a.test"], false),
            ("permitted;DNS:a.test", ["a.test", "b.test"], false), ("excluded;DNS:a.test", ["b.test"], true),
            ("excluded;DNS:a.test", ["a.test"], false), ("excluded;DNS:a.test", ["b.a.test"], false),
            ("permitted;DNS:a.test,excluded;DNS:b.a.test", ["b.a.test"], false),
            ("permitted;DNS:a.test,excluded;DNS:b.a.test", ["c.a.test"], true),
            // Those of another kind of name say nothing.
            ("permitted;IP:192.0.2.0/255.255.255.0", ["a.test"], true), ("excluded;DNS:a.test", ["192.0.2.1"], true),
            ("permitted;IP:192.0.2.0/255.255.255.0", ["192.0.2.1"], true),
            ("permitted;IP:192.0.2.0/255.255.255.0", ["192.0.3.1"], false),
            ("excluded;IP:2001:db8::/ffff:ffff::", ["2001:db8::1"], false),
        ]
        for (constraints, names, isTrusted) in cases {
            let root = try CertificateAuthority()
            var template = CertificateAuthority.authorityTemplate("Constrained")
            template.nameConstraints = constraints
            let isAddress = names[0].hasSuffix("1")
            let identity = try root.intermediate(template).issue(
                CertificateTemplate(
                    commonName: "server", dnsNames: isAddress ? [] : names, ipAddresses: isAddress ? names : []))
            let trusted = try Self.isTrusted(identity, below: root, as: names[0])
            #expect(trusted == isTrusted, "\(constraints) \(names)")
        }
    }

    @Test("dates count for each certificate of the chain, the root among them")
    func dates() throws {
        var old = CertificateAuthority.authorityTemplate("Old")
        old.notAfter = old.notBefore + 1
        let (root, fine) = (try CertificateAuthority(old), try CertificateAuthority())
        #expect(try !Self.isTrusted(root.issue(), below: root, as: "localhost"))
        #expect(try !Self.isTrusted(fine.intermediate(old).issue(), below: fine, as: "localhost"))
        for template in [CertificateTemplate.expired, .notYetValid] {
            #expect(try !Self.isTrusted(fine.issue(template), below: fine, as: "localhost"))
        }
    }

    @Test("a root whose basic constraints are not critical is refused by strict evaluation alone")
    func strict() throws {
        var template = CertificateAuthority.authorityTemplate("Of old")
        template.hasCriticalBasicConstraints = false
        let (old, fine) = (try CertificateAuthority(template), try CertificateAuthority())
        for isStrict in [false, true] {
            #expect(try Self.isTrusted(old.issue(), below: old, as: "localhost", isStrict: isStrict) == !isStrict)
            #expect(try Self.isTrusted(fine.issue(), below: fine, as: "localhost", isStrict: isStrict))
        }
    }
}
