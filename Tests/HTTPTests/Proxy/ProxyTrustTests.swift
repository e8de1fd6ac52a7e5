import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The certificates of proxies that are spoken to over TLS, and of clients to them.
@Suite(.usesPeers) struct ProxyTrustTests {
    /// A proxy with a certificate of its own, and a server behind it that the session trusts.
    private struct World {
        let authority: CertificateAuthority
        let proxy: ProxyServer
        let server: LoopbackServer

        init(isSecure: Bool) async throws {
            let authority = try CertificateAuthority()
            self.authority = authority
            proxy = try await onThread { try ProxyServer(.squid, tls: try .selfSigned()) }
            let tls = isSecure ? TLSServerOptions(try authority.issue()) : nil
            server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { .text($0.path) }
        }

        func stop() {
            server.stop()
            proxy.stop()
        }

        func session(_ delegate: (any URLSessionDelegate)?) -> URLSession {
            makeSession(delegate: delegate) {
                let name = "https://localhost:\(proxy.port)"
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": name, "HTTPSEnable": 1, "HTTPSProxy": name,
                ]
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
        }
    }

    private static func answerer(_ answer: ChallengeNotes.Answer?) -> TrustAnswerer {
        TrustAnswerer { challenge in
            let space = challenge.protectionSpace
            guard space.isProxy() else { return (.performDefaultHandling, nil) }
            return answer ?? (.useCredential, space.serverTrust.map { URLCredential(trust: $0) })
        }
    }

    @Test(
        "a proxy's self-signed certificate is put to the delegate, apart from the server's", arguments: [false, true])
    func selfSigned(isSecure: Bool) async throws {
        let world = try await World(isSecure: isSecure)
        defer { world.stop() }
        let answers: [(String, ChallengeNotes.Answer?, Outcome)] = [
            ("use", nil, .ok("/a")), ("default", (.performDefaultHandling, nil), .failed(.serverCertificateUntrusted)),
            ("reject", (.rejectProtectionSpace, nil), .failed(.serverCertificateUntrusted)),
            ("cancel", (.cancelAuthenticationChallenge, nil), .failed(.cancelled)),
        ]
        for (what, answer, expected) in answers {
            let delegate = Self.answerer(answer)
            let session = world.session(delegate)
            defer { session.invalidateAndCancel() }
            try await withTimeout(what) {
                let outcome = await session.outcome(world.server, "/a")
                #expect(outcome == expected, "\(what)")
                let spaces = delegate.challenges.snapshot.map(\.protectionSpace)
                let space = try #require(spaces.first)
                #expect(space.isProxy() && space.host == "localhost" && space.port == Int(world.proxy.port))
                #expect(space.proxyType == (isSecure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy))
                #expect(space.serverTrust?.host == "localhost" && space.serverTrust?.isTrusted == false)
                // The server's comes after that, where there is one.
                #expect(spaces.dropFirst().map { $0.isProxy() } == (isSecure && answer == nil ? [false] : []))
            }
        }
        let session = world.session(nil)
        defer { session.invalidateAndCancel() }
        let error = await #expect(throws: URLError.self) {
            try await session.data(for: BothVersions.request(world.server, "/"))
        }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect(error?.localizedDescription.contains("the proxy https://localhost:\(world.proxy.port)") == true)
    }

    @Test("to accept a proxy is not to accept the server") func serverBehind() async throws {
        let world = try await World(isSecure: false)
        defer { world.stop() }
        let stranger = try LoopbackServer(LoopbackServer.Options(tls: TLSServerOptions(try .selfSigned()))) {
            .text($0.path)
        }
        defer { stranger.stop() }
        let session = world.session(Self.answerer(nil))
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let outcome = await session.outcome(stranger, "/")
            #expect(outcome == .failed(.serverCertificateUntrusted))
        }
    }

    @Test("what one task's delegate accepts is not another's") func taskDelegates() async throws {
        let world = try await World(isSecure: false)
        defer { world.stop() }
        let session = world.session(nil)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let request = try BothVersions.request(world.server, "/")
            for _ in 0..<2 {
                let accepted = await session.outcome(request, delegate: TaskDelegateTrustTests.Decider.accepting())
                #expect(accepted == .ok("/"))
                #expect(await session.outcome(request) == .failed(.serverCertificateUntrusted))
            }
        }
    }

    @Test("a proxy asks who the client is", arguments: TLSGeneration.allCases)
    func clientCertificate(tls: TLSGeneration) async throws {
        let authority = try CertificateAuthority()
        var options = TLSServerOptions(try authority.issue())
        options.maximumVersion = tls.version
        options.clientAuthoritiesPEM = [authority.certificatePEM]
        options.requiresClientCertificate = true
        let inner = TLSServerOptions(try authority.issue())
        let files = try authority.issue(.client("Ada"))
        let identity = try ClientIdentity(pemRepresentation: files.certificatePEM + files.privateKeyPEM)
        for hasIdentity in [true, false] {
            let peer = try ScriptedPeer(
                [
                    .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(inner), .expectRequest,
                    .respond("in"),
                ], tls: options)
            defer { peer.stop() }
            let delegate = TrustAnswerer { challenge in
                guard challenge.protectionSpace.serverTrust == nil, hasIdentity else {
                    return (.performDefaultHandling, nil)
                }
                return (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .none))
            }
            let session = makeSession(delegate: delegate) {
                $0.connectionProxyDictionary = [
                    "HTTPSEnable": 1, "HTTPSProxy": "https://localhost:\(peer.address.port ?? 0)",
                ]
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            defer { session.invalidateAndCancel() }
            let url = try #require(URL(string: "https://localhost/"))
            try await withTimeout {
                let outcome = await session.outcome(URLRequest(url: url))
                #expect(outcome == (hasIdentity ? .ok("in") : .failed(.clientCertificateRequired)))
                let asked = delegate.challenges.snapshot.map(\.protectionSpace)
                #expect(asked.prefix(2).allSatisfy { $0.isProxy() } && asked.count == (hasIdentity ? 3 : 2))
                #expect(asked[1].distinguishedNames?.count == 1)
            }
        }
    }
}
