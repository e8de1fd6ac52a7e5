import LoadingKit
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// `WWW-Authenticate` by RFC 9110 §11.6.1, and as servers send it.
@Suite struct ChallengeParserTests {
    private typealias Challenge = HTTPAuthenticationChallenge

    struct Case: CustomTestStringConvertible, Sendable {
        let field: String
        let expected: [HTTPAuthenticationChallenge]
        var testDescription: String { field }

        init(_ field: String, _ expected: HTTPAuthenticationChallenge...) {
            self.field = field
            self.expected = expected
        }
    }

    static let wellFormed = [
        Case("Basic realm=\"a\"", Challenge(scheme: "Basic", parameters: ["realm": "a"])),
        Case("Basic realm=a", Challenge(scheme: "Basic", parameters: ["realm": "a"])),
        Case(
            "basic REALM = \"a\" , Charset=\"UTF-8\"",
            .init(scheme: "basic", parameters: ["realm": "a", "charset": "UTF-8"])),
        Case("Negotiate", Challenge(scheme: "Negotiate")),
        Case("Negotiate, NTLM", Challenge(scheme: "Negotiate"), Challenge(scheme: "NTLM")),
        Case("NTLM TlRMTVNTUAACAAAA==", Challenge(scheme: "NTLM", token: "TlRMTVNTUAACAAAA==")),
        Case(
            "NTLM abc=, Basic realm=b", .init(scheme: "NTLM", token: "abc="),
            .init(scheme: "Basic", parameters: ["realm": "b"])),
        Case("Custom a", Challenge(scheme: "Custom", token: "a")),
        Case(
            "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
            Challenge(scheme: "Newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
            Challenge(scheme: "Basic", parameters: ["realm": "simple"])),
        Case(
            "Digest qop=\"auth, auth-int\", nonce=\"a,b=c\", Basic realm=\"x, Digest y=z\"",
            Challenge(scheme: "Digest", parameters: ["qop": "auth, auth-int", "nonce": "a,b=c"]),
            Challenge(scheme: "Basic", parameters: ["realm": "x, Digest y=z"])),
        Case(""),
        Case(" ,, Basic realm=\"\" , ,\t", Challenge(scheme: "Basic", parameters: ["realm": ""])),
        Case("Basic realm=\"caf\u{e9}\"", Challenge(scheme: "Basic", parameters: ["realm": "caf\u{e9}"])),
    ]

    /// Malformed fields: what can be understood of them is used.
    static let malformed = [
        Case("Digest realm=\"a\" nonce=\"b\"", .init(scheme: "Digest", parameters: ["realm": "a", "nonce": "b"])),
        Case("NTLM Basic realm=\"a\"", Challenge(scheme: "NTLM"), .init(scheme: "Basic", parameters: ["realm": "a"])),
        Case("Digest nonce=a/b==, realm=r", .init(scheme: "Digest", parameters: ["nonce": "a/b==", "realm": "r"])),
        Case("Basic realm=\"open", Challenge(scheme: "Basic", parameters: ["realm": "open"])),
        Case("Basic realm=\"open\\", Challenge(scheme: "Basic", parameters: ["realm": "open\\"])),
        Case("Basic realm=a, realm=b", Challenge(scheme: "Basic", parameters: ["realm": "a"])),
        Case("realm=\"a\", Basic", Challenge(scheme: "Basic")),
        Case("\"quoted, Basic\", Basic realm=a", Challenge(scheme: "Basic", parameters: ["realm": "a"])),
        Case("=, Basic realm=a", Challenge(scheme: "Basic", parameters: ["realm": "a"])),
        Case("(), @, \""),
    ]

    @Test(arguments: wellFormed + malformed) func challenges(_ test: Case) {
        #expect(ChallengeParser.challenges([test.field]) == test.expected)
    }

    @Test func severalFieldLines() {
        let found = ChallengeParser.challenges(["Negotiate", "", "Digest realm=a, nonce=b", "Basic realm=a"])
        #expect(found.map(\.scheme) == ["Negotiate", "Digest", "Basic"])
    }

    @Test func parametersWithoutAScheme() {
        let parameters = ChallengeParser.parameters("nextnonce=\"a,b\", qop=auth, rspauth=\"c\", NC=00000001")
        #expect(parameters == ["nextnonce": "a,b", "qop": "auth", "rspauth": "c", "nc": "00000001"])
        #expect(ChallengeParser.parameters("").isEmpty)
    }

    /// Any bytes are read to their end.
    @Test(arguments: 0..<4) func damagedFields(_ seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let pieces = [
            "Basic", "Digest ", "realm", "=", "==", "\"", "\\", ",", " ", "\t", "a/b", "\u{e9}", "\u{1}", "nonce=\"x\"",
        ]
        for _ in 0..<2000 {
            var field = (Self.wellFormed + Self.malformed).randomElement(using: &random)?.field ?? ""
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let place = field.indices.randomElement(using: &random) ?? field.startIndex
                field.insert(contentsOf: pieces.randomElement(using: &random) ?? "", at: place)
            }
            for challenge in ChallengeParser.challenges([field]) {
                #expect(!challenge.scheme.isEmpty)
                _ = DigestScheme(challenge)
                var scheme = NTLMScheme(challenge)
                _ = scheme?.advance(after: challenge)
            }
            _ = ChallengeParser.parameters(field)
        }
    }
}
