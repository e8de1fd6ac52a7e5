import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitHTTP

/// As whom requests are sent whose URLs name alice, bob or nobody: each that names a user as this user alone, and one that names
/// nobody never as a user whom another URL has named.
@Suite struct NamedUserTests {
    /// A way to authenticate, and the version that it goes over.
    enum Way: CaseIterable {
        case basic, basicOverHTTP2, digest, digestOverHTTP2, ntlm, basicBehindProxy

        var version: String { [.basicOverHTTP2, .digestOverHTTP2].contains(self) ? "h2" : "http/1.1" }

        var method: String {
            switch self {
            case .basic, .basicOverHTTP2, .basicBehindProxy: NSURLAuthenticationMethodHTTPBasic
            case .digest, .digestOverHTTP2: NSURLAuthenticationMethodHTTPDigest
            case .ntlm: NSURLAuthenticationMethodNTLM
            }
        }
    }

    /// Where the credential comes from that requests get whose URLs name nobody.
    enum Source: CaseIterable {
        case nobody, delegate, storedDefault
    }

    /// In the order of a test, the users that URLs name; nil: nobody.
    private static let orders: [[String?]] = [
        ["alice", "bob", nil, "alice", nil, "bob"], [nil, "alice", nil, "bob", "alice", nil],
        ["alice", nil, "alice", nil],
    ]

    private static func credential(_ user: String) -> URLCredential {
        URLCredential(user: user, password: "of \(user)", persistence: .forSession)
    }

    private struct World: Sendable {
        let way: Way
        let source: Source
        let site: UserSite
        let server: LoopbackServer
        let session: URLSession

        func request(_ user: String?, path: String = "/", query: String? = nil) throws -> URLRequest {
            let port = way == .basicBehindProxy ? "" : ":\(server.address.port ?? 0)"
            let scheme = way == .basicBehindProxy ? "http" : "https"
            let host = way == .basicBehindProxy ? "site.test" : "localhost"
            let login = user.map { "\($0):of%20\($0)@" } ?? ""
            let query = query ?? "as=\(user ?? "nobody")"
            let url = URL(string: "\(scheme)://\(login)\(host)\(port)\(path)?\(query)")
            return URLRequest(url: try #require(url))
        }

        /// The result of a request that is sent as it should be.
        func expected(_ user: String?) -> Outcome {
            if let user { return .ok(user) }
            return source == .nobody ? .loaded(status: 401, body: "refused") : .ok("carol")
        }

        func load(_ user: String?, in session: URLSession? = nil) async throws {
            let outcome = await (session ?? self.session).outcome(try request(user))
            #expect(outcome == expected(user), "\(way), \(source): \(user ?? "nobody")")
        }

        var space: URLProtectionSpace {
            URLProtectionSpace(
                host: way == .basicBehindProxy ? "site.test" : "localhost",
                port: way == .basicBehindProxy ? 80 : Int(server.address.port ?? 0),
                protocol: way == .basicBehindProxy ? "http" : "https", realm: way == .ntlm ? nil : "r",
                authenticationMethod: way.method)
        }
    }

