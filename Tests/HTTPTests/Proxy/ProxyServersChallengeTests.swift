import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Challenges of real proxies.
@Suite(.usesPeers) struct ProxyServersChallengeTests {
    struct Asking: Sendable, CustomTestStringConvertible {
        let program: ProxyServer.Program
        var scheme = ProxyServer.Scheme.basic

        var testDescription: String { "\(program) \(scheme)" }

        static let all = [
            Asking(program: .squid), Asking(program: .squid, scheme: .digest), Asking(program: .tinyproxy),
            Asking(program: .microsocks),
        ]

        /// The delegate's note of a first challenge.
        func question(_ failures: Int, _ proposed: String = "-") -> String {
            switch program {
            case .microsocks: "task's task: Default - \(failures) \(proposed)"
            case .tinyproxy: "task's task: HTTPBasic Tinyproxy \(failures) \(proposed)"
            case .squid, .dante:
                switch scheme {
                case .basic: "task's task: HTTPBasic r \(failures) \(proposed)"
                case .digest: "task's task: HTTPDigest r \(failures) \(proposed)"
                }
            }
        }
    }

    /// A wrong password, then the right one. Later requests are accepted without a challenge. (Tinyproxy answers a
    /// wrong password with 401, which has no challenge.)
    @Test(arguments: Asking.all, [false, true]) func challenges(_ asking: Asking, isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(
            LoopbackServer.Options(tls: isSecure ? TLSServerOptions(try authority.issue()) : nil)
        ) { .text("\($0.path) \($0.bodyText)") }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(asking.program, credential: "me:secret", by: asking.scheme) }
        defer { proxy.stop() }
        let asksOnce = asking.program == .tinyproxy
        let answerer = SessionChallengeAnswerer { challenge in
            let password = challenge.previousFailureCount == 0 && !asksOnce ? "wrong" : "secret"
            return (.useCredential, URLCredential(user: "me", password: password, persistence: .forSession))
        }
        let session = makeSession(delegate: answerer) {
            $0.connectionProxyDictionary = proxy.dictionary
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.httpMaximumConnectionsPerHost = 2
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            for number in 0..<3 {
                // Tinyproxy closes connections without notice: a request that must not be repeated could be lost.
                let request = try BothVersions.request(server, "/\(number)", "PUT", body: Data("body".utf8))
                #expect(await session.outcome(request) == .ok("/\(number) body"))
            }
        }
        let expected = asksOnce ? [asking.question(0)] : [asking.question(0), asking.question(1, "me")]
        #expect(answerer.seen.snapshot == expected)
        let space = try #require(answerer.challenges.snapshot.first?.protectionSpace)
        #expect(space.isProxy() && space.host == "127.0.0.1" && space.port == Int(proxy.port))
        let type = asking.program.isSOCKS ? NSURLProtectionSpaceSOCKSProxy : isSecure ? "https" : "http"
        #expect(space.proxyType == type)
    }

    /// Without a delegate, the credential that is stored for the proxy is used.
    @Test(arguments: Asking.all) func stored(_ asking: Asking) async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(asking.program, credential: "me:secret", by: asking.scheme) }
        defer { proxy.stop() }
        let (realm, method): (String?, String) =
            switch (asking.program, asking.scheme) {
            case (.tinyproxy, _): ("Tinyproxy", NSURLAuthenticationMethodHTTPBasic)
            case (.microsocks, _): (nil, NSURLAuthenticationMethodDefault)
            case (_, .basic): ("r", NSURLAuthenticationMethodHTTPBasic)
            case (_, .digest): ("r", NSURLAuthenticationMethodHTTPDigest)
            }
        let space = URLProtectionSpace(
            proxyHost: "127.0.0.1", port: Int(proxy.port),
            type: asking.program.isSOCKS ? NSURLProtectionSpaceSOCKSProxy : NSURLProtectionSpaceHTTPProxy, realm: realm,
            authenticationMethod: method)
        let storage = URLCredentialStorage()
        storage.set(URLCredential(user: "me", password: "secret", persistence: .forSession), for: space)
        let session = makeSession {
            $0.connectionProxyDictionary = proxy.dictionary
            $0.urlCredentialStorage = storage
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { #expect(await session.outcome(server, "/in") == .ok("/in")) }
    }

    /// TLS to the proxy, and TLS to the server inside it: both versions of HTTP, and long bodies both ways.
    @Test(arguments: BothVersions.all) func tlsInsideTLS(version: String) async throws {
        let authority = try CertificateAuthority()
        let proxy = try await onThread { try ProxyServer(.squid, credential: "me:secret", tls: try authority.issue()) }
        defer { proxy.stop() }
        let identity = TLSServerOptions(try authority.issue(), applicationProtocols: [version])
        let long = String(repeating: "0123456789", count: 300_000)
        let server = try LoopbackServer(LoopbackServer.Options(tls: identity)) {
            .text($0.path == "/long" ? long : "\($0.method) \($0.body.count)")
        }
        defer { server.stop() }
        let answerer = ChallengeAnswerer("me", "secret")
        let session = makeSession(delegate: answerer) {
            $0.connectionProxyDictionary = ["HTTPSEnable": 1, "HTTPSProxy": "https://localhost:\(proxy.port)"]
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            #expect(await session.outcome(server, "/a") == .ok("GET 0"))
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { #expect(await session.outcome(server, "/long") == .ok(long)) }
                    group.addTask {
                        guard let request = try? BothVersions.request(server, "/up", "POST", body: Data(long.utf8))
                        else {
                            return
                        }
                        #expect(await session.outcome(request) == .ok("POST 3000000"))
                    }
                }
            }
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -"])
        let metrics = await answerer.metrics.element(at: 0)?.transactionMetrics.last
        #expect(metrics?.networkProtocolName == version && metrics?.isProxyConnection == true)
    }
}
