import Foundation
import LoadingKitCore
import TestSupport
import Testing

@Suite struct ServerTrustTests {
    private func certificates(_ pem: String) throws -> [X509Certificate] {
        try X509Certificate.certificates(pemRepresentation: pem)
    }

    @Test("a certificate says what is in it")
    func certificate() throws {
        let authority = try CertificateAuthority()
        var template = CertificateTemplate.names("a.test", "*.b.test")
        template.ipAddresses = ["192.0.2.1", "2001:db8::1"]
        template.notBefore = 1_700_000_000
        template.notAfter = 4_000_000_000
        let identity = try authority.issue(template)
        let certificate = try X509Certificate(pemRepresentation: identity.certificatePEM)
        #expect(certificate.subject == "CN=a.test" && certificate.issuer == "CN=LoadingKit Loopback CA")
        #expect(certificate.dnsNames == ["a.test", "*.b.test"])
        #expect(certificate.ipAddresses == ["192.0.2.1", "2001:db8::1"])
        #expect(certificate.notBefore == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(certificate.notAfter == Date(timeIntervalSince1970: 4_000_000_000))
        #expect(certificate.serialNumber.count == 16)
        #expect(certificate.sha256Fingerprint.count == 32)
        #expect(try X509Certificate(derRepresentation: certificate.derRepresentation) == certificate)
        // The same key in another certificate, and another key.
        let client = try ClientIdentity(pemRepresentation: identity.certificatePEM + identity.privateKeyPEM)
        #expect(client.certificate.publicKeySHA256 == certificate.publicKeySHA256)
        #expect(certificate.publicKeySHA256.count == 32)
        let other = try X509Certificate(pemRepresentation: try authority.issue(template).certificatePEM)
        #expect(other.publicKeySHA256 != certificate.publicKeySHA256)
    }

    @Test("what is no certificate is refused")
    func malformed() throws {
        let der = try CertificateAuthority().certificateDER()
        for bytes in [[], [0], Array(der.dropLast()), der + [0]] {
            #expect(throws: X509CertificateError.self) { try X509Certificate(derRepresentation: Data(bytes)) }
        }
        for text in ["", "text", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            #expect(throws: X509CertificateError.self) { try X509Certificate(pemRepresentation: text) }
        }
    }

    private struct Case {
        var what: String
        var chain: [X509Certificate]
        var anchors: [X509Certificate]
        var host: String? = "localhost"
        var date: Date?
        var reason: ServerTrustError.Reason?
        var code = URLError.Code.serverCertificateUntrusted
        var words = ""
    }

    private func cases() throws -> [Case] {
        let authority = try CertificateAuthority()
        let intermediate = try authority.intermediate()
        let fine = try certificates(try intermediate.issue().certificatePEM)
        let root = try certificates(authority.certificatePEM)
        let own = try certificates(try ServerIdentity.selfSigned().certificatePEM)
        var weakKey = CertificateTemplate()
        weakKey.key = .p224
        var weakDigest = CertificateTemplate()
        weakDigest.digest = .sha224
        func issued(_ template: CertificateTemplate) throws -> [X509Certificate] {
            try certificates(try authority.issue(template).certificatePEM)
        }
        return [
            Case(what: "fine", chain: fine, anchors: root),
            Case(what: "any host", chain: fine, anchors: root, host: nil),
            Case(what: "an address", chain: fine, anchors: root, host: "::1"),
            Case(what: "the intermediate is trusted", chain: fine, anchors: [fine[1]]),
            Case(what: "the server's own is trusted", chain: fine, anchors: [fine[0]]),
            Case(what: "self-signed and trusted", chain: own, anchors: own),
            Case(
                what: "another host", chain: fine, anchors: root, host: "other.test", reason: .hostMismatch,
                words: "another host"),
            Case(
                what: "no host", chain: fine, anchors: root, host: "", reason: .hostMismatch, words: "another host"),
            Case(
                what: "the past", chain: fine, anchors: root, date: Date(timeIntervalSince1970: 1_000_000_000),
                reason: .notYetValid, code: .serverCertificateNotYetValid, words: "clock"),
            Case(
                what: "the future", chain: fine, anchors: root, date: Date(timeIntervalSince1970: 4_000_000_000),
                reason: .expired, code: .serverCertificateHasBadDate, words: "expired"),
            Case(
                what: "beyond all dates", chain: fine, anchors: root, date: .distantFuture, reason: .expired,
                code: .serverCertificateHasBadDate),
            Case(
                what: "no intermediate", chain: [fine[0]], anchors: root, reason: .unknownAuthority,
                code: .serverCertificateHasUnknownRoot, words: "tlsTrustRoots"),
            Case(
                what: "no anchors", chain: fine, anchors: [], reason: .unknownAuthority,
                code: .serverCertificateHasUnknownRoot),
            Case(
                what: "self-signed", chain: own, anchors: root, reason: .selfSigned, words: "CN=localhost"),
            Case(what: "nothing", chain: [], anchors: root, reason: .other, words: "cannot be read"),
            Case(
                what: "a short key", chain: try issued(weakKey), anchors: root, reason: .weak, words: "224 bits"),
            Case(
                what: "a weak signature", chain: try issued(weakDigest), anchors: root, reason: .weak,
                words: "SHA-256"),
            Case(
                what: "a client's", chain: try issued(.client("me")), anchors: root, host: nil, reason: .other,
                words: "purpose"),
        ]
    }

