import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// NTLM with implementations of others: gss-ntlmssp behind Apache and behind a server of its own, and Samba behind squid.
@Suite(.usesPeers) struct RealServerNTLMTests {
    /// Apache, and the server behind it, which answers with the user, the method and the body's size.
    private final class Site: Sendable {
        let apache: ApacheGSSServer
        let backend: LoopbackServer
        let authority: CertificateAuthority
        let passed = Recorder<String>()

        init(_ users: [String]) throws {
            authority = try CertificateAuthority()
            backend = try LoopbackServer { [passed] request in
                passed.append("\(request.method) \(request.body.count)")
                return .text("\(request.fields[name: "X-User"] ?? "-") \(request.method) \(request.body.count)")
            }
            apache = try ApacheGSSServer(nil, tls: try authority.issue(), ntlmUsers: users, backend: backend.url(""))
        }

        func stop() {
            apache.stop()
            backend.stop()
        }

        func session(_ user: String, _ password: String) -> (URLSession, SessionChallengeAnswerer) {
            let answerer = RealServerNTLMTests.answerer(user, password)
            let session = makeSession(delegate: answerer) { $0.tlsTrustRoots = .pem(self.authority.certificatePEM) }
            return (session, answerer)
        }
    }

    private static let users = [
        "LKDOM:alice:alice-pw", "LKDOM:carol:pässwörd€", "LKDOM:Jürgen:pässwörd€",
    ]

    /// Answers the first challenge of each request, and no refusal.
    private static func answerer(_ user: String, _ password: String) -> SessionChallengeAnswerer {
        SessionChallengeAnswerer { challenge in
            let isFirst = challenge.previousFailureCount == 0
            let credential = URLCredential(user: user, password: password, persistence: .forSession)
            return isFirst ? (.useCredential, credential) : (.performDefaultHandling, nil)
        }
    }

    private static func with(_ body: @escaping @Sendable (Site) async throws -> Void) async throws {
        let site = try await onThread { try Site(users) }
        defer { site.stop() }
        try await withTimeout { try await body(site) }
    }

