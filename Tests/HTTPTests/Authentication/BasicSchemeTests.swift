import LoadingKit
import Testing

@testable import LoadingKitHTTP

/// RFC 7617.
@Suite struct BasicSchemeTests {
    private static let request = HTTPAuthenticationRequest(method: "GET", target: "/", host: "h")

    @Test(arguments: [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123\u{a3}", "Basic dGVzdDoxMjPCow=="),
        ("", "", "Basic Og=="), ("u", "a:b", "Basic dTphOmI="), ("a:b", "p", nil), ("a\nb", "p", nil),
        ("a", "p\0", nil),
    ]) func values(_ user: String, _ password: String, _ expected: String?) throws {
        let scheme = try #require(BasicScheme(HTTPAuthenticationChallenge(scheme: "Basic", parameters: ["realm": "r"])))
        let credential = URLCredential(user: user, password: password, persistence: .none)
        #expect(scheme.authorization(for: Self.request, with: credential) == expected)
        #expect(scheme.realm == "r" && !scheme.advance(after: HTTPAuthenticationChallenge(scheme: "Basic")))
    }

    @Test(arguments: [("/", "/"), ("/a", "/"), ("/a/", "/a/"), ("/a/b", "/a/"), ("/a/b/c.html", "/a/b/")])
    func paths(_ path: String, _ expected: String) throws {
        let scheme = try #require(BasicScheme(HTTPAuthenticationChallenge(scheme: "Basic")))
        #expect(scheme.paths(around: path) == [expected])
    }
}