    @Test("each way in which a chain is not to be trusted has its reason, its code and its words")
    func evaluation() throws {
        for test in try cases() {
            var trust = ServerTrust(certificates: test.chain, host: test.host)
            trust.anchorCertificates = test.anchors
            trust.verifyDate = test.date
            do {
                let verified = try trust.evaluate()
                #expect(test.reason == nil, "\(test.what)")
                #expect(
                    verified.first == test.chain.first && !Set(verified).isDisjoint(with: test.anchors), "\(test.what)")
                #expect(trust.isTrusted)
            } catch {
                #expect(error.reason == test.reason && error.code == test.code, "\(test.what): \(error)")
                #expect(test.words.isEmpty || error.description.contains(test.words), "\(test.what): \(error)")
                #expect(!trust.isTrusted)
            }
        }
    }

    @Test("anchors are trusted in place of the system's, or besides")
    func anchors() throws {
        let authority = try CertificateAuthority()
        let chain = try certificates(try authority.issue().certificatePEM)
        var trust = ServerTrust(certificates: chain, host: "localhost")
        #expect(!trust.usesAnchorCertificatesOnly && !trust.isTrusted)
        let copy = trust
        trust.anchorCertificates = try certificates(authority.certificatePEM)
        #expect(trust.usesAnchorCertificatesOnly && trust.isTrusted && !copy.isTrusted)
        trust.usesAnchorCertificatesOnly = false
        #expect(trust.isTrusted)
        trust.requiresStrongCertificates = false
        #expect(trust.isTrusted)
    }

    @Test("where neither the program's anchors nor the system's trust a chain, the reason is that of the program's")
    func neither() throws {
        let authority = try CertificateAuthority()
        let chain = try certificates(try authority.issue().certificatePEM)
        var trust = ServerTrust(certificates: chain, host: "localhost")
        trust.anchorCertificates = try certificates(authority.certificatePEM)
        trust.usesAnchorCertificatesOnly = false
        trust.verifyDate = Date(timeIntervalSince1970: 4_000_000_000)
        let error = #expect(throws: ServerTrustError.self) { try trust.evaluate() }
        #expect(error?.reason == .expired)
    }

    @Test("an error names the certificate that is at fault, wherever the server put it")
    func atFault() throws {
        let authority = try CertificateAuthority()
        var old = CertificateAuthority.authorityTemplate("Old")
        old.notAfter = old.notBefore + 1
        let intermediate = try authority.intermediate(old)
        let chain = try certificates(try intermediate.issue().certificatePEM)
        for chain in [chain, [chain[0], try X509Certificate(pemRepresentation: authority.certificatePEM), chain[1]]] {
            var trust = ServerTrust(certificates: chain, host: "localhost")
            trust.anchorCertificates = try certificates(authority.certificatePEM)
            let error = #expect(throws: ServerTrustError.self) { try trust.evaluate() }
            #expect(error?.certificate?.subject == "CN=Old" && error?.depth == 1 && error?.reason == .expired)
        }
    }

    @Test("a chain of hundreds of certificates is judged, not followed without end")
    func hugeChain() throws {
        let authority = try CertificateAuthority()
        var chain = try certificates(try authority.issue().certificatePEM)
        let others = try (0..<10).flatMap { _ in
            try certificates(try authority.intermediate().certificatePEM)
        }
        for _ in 0..<50 { chain += others }
        var trust = ServerTrust(certificates: chain, host: "localhost")
        trust.anchorCertificates = try certificates(authority.certificatePEM)
        #expect(trust.isTrusted)
        trust.anchorCertificates = try certificates(try CertificateAuthority().certificatePEM)
        #expect(!trust.isTrusted)
    }
}