    /// Each form of a user's name. The connection is kept, and a body is sent once. Apache runs in the locale `C`, where
    /// gss-ntlmssp finds no user whose name is beyond ASCII.
    @Test(
        arguments: [
            ("LKDOM\\alice", "alice-pw"), ("alice", "alice-pw"), ("LKDOM\\ALICE", "alice-pw"),
            ("LKDOM\\carol", "pässwörd€"),
        ], [false, true])
    func apache(_ login: (user: String, password: String), _ isSecure: Bool) async throws {
        try await Self.with { site in
            let (session, answerer) = site.session(login.user, login.password)
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: site.apache.url("/ntlm/", isSecure: isSecure)))
            var post = URLRequest(url: url)
            post.httpMethod = "POST"
            post.httpBody = Data(repeating: 1, count: 50_000)
            for request in [URLRequest(url: url), post, post] {
                guard case .loaded(status: 200, let body) = await session.outcome(request) else {
                    Issue.record("\(login.user) is refused: \(site.apache.output)")
                    return
                }
                #expect(body.hasSuffix("\(request.httpMethod ?? "GET") \(request.httpBody?.count ?? 0)"))
                #expect(body.localizedLowercase.contains("alice") || body.localizedLowercase.contains("carol"))
            }
            #expect(answerer.seen.count == 1)
            #expect(site.passed.snapshot == ["GET 0", "POST 50000", "POST 50000"])
            let transactions = answerer.metrics.snapshot.flatMap(\.transactionMetrics)
            #expect(transactions.count == 5)
            #expect(transactions.count { !$0.isReusedConnection } == 1)
            #expect(transactions.reduce(0) { $0 + $1.countOfRequestBodyBytesSent } == 100_000)
        }
    }

    @Test func apacheAndAWrongPassword() async throws {
        try await Self.with { site in
            let (session, answerer) = site.session("LKDOM\\alice", "wrong")
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: site.apache.url("/ntlm/")))
            guard case .loaded(status: 401, _) = await session.outcome(URLRequest(url: url)) else {
                Issue.record("a wrong password passes")
                return
            }
            #expect(answerer.seen.count == 2)
            #expect(site.passed.snapshot == [])
        }
    }

    /// The answer is bound to the certificate: a server that has seen another one does not accept it.
    @Test(
        arguments: [
            ("LKDOM\\alice", "alice-pw", false), ("LKDOM\\alice", "alice-pw", true),
            ("LKDOM\\Jürgen", "pässwörd€", false), ("LKDOM\\JÜRGEN", "pässwörd€", false),
        ])
    func channelBinding(_ user: String, _ password: String, _ isAnothers: Bool) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        let server = try await onThread {
            try GSSAcceptorServer(nil, tls: identity, ntlmUsers: Self.users, bindsToAnotherCertificate: isAnothers)
        }
        defer { server.stop() }
        let answerer = Self.answerer(user, password)
        let session = makeSession(delegate: answerer) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: server.url))
            let outcome = await session.outcome(URLRequest(url: url))
            guard case .loaded(let status, let text) = outcome else {
                Issue.record("\(outcome) \(server.output)")
                return
            }
            #expect(status == (isAnothers ? 401 : 200), "\(server.output)")
            #expect(answerer.seen.count == (isAnothers ? 2 : 1))
            let name = user.split(separator: "\\").last ?? ""
            #expect(text.localizedLowercase.contains(name.localizedLowercase) != isAnothers, "\(text)")
        }
    }

    /// Forwarded requests and tunnels.
    @Test(
        arguments: [
            ("LKHOST\\alice", "alice-pw"), ("alice", "alice-pw"), ("LKHOST\\jürgen", "pässwörd€"),
            ("JÜRGEN", "pässwörd€"),
            ("weiß", "straße"),
        ])
    func squidWithSamba(_ login: (user: String, password: String)) async throws {
        let proxy = try await onThread { try SambaLoginProxy() }
        defer { proxy.stop() }
        let authority = try CertificateAuthority()
        let passed = Recorder<String>()
        let route: LoopbackServer.Route = { request in
            passed.append("\(request.method) \(request.body.count)")
            return .text("in")
        }
        let plain = try LoopbackServer(route: route)
        let secure = try LoopbackServer(
            LoopbackServer.Options(tls: TLSServerOptions(try authority.issue())), route: route)
        defer {
            plain.stop()
            secure.stop()
        }
        func session(_ password: String) -> (URLSession, SessionChallengeAnswerer) {
            let answerer = Self.answerer(login.user, password)
            let session = makeSession(delegate: answerer) {
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "HTTPSEnable": 1,
                    "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
                ]
            }
            return (session, answerer)
        }
        let (right, answerer) = session(login.password)
        let (wrong, _) = session("wrong")
        defer {
            right.invalidateAndCancel()
            wrong.invalidateAndCancel()
        }
        try await withTimeout {
            let url = try #require(URL(string: plain.url("/")))
            var post = URLRequest(url: url)
            post.httpMethod = "POST"
            post.httpBody = Data(repeating: 1, count: 50_000)
            for request in [URLRequest(url: url), post] {
                #expect(await right.outcome(request) == .ok("in"), "\(proxy.output.suffix(2000))")
            }
            #expect(answerer.seen.count == 1)
            let transactions = answerer.metrics.snapshot.flatMap(\.transactionMetrics)
            #expect(transactions.count { !$0.isReusedConnection } == 1)
            #expect(transactions.reduce(0) { $0 + $1.countOfRequestBodyBytesSent } == 50_000)
            let tunnelled = try #require(URL(string: secure.url("/")))
            #expect(await right.outcome(URLRequest(url: tunnelled)) == .ok("in"))
            guard case .loaded(status: 407, _) = await wrong.outcome(URLRequest(url: url)) else {
                Issue.record("a wrong password passes")
                return
            }
            #expect(passed.snapshot == ["GET 0", "POST 50000", "GET 0"])
        }
    }
}
