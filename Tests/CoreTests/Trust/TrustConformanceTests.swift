import Foundation
import LoadingKitCore
import TestSupport
import Testing

/// The chains of x509-limbo, judged by ``ServerTrust``.
@Suite("X.509 conformance", .requires(.x509)) struct TrustConformanceTests {
    private struct Suite: Decodable {
        let testcases: [Case]
    }

    private struct Case: Decodable {
        struct PeerName: Decodable { let value: String }

        let id: String
        let validation_kind: String
        let trusted_certs: [String]
        let untrusted_intermediates: [String]
        let peer_certificate: String
        let expected_peer_name: PeerName?
        let validation_time: String?
        let expected_result: String
    }

    private static let noDepth = "a limit of the chain's length is not among what is evaluated"
    private static let commonName =
        "the subject's common name is not looked at (RFC 9525 §2), so that one which is not among the names does no harm"
    private static let noPublicSuffixes = "a wildcard below a public suffix: OpenSSL does not know which these are"
    private static let keyIdentifier =
        "OpenSSL finds issuers by what key identifiers there are, and does not ask for more"
    /// Of the form of what an authority signed, not of whom it is for.
    private static let form =
        "a rule of form for authorities (RFC 5280 or the CA/Browser Forum's), which OpenSSL does not check"

    /// Cases whose result is another, and why.
    private static let exceptions: [String: String] = [
        "pathlen::max-chain-depth-0-exhausted": noDepth,
        "pathlen::max-chain-depth-1-exhausted": noDepth,
        "rfc5280::aki::cross-signed-root-missing-aki": keyIdentifier,
        "webpki::aki::root-with-aki-authoritycertissuer": keyIdentifier,
        "webpki::aki::root-with-aki-authoritycertserialnumber": keyIdentifier,
        "webpki::aki::root-with-aki-missing-keyidentifier": keyIdentifier,
        "rfc5280::nc::invalid-dnsname-leading-period":
            "OpenSSL takes a constraint “.example.com” as that on what is below the name, as most programs do",
        "rfc5280::nc::nc-permits-invalid-dns-san":
            "the name asked for is another of the certificate's, and OpenSSL finds “.example.com” below “example.com”",
        "rfc5280::nc::nc-permits-email-literal-double-asterisk": "a client's certificate, where servers' are judged",
        "rfc5280::pc::ica-noncritical-pc": form,
        "rfc5280::serial::negative": form,
        "rfc5280::validity::notafter-exact": "OpenSSL ends a certificate's validity a second early",
        "rfc5280::validity::notafter-fractional": "OpenSSL ends a certificate's validity a second early",
        "webpki::cn::ipv4-hex-mismatch": commonName,
        "webpki::cn::ipv4-leading-zeros-mismatch": commonName,
        "webpki::cn::ipv6-non-rfc5952-mismatch": commonName,
        "webpki::cn::not-in-san": commonName,
        "webpki::cn::punycode-not-in-san": commonName,
        "webpki::ee-basicconstraints-ca": form,
        "webpki::eku::ee-critical-eku": form,
        "webpki::nc::intermediate-permitted-excluded-subtrees-both-empty-sequences": form,
        "webpki::nc::intermediate-permitted-excluded-subtrees-both-null": form,
        "webpki::san::public-suffix-multi-label-wildcard-san": noPublicSuffixes,
        "webpki::san::public-suffix-private-namespace-wildcard-san": noPublicSuffixes,
    ]

    /// What only ``ServerTrust/isStrict`` refuses: many a company's authority is like that.
    private static let strictOnly: Set = [
        "rfc5280::ca-empty-subject", "rfc5280::leaf-ku-keycertsign", "rfc5280::root-missing-basic-constraints",
        "rfc5280::root-non-critical-basic-constraints", "rfc5280::ski::root-missing-ski",
    ]

    @Test("what limbo says of a chain is what its evaluation says", arguments: [true, false])
    func limbo(isStrict: Bool) throws {
        let data = try Data(contentsOf: ConformanceTable.x509.url("limbo.json"))
        let cases = try JSONDecoder().decode(Suite.self, from: data).testcases
        #expect(cases.count == 98)
        let known = Set(Self.exceptions.keys).union(isStrict ? [] : Self.strictOnly)
        var failed: [String] = []
        for test in cases {
            let error = Self.error(of: test, isStrict)
            let isRight = (error == nil) == (test.expected_result == "SUCCESS")
            if !isRight { failed.append(test.id) }
            if !known.contains(test.id) {
                #expect(isRight, "\(test.id): \(test.expected_result), but: \(error ?? "trusted")")
            }
        }
        print("x509/limbo.json\(isStrict ? ", strictly" : ""): \(cases.count - failed.count) of \(cases.count)")
        #expect(failed.sorted() == known.sorted())
    }

    /// Why the chain is not trusted; nil when it is.
    private static func error(of test: Case, _ isStrict: Bool) -> String? {
        do {
            let chain = try ([test.peer_certificate] + test.untrusted_intermediates).map {
                try X509Certificate(pemRepresentation: $0)
            }
            var trust = ServerTrust(certificates: chain, host: test.expected_peer_name?.value)
            trust.anchorCertificates = try test.trusted_certs.map { try X509Certificate(pemRepresentation: $0) }
            trust.verifyDate = try test.validation_time.map(date)
            trust.isStrict = isStrict
            try trust.evaluate()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private struct NoDate: Error {}

    private static func date(_ text: String) throws -> Date {
        let whole = text.replacing(/\.[0-9]+/, with: "")
        guard let date = ISO8601DateFormatter().date(from: whole) else { throw NoDate() }
        return date
    }
}
