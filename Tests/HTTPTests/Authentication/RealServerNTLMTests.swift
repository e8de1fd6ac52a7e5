import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// NTLM with an implementation of others: Samba behind squid.
@Suite struct RealServerNTLMTests {
    private static let passwords = ["lkalice": "alice-pw", "jürgen": "pässwörd€ 日本"]

    /// Forwarded requests and tunnels, with each form of a user's name. The connection is kept, and a body is sent once.
    @Test(arguments: ["LKHOST\\lkalice", "lkalice", "lkhost\\LKALICE", "LKHOST\\jürgen", "JÜRGEN"])
    func squidWithSamba(_ user: String) async throws {
        let proxy = try await onThread { try SambaLoginProxy(Self.passwords) }
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
            let answerer = SessionChallengeAnswerer { challenge in
                let isFirst = challenge.previousFailureCount == 0
                let credential = URLCredential(user: user, password: password, persistence: .forSession)
                return isFirst ? (.useCredential, credential) : (.performDefaultHandling, nil)
            }
            let session = makeSession(delegate: answerer) {
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "HTTPSEnable": 1,
                    "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
                ]
            }
            return (session, answerer)
        }
        let (right, answerer) = session(Self.passwords[user.lowercased().replacing("lkhost\\", with: "")] ?? "")
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
