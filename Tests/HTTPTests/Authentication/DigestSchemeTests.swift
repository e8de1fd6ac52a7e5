import Foundation
import LoadingKit
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// RFC 7616, with the examples of §3.9 and of RFC 2617 and RFC 2069; the other values are those of Python's hashlib.
@Suite struct DigestSchemeTests {
    private static let user = URLCredential(user: "Mufasa", password: "Circle of Life", persistence: .none)
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

    private static func scheme(
        _ parameters: [String: String], clientNonce: String = clientNonce
    ) -> DigestScheme? {
        var all = ["realm": "http-auth@example.org", "nonce": nonce, "opaque": opaque, "qop": "auth"]
        all.merge(parameters) { $1 }
        return DigestScheme(
            HTTPAuthenticationChallenge(scheme: "Digest", parameters: all.filter { $0.value != "-" }),
            clientNonce: clientNonce)
    }

    private static func get(_ target: String = "/dir/index.html") -> HTTPAuthenticationRequest {
        HTTPAuthenticationRequest(method: "GET", target: target, host: "www.example.org")
    }

    /// The parameters of the field's value that is sent.
    private static func sent(
        _ scheme: inout DigestScheme, _ request: HTTPAuthenticationRequest = get(), _ user: URLCredential = user
    ) -> [String: String]? {
        guard let value = scheme.authorization(for: request, with: user), value.hasPrefix("Digest ") else { return nil }
        return ChallengeParser.challenges([value]).first?.parameters
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"), ("md5-SESS", "e783283f46242139c486a698fec7211d"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ("SHA-256-sess", "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"),
        ("SHA-512-256", "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0"),
        ("SHA-512-256-sess", "3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2cb92e"),
    ]) func algorithms(_ name: String, _ response: String) throws {
        var scheme = try #require(Self.scheme(["algorithm": name, "qop": "auth-int, auth"]))
        let sent = try #require(Self.sent(&scheme))
        #expect(
            sent == [
                "username": "Mufasa", "realm": "http-auth@example.org", "uri": "/dir/index.html", "algorithm": name,
                "nonce": Self.nonce, "nc": "00000001", "cnonce": Self.clientNonce, "qop": "auth",
                "response": response, "opaque": Self.opaque,
            ])
    }

    @Test(arguments: [
        ("MD5", "a1abf5c7fa9ae74478eb9ffa265bf546"), ("MD5-sess", "219a5013deac8cc0196aa7ffce97179c"),
        ("SHA-256", "329dcaaa9ce45c3ea5f919f438118f338057e9104aa58ecd51368264e88ced0c"),
        ("SHA-256-sess", "78c15350c379e32f66977f48267f8347871c3adfa202c543d7b0f0c9743ed5ab"),
        ("SHA-512-256", "a8f9ae711a3b028453152590875d127c99d02c4f347f6de891afaf69366f926c"),
        ("SHA-512-256-sess", "56c44beb40220985d0b191f8d0822de1a4cdd49a35ca372b8b1168d4dac759d2"),
    ]) func bodies(_ name: String, _ response: String) throws {
        var scheme = try #require(Self.scheme(["algorithm": name, "qop": "auth-int"]))
        var request = HTTPAuthenticationRequest(
            method: "POST", target: "/dir/index.html", host: "h", body: Data("body".utf8))
        let sent = try #require(Self.sent(&scheme, request))
        #expect(sent["response"] == response && sent["qop"] == "auth-int")
        request = HTTPAuthenticationRequest(method: "POST", target: "/", host: "h", body: nil)
        #expect(Self.sent(&scheme, request) == nil, "a stream cannot be hashed before it is sent")
    }

    /// The example of RFC 7616 §3.9.2, with the corrected values of erratum 4897.
    @Test func namesBeyondASCII() throws {
        let user = URLCredential(user: "J\u{e4}s\u{f8}n Doe", password: "Secret, or not?", persistence: .none)
        let challenge = [
            "realm": "api@example.org", "nonce": "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK",
            "algorithm": "SHA-512-256", "charset": "UTF-8",
        ]
        for (hash, name, value) in [
            ("true", "username", "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"),
            ("false", "username*", "UTF-8''J%C3%A4s%C3%B8n%20Doe"),
        ] {
            var scheme = try #require(
                Self.scheme(
                    challenge.merging(["userhash": hash]) { $1 },
                    clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"))
            let sent = try #require(Self.sent(&scheme, Self.get("/doe.json"), user))
            #expect(sent["response"] == "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5")
            #expect(sent[name] == value && sent["userhash"] == (hash == "true" ? "true" : nil))
        }
        var old = try #require(Self.scheme([:]))
        #expect(Self.sent(&old, Self.get(), user)?["username"] == "J\u{e4}s\u{f8}n Doe")
    }

    /// A realm in ISO-8859-1, of a server and of a proxy that opens tunnels, is hashed and sent back as it came. The
    /// user's name is in UTF-8.
    @Test(arguments: [false, true]) func octetsThatAreNotUTF8(isTunnel: Bool) async throws {
        let (status, field) = isTunnel ? (407, "Proxy-Authenticate") : (401, "WWW-Authenticate")
        let challenge = "Digest realm=\"M\u{fc}ller\", nonce=\"n\", opaque=\"\u{df}\""
        let refusal = "HTTP/1.1 \(status) No\r\n\(field): \(challenge)\r\nContent-Length: 0\r\n\r\n"
        let octets = refusal.unicodeScalars.map { UInt8($0.value) }
        let peer = try ScriptedPeer([
            .expectRequest, .send(octets), .expectRequest, .send("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"),
            .readUntilClose,
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer("M\u{fc}fasa", "Circle of Life")
        try await withTimeout {
            let session =
                isTunnel ? ProxyChallengeTests.session(peer, delegate: answerer) : makeSession(delegate: answerer)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: isTunnel ? "https://server.example/" : peer.url()))
            _ = await session.outcome(URLRequest(url: url))
        }
        #expect(answerer.challenges.snapshot.map(\.protectionSpace.realm) == ["M\u{fc}ller"])
        let sent = try #require(peer.requests.snapshot.dropFirst().first)
        let (target, response) =
            isTunnel
            ? ("server.example:443", "e4812f465768147cf35295b5a4498ef1") : ("/", "a7858bf7e68ecb9ffc64ce0d96c7f593")
        #expect(
            sent[field: isTunnel ? "Proxy-Authorization" : "Authorization"]
                == "Digest username=\"M\u{c3}\u{bc}fasa\", realm=\"M\u{fc}ller\", nonce=\"n\", uri=\"\(target)\", "
                + "response=\"\(response)\", opaque=\"\u{df}\"")
    }

    /// RFC 2617 §3.5, and RFC 2069 with its erratum 749.
    @Test func olderServers() throws {
        let challenge = [
            "realm": "testrealm@host.com", "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093",
            "opaque": "5ccc069c403ebaf9f0171e9517f40e41",
        ]
        var scheme = try #require(Self.scheme(challenge, clientNonce: "0a4f113b"))
        let user = URLCredential(user: "Mufasa", password: "Circle Of Life", persistence: .none)
        let sent = try #require(Self.sent(&scheme, Self.get(), user))
        #expect(sent["response"] == "6629fae49393a05397450978507c4ef1" && sent["algorithm"] == nil)
        scheme = try #require(Self.scheme(challenge.merging(["qop": "-"]) { $1 }))
        let older = URLCredential(user: "Mufasa", password: "CircleOfLife", persistence: .none)
        let oldest = try #require(Self.sent(&scheme, Self.get(), older))
        #expect(oldest["response"] == "1949323746fe6a43ef61f9606e7febea")
        #expect(oldest["nc"] == nil && oldest["cnonce"] == nil && oldest["qop"] == nil)
    }

    @Test func noncesAreCounted() throws {
        var scheme = try #require(Self.scheme([:]))
        #expect(Self.sent(&scheme)?["nc"] == "00000001")
        let second = try #require(Self.sent(&scheme))
        #expect(second["nc"] == "00000002" && second["response"] == "4b5d595ecf2db9df612ea5b45cd97101")
        for _ in 2..<255 { _ = Self.sent(&scheme) }
        #expect(Self.sent(&scheme)?["nc"] == "00000100")
    }

    @Test(arguments: [
        ("MD5", "68b73f9d81c5b8acb2e77fd72eca7327"), ("MD5-sess", "024890dca8a922796bd6a8324bc748c2"),
    ]) func theServerGivesTheNextNonce(_ algorithm: String, _ response: String) throws {
        var scheme = try #require(Self.scheme(["algorithm": algorithm]))
        _ = Self.sent(&scheme)
        let acceptance = scheme.serverDidAccept(["nextnonce": "next"])
        #expect(acceptance == .renewed)
        let sent = try #require(Self.sent(&scheme))
        #expect(sent["nonce"] == "next" && sent["nc"] == "00000001" && sent["response"] == response)
    }

    @Test func theServerProvesThatItKnowsThePassword() throws {
        var scheme = try #require(Self.scheme([:]))
        let early = scheme.serverDidAccept(["rspauth": "0"])
        #expect(early == .unchanged, "nothing was sent")
        _ = Self.sent(&scheme)
        let cases: [([String: String], HTTPAuthenticationAcceptance)] = [
            ([:], .unchanged), (["rspauth": "9b712497bc9f91499fbcca1dfc5f09a5"], .unchanged),
            (["rspauth": "9B712497BC9F91499FBCCA1DFC5F09A5", "qop": "auth"], .unchanged),
            (["rspauth": "9b712497bc9f91499fbcca1dfc5f09a6", "nextnonce": "n"], .refused), (["rspauth": ""], .refused),
            (["rspauth": "of the body, too", "qop": "auth-int"], .unchanged),
        ]
        for (parameters, expected) in cases {
            let acceptance = scheme.serverDidAccept(parameters)
            #expect(acceptance == expected, "\(parameters)")
        }
    }

    @Test func staleNonces() throws {
        var scheme = try #require(Self.scheme([:]))
        _ = Self.sent(&scheme)
        func challenge(_ stale: String) -> HTTPAuthenticationChallenge {
            HTTPAuthenticationChallenge(
                scheme: "Digest", parameters: ["realm": "r", "nonce": "fresh", "qop": "auth", "stale": stale])
        }
        let isStale = ["false", "TRUE"].map { scheme.advance(after: challenge($0)) }
        #expect(isStale == [false, true])
        let sent = try #require(Self.sent(&scheme))
        #expect(sent["nonce"] == "fresh" && sent["nc"] == "00000001")
    }

    @Test func whatCannotBeAnswered() throws {
        for parameters in [["algorithm": "SHA-1"], ["qop": "auth-conf"], ["qop": ""], ["nonce": "-"], ["realm": "-"]] {
            #expect(Self.scheme(parameters) == nil, "\(parameters)")
        }
        var scheme = try #require(Self.scheme([:]))
        let user = URLCredential(user: "a\r\nb", password: "p", persistence: .none)
        #expect(Self.sent(&scheme, Self.get(), user) == nil)
    }

    @Test func whatIsQuotedComesBackTheSame() throws {
        let realm = "a \"b\" \\ c"
        var scheme = try #require(Self.scheme(["realm": realm]))
        for name in ["\\\"", "a\"\u{301}b", "\\\u{301}"] {
            let user = URLCredential(user: name, password: "p", persistence: .none)
            let sent = try #require(Self.sent(&scheme, Self.get("/?q=\""), user))
            #expect(sent["realm"] == realm && sent["username"] == name && sent["uri"] == "/?q=\"")
        }
    }

    @Test(arguments: [
        (nil, ["/"]), ("/a /b/c", ["/a", "/b/c"]), ("other", ["/"]), ("", ["/"]),
        ("http://WWW.example.org/a http://www.example.org", ["/a", "/"]), ("http://h/a", []), ("http://h/a /b", ["/b"]),
        ("https://www.example.org/a //h/c /b", ["/b"]),
    ]) func domains(_ domain: String?, _ expected: [String]) throws {
        var scheme = try #require(Self.scheme(["domain": domain ?? "-"]))
        _ = Self.sent(&scheme)
        #expect(scheme.paths(around: "/x/y") == expected)
    }

    /// A scheme of a program's own, whose protection space has many folders.
    private struct FoldersScheme: SchemeWithFolders {
        static let name = "Folders"
        static let authenticationMethod = "FoldersMethod"
        let folders: [String]

        init(_ folders: [String]) { self.folders = folders }
    }

    /// A hundred folders of a protection space are kept, however many there are.
    @Test func manyFolders() throws {
        let folders = (0..<50_000).map { "/\($0)/" }
        let digest = try #require(Self.scheme(["domain": folders.joined(separator: " ")]))
        #expect(digest.paths(around: "/x/y") == Array(folders.prefix(100)))
        let url = try #require(URL(string: "https://www.example.org/"))
        let site = AuthenticationSite.server(try RequestTarget(url).origin)
        let user = URLCredential(user: "Mufasa", password: "Circle of Life", persistence: .forSession)
        let schemes: [any HTTPAuthenticationScheme] = [digest, FoldersScheme(folders)]
        for scheme in schemes {
            let memory = AuthenticationMemory(URLCredentialStorage())
            let space = site.space(realm: "r", method: NSURLAuthenticationMethodHTTPDigest, proxyType: "")
            memory.remember(scheme, user, for: "/x/y", in: space, at: site, isOfURL: true)
            let known = folders.prefix(200).filter { memory.credential(forTarget: $0, at: site, named: user) != nil }
            #expect(known == Array(folders.prefix(100)))
        }
    }

    /// A folder of 1,024 bytes is kept, and no longer one.
    @Test func longFolders() throws {
        let longest = "/" + String(repeating: "a", count: AuthenticationMemory.longestPath - 1)
        let folders = ["/b" + longest, longest, "/c"]
        let digest = try #require(Self.scheme(["domain": folders.joined(separator: " ")]))
        let url = try #require(URL(string: "https://www.example.org/"))
        let site = AuthenticationSite.server(try RequestTarget(url).origin)
        let user = URLCredential(user: "Mufasa", password: "Circle of Life", persistence: .forSession)
        let memory = AuthenticationMemory(URLCredentialStorage())
        let space = site.space(realm: "r", method: NSURLAuthenticationMethodHTTPDigest, proxyType: "")
        memory.remember(digest, user, for: "/x/y", in: space, at: site, isOfURL: true)
        let known = folders.filter { memory.credential(forTarget: $0 + "?q", at: site, named: user) != nil }
        #expect(known == [longest, "/c"])
    }

    @Test func strengths() throws {
        let strengths = try ["MD5", "SHA-256-sess", "SHA-512-256"].map {
            try #require(Self.scheme(["algorithm": $0])).strength
        }
        #expect(strengths == [20, 21, 22])
    }
}
