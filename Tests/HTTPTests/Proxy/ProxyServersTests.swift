import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Sessions behind real proxies.
@Suite(.usesPeers) struct ProxyServersTests {
    private static let long = String(repeating: "0123456789", count: 30_000)

    @Test(arguments: ProxyServer.Program.allCases) func cleartext(_ program: ProxyServer.Program) async throws {
        let server = try LoopbackServer { .text($0.path == "/long" ? Self.long : "\($0.method) \($0.target)") }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(program) }
        defer { proxy.stop() }
        let session = makeSession { $0.connectionProxyDictionary = proxy.dictionary }
        try await withTimeout(program.rawValue) {
            for path in ["/", "/a?b=c", "/long"] {
                let url = try #require(URL(string: server.url(path, host: "localhost")))
                let expected = path == "/long" ? Self.long : "GET \(path)"
                #expect(await session.outcome(URLRequest(url: url)) == .ok(expected))
            }
        }
    }

    @Test(arguments: ProxyServer.Program.allCases, BothVersions.all)
    func tunnels(_ program: ProxyServer.Program, version: String) async throws {
        let proxy = try await onThread { try ProxyServer(program) }
        defer { proxy.stop() }
        try await BothVersions.withServer(
            version, { .text($0.path == "/long" ? Self.long : "\($0.method) \($0.path)") },
            { $0.connectionProxyDictionary = proxy.dictionary }
        ) { session, server in
            for path in ["/a", "/long"] {
                let expected = path == "/long" ? Self.long : "GET \(path)"
                let outcome = await session.outcome(try BothVersions.request(server, path))
                #expect(outcome == .ok(expected))
            }
        }
    }

    /// A WebSocket goes through a tunnel, also one that is not secure (RFC 6455 §4.1).
    @Test(arguments: ProxyServer.Program.allCases, [true, false])
    func webSockets(_ program: ProxyServer.Program, isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        let tls = isSecure ? TLSServerOptions(try authority.issue()) : nil
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls)) { .webSocket($0) { try $0.echo() } }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(program) }
        defer { proxy.stop() }
        let session = makeSession {
            $0.connectionProxyDictionary = proxy.dictionary
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
        }
        try await withTimeout(program.rawValue) {
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            try await task.send(.string("through \(program)"))
            try await expect(task, "through \(program)")
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    /// dante supports version 4 without the extension for names, so the server is named by its address.
    @Test func version4() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(.dante) }
        defer { proxy.stop() }
        var dictionary = proxy.dictionary
        dictionary[kCFStreamPropertySOCKSVersion] = kCFStreamSocketSOCKSVersion4
        let session = makeSession { $0.connectionProxyDictionary = dictionary }
        try await withTimeout {
            let url = try #require(URL(string: server.url("/4", host: "127.0.0.1")))
            #expect(await session.outcome(URLRequest(url: url)) == .ok("/4"))
        }
    }

    @Test(arguments: ProxyServer.Program.allCases.filter(\.canAsk))
    func credentials(_ program: ProxyServer.Program) async throws {
        let proxy = try await onThread { try ProxyServer(program, credential: "me:secret") }
        defer { proxy.stop() }
        for (password, isRight) in [("secret", true), ("wrong", false)] {
            var dictionary = proxy.dictionary
            for key in [kCFProxyUsernameKey, kCFStreamPropertySOCKSUser] { dictionary[key] = "me" }
            for key in [kCFProxyPasswordKey, kCFStreamPropertySOCKSPassword] { dictionary[key] = password }
            nonisolated(unsafe) let settings = dictionary
            try await BothVersions.withServer(
                "http/1.1", { .text($0.path) }, { $0.connectionProxyDictionary = settings }
            ) { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/in"))
                if isRight {
                    #expect(outcome == .ok("/in"))
                } else {
                    #expect(outcome == .failed(.userAuthenticationRequired) || outcome == .failed(.cannotConnectToHost))
                }
            }
        }
    }
}
