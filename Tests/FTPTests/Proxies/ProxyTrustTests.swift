import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The certificate of a proxy that ftp speaks to over TLS is put to the delegate, as that of every server is.
@Suite(.usesPeers) struct ProxyTrustTests {
    private final class Delegate: NSObject, URLSessionDelegate, Sendable {
        let trusts: Bool
        let spaces = Recorder<URLProtectionSpace>()

        init(trusts: Bool) { self.trusts = trusts }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            guard challenge.protectionSpace.isProxy() else { return (.performDefaultHandling, nil) }
            spaces.append(challenge.protectionSpace)
            guard trusts, let trust = challenge.protectionSpace.serverTrust else {
                return (.rejectProtectionSpace, nil)
            }
            return (.useCredential, URLCredential(trust: trust))
        }
    }

    @Test(arguments: [true, false]) func selfSigned(trusts: Bool) async throws {
        let proxy = try await onThread { try ProxyServer(.squid, tls: try .selfSigned()) }
        defer { proxy.stop() }
        let run = try await ScenarioRun.start(.pyftpdlib, .implicit)
        defer { run.server.stop() }
        let delegate = Delegate(trusts: trusts)
        let session = run.makeSession(delegate: delegate) {
            $0.connectionProxyDictionary = ["FTPEnable": 1, "FTPProxy": "https://localhost:\(proxy.port)"]
        }
        defer { session.invalidateAndCancel() }
        let outcome = try await withTimeout("\(trusts)") { await session.outcome(try run.request("/a.txt")) }
        #expect(outcome == (trusts ? .loaded(ScenarioRun.text) : .failed(.serverCertificateUntrusted)))
        // The data connection has a tunnel of its own.
        #expect(delegate.spaces.count == (trusts ? 2 : 1))
        for space in delegate.spaces.snapshot {
            #expect(space.proxyType == NSURLProtectionSpaceFTPProxy && space.port == Int(proxy.port))
            #expect(space.serverTrust?.isTrusted == false)
        }
    }
}