    private static func with(
        _ way: Way, _ source: Source, _ body: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        let site = UserSite(way)
        let delegate = SessionChallengeAnswerer { challenge in
            if challenge.protectionSpace.isProxy() {
                return (.useCredential, Self.credential("pat"))
            }
            // A delegate that has an answer of its own for all, but where a URL names one.
            guard source == .delegate, challenge.proposedCredential == nil, challenge.previousFailureCount == 0 else {
                return (.performDefaultHandling, nil)
            }
            return (.useCredential, Self.credential("carol"))
        }
        let authority = try CertificateAuthority()
        let tls =
            way == .basicBehindProxy
            ? nil : TLSServerOptions(try authority.issue(), applicationProtocols: [way.version])
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls), route: site.route)
        defer { server.stop() }
        let session = makeSession(delegate: delegate) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            guard way == .basicBehindProxy else { return }
            $0.appTransportSecurity.allowsArbitraryLoads = true
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(server.address.port ?? 0),
            ]
        }
        defer { session.invalidateAndCancel() }
        let world = World(way: way, source: source, site: site, server: server, session: session)
        if source == .storedDefault {
            session.configuration.urlCredentialStorage?.setDefaultCredential(Self.credential("carol"), for: world.space)
        }
        try await withTimeout("\(way), \(source)") { try await body(world) }
        // Whatever came of them: no request was sent as somebody else.
        for (asked, sent) in site.seen.snapshot where sent != nil {
            #expect(sent == (asked == "nobody" ? "carol" : asked), "\(way), \(source)")
        }
        #expect(Set(site.proxyUsers.snapshot) == (way == .basicBehindProxy ? [nil, "pat"] : []), "\(way)")
    }

    @Test("one after the other", arguments: Way.allCases, Source.allCases)
    func inTurn(way: Way, source: Source) async throws {
        for order in Self.orders {
            try await Self.with(way, source) { world in
                for user in order { try await world.load(user) }
            }
        }
    }

    @Test("at the same time", arguments: Way.allCases, Source.allCases)
    func atOnce(way: Way, source: Source) async throws {
        try await Self.with(way, source) { world in
            for _ in 0..<3 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<24 {
                        let user = ["alice", "bob", nil][index % 3]
                        group.addTask { try await world.load(user) }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("two sessions with the same stores", arguments: Way.allCases, Source.allCases)
    func twoSessions(way: Way, source: Source) async throws {
        try await Self.with(way, source) { world in
            let other = URLSession(
                configuration: world.session.configuration, delegate: world.session.delegate, delegateQueue: nil)
            defer { other.invalidateAndCancel() }
            for user in ["alice", nil, "bob", nil] {
                try await world.load(user)
                for user in [nil, "bob", nil, "alice"] { try await world.load(user, in: other) }
            }
        }
    }

    @Test("what a URL names is not stored, and is sent at once the next time that a URL names it")
    func remembering() async throws {
        try await Self.with(.basic, .nobody) { world in
            for user in ["alice", "bob", "alice", "bob", nil, "bob"] { try await world.load(user) }
            #expect(world.session.configuration.urlCredentialStorage?.allCredentials.isEmpty == true)
            let sent = world.site.seen.snapshot.map { "\($0.0) \($0.1 ?? "-")" }
            #expect(
                sent == [
                    "alice -", "alice alice", "bob -", "bob bob", "alice alice", "bob bob", "nobody -", "bob bob",
                ])
            // Without a bound, a program that names many users would have all of them remembered.
            for number in 0..<150 { try await world.load("u\(number)") }
            world.site.seen.removeAll()
            try await world.load("u149")
            try await world.load("u1")
            #expect(world.site.seen.snapshot.map { $0.1 ?? "-" } == ["u149", "-", "u1"])
        }
    }

    @Test("what the program stores of its own is for requests that name nobody, though a URL names it, too")
    func storedByTheProgram() async throws {
        let delegate = ChallengeAnswerer { challenge in
            (.useCredential, URLCredential(user: "alice", password: "of alice", persistence: .permanent))
        }
        let site = UserSite(.basic)
        try await BothVersions.withServer("http/1.1", site.route) { session, server in
            var components = try #require(URLComponents(string: server.url("/", host: "localhost")))
            let plain = URLRequest(url: try #require(components.url))
            components.user = "alice"
            components.password = "of alice"
            let naming = URLRequest(url: try #require(components.url))
            #expect(await session.outcome(naming, delegate: delegate) == .ok("alice"))
            #expect(await session.outcome(plain) == .ok("alice"))
            #expect(site.seen.snapshot.map { $0.1 ?? "-" } == ["-", "alice", "alice"])
        }
    }

    @Test("a redirect goes on as the user within the origin alone", arguments: BothVersions.all)
    func redirects(version: String) async throws {
        let elsewhere = UserSite(.basic)
        let other = try LoopbackServer(route: elsewhere.route)
        defer { other.stop() }
        let targets = Box<[String: String]>([:])
        let site = UserSite(.basic)
        try await BothVersions.withServer(version) { request in
            guard let target = targets.value[request.path] else { return try site.route(request) }
            return ServerResponse(302).adding("Location", target)
        } body: { session, server in
            targets.value = [
                "/relative": "/relatively?as=alice", "/absolute": server.url("/absolutely?as=alice", host: "localhost"),
                "/named": server.url("/named/?as=bob", host: "bob:of%20bob@localhost"),
                "/away": other.url("/?as=nobody", host: "localhost"),
            ]
            let expected: [(String, Outcome)] = [
                ("/relative", .ok("alice")), ("/absolute", .ok("alice")), ("/named", .ok("bob")),
                ("/away", .loaded(status: 401, body: "refused")),
            ]
            for (path, outcome) in expected {
                let url = try #require(URL(string: server.url(path, host: "alice:of%20alice@localhost")))
                #expect(await session.outcome(URLRequest(url: url)) == outcome, "\(path)")
            }
            let plain = try #require(URL(string: server.url("/?as=nobody", host: "localhost")))
            #expect(await session.outcome(URLRequest(url: plain)) == .loaded(status: 401, body: "refused"))
        }
        for (asked, sent) in site.seen.snapshot + elsewhere.seen.snapshot where sent != nil {
            #expect(sent == asked)
        }
    }

    /// A response of alice's is not for those who name nobody, however her connection was authenticated.
    @Test("the cache", arguments: Way.allCases) func cache(way: Way) async throws {
        try await Self.with(way, .nobody) { world in
            let configuration = world.session.configuration
            configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
            let session = URLSession(
                configuration: configuration, delegate: world.session.delegate, delegateQueue: nil)
            defer { session.invalidateAndCancel() }
            for user in ["alice", nil, "bob", nil, "alice"] {
                // The same URL for all, but for the user.
                let outcome = await session.outcome(try world.request(user, path: "/cached", query: "as=any"))
                #expect(outcome == world.expected(user), "\(user ?? "nobody")")
            }
            world.site.seen.removeAll()
        }
    }
}

/// A site that lets each user in whose password is `of ` and the name, and says who it was. It notes who was asked for, and as
/// whom requests were sent.
private final class UserSite: Sendable {
    let seen = Recorder<(String, String?)>()
    /// The users of the proxy, where the site is behind one, which it plays, too.
    let proxyUsers = Recorder<String?>()
    private let way: NamedUserTests.Way
    /// The users of connections.
    private let connections = Box<[Int: String]>([:])

    init(_ way: NamedUserTests.Way) { self.way = way }

    var route: LoopbackServer.Route {
        { [self] request in
            if way == .basicBehindProxy {
                let user = Self.basicUser(request.fields[.proxyAuthorization])
                proxyUsers.append(user)
                guard user == "pat" else {
                    return ServerResponse.text("", status: 407).adding("Proxy-Authenticate", "Basic realm=p")
                }
            }
            let asked = request.target.split(separator: "=").last.map { String($0) } ?? ""
            let user = user(of: request)
            seen.append((asked, user))
            guard let user else { return refusal(request) }
            return .text(user).adding("Cache-Control", request.target.contains("cached") ? "max-age=99" : "no-store")
        }
    }

    private func refusal(_ request: ServerRequest) -> ServerResponse {
        let challenge =
            switch way {
            case .basic, .basicOverHTTP2, .basicBehindProxy: "Basic realm=r"
            case .digest, .digestOverHTTP2: "Digest realm=r, nonce=n, qop=auth"
            case .ntlm:
                Self.ntlmMessage(request)?.dropFirst(8).first == 1
                    ? "NTLM " + Data(NTLMServer.challenge).base64EncodedString() : "NTLM"
            }
        return ServerResponse.text("refused", status: 401).adding("WWW-Authenticate", challenge)
    }

    private func user(of request: ServerRequest) -> String? {
        switch way {
        case .basic, .basicOverHTTP2, .basicBehindProxy: return Self.basicUser(request.fields[.authorization])
        case .digest, .digestOverHTTP2: return Self.digestUser(request)
        case .ntlm:
            guard let message = Self.ntlmMessage(request) else { return connections.value[request.connection] }
            guard message.count > 8, message[8] == 3, let name = NTLMMessage.field(message, at: 36) else { return nil }
            let user = String(decoding: name.filter { $0 != 0 }, as: UTF8.self)
            connections.update { $0[request.connection] = user }
            return user
        }
    }

    private static func basicUser(_ field: String?) -> String? {
        guard let field, let data = Data(base64Encoded: String(field.dropFirst(6))) else { return nil }
        let parts = String(decoding: data, as: UTF8.self).split(separator: ":")
        return parts.count == 2 && parts[1] == "of \(parts[0])" ? String(parts[0]) : nil
    }

    private static func digestUser(_ request: ServerRequest) -> String? {
        guard let value = request.fields[.authorization], let sent = ChallengeParser.challenges([value]).first,
            let user = sent["username"], let algorithm = DigestAlgorithm(sent["algorithm"])
        else { return nil }
        let secret = algorithm.hash(user, "r", "of \(user)") ?? ""
        let second = algorithm.hash(request.method, request.target) ?? ""
        let right = algorithm.hash(secret, "n", sent["nc"] ?? "", sent["cnonce"] ?? "", "auth", second)
        return sent["response"] == right ? user : nil
    }

    private static func ntlmMessage(_ request: ServerRequest) -> [UInt8]? {
        request.fields[.authorization].flatMap { Data(base64Encoded: String($0.dropFirst("NTLM ".count))) }.map {
            Array($0)
        }
    }
}
