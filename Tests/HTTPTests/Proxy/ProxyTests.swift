import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Sessions behind scripted proxies. Those with real proxies are ``ProxyServersTests``.
@Suite struct ProxyTests {
    private static func session(
        _ peer: ScriptedPeer, secure: Bool = false, credential: String? = nil, authority: CertificateAuthority? = nil,
        delegate: (any URLSessionDelegate)? = nil
    ) -> URLSession {
        let kind = secure ? "HTTPS" : "HTTP"
        var proxy: [AnyHashable: Any] = [
            "\(kind)Enable": 1, "\(kind)Proxy": "127.0.0.1", "\(kind)Port": Int(peer.address.port ?? 0),
        ]
        if let credential {
            proxy[kCFProxyUsernameKey] = credential
            proxy[kCFProxyPasswordKey] = "secret"
        }
        return makeSession(delegate: delegate) {
            $0.connectionProxyDictionary = proxy
            $0.appTransportSecurity.allowsArbitraryLoads = true
            if let authority { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        }
    }

    private static func request(_ url: String) throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }

    /// The value of `Basic` for `me:secret`.
    private static let basic = "Basic bWU6c2VjcmV0"

    @Test func anHTTPRequestIsSentInAbsoluteForm() async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("one"), .expectRequest, .respond("two")])
        defer { peer.stop() }
        try await withTimeout {
            let session = Self.session(peer, credential: "me")
            let outcome0 = await session.outcome(try Self.request("http://h.example/a?b"))
            #expect(outcome0 == .ok("one"))
            let outcome1 = await session.outcome(try Self.request("http://h.example:8080"))
            #expect(outcome1 == .ok("one"))
            let outcome2 = await session.outcome(try Self.request("http://h.example/"))
            #expect(outcome2 == .ok("two"))
            let first = try #require(await peer.receivedRequest(0))
            #expect(first.target == "http://h.example/a?b" && first[field: "Host"] == "h.example")
            #expect(first[field: "Proxy-Authorization"] == Self.basic)
            let second = try #require(await peer.receivedRequest(1))
            #expect(second.target == "http://h.example:8080/")
            let third = try #require(await peer.receivedRequest(2))
            #expect(third.connection == 0)
        }
    }

    @Test func anHTTPSRequestGoesThroughATunnel() async throws {
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer([
            .expectRequest, .sendByteByByte("HTTP/1.1 200 Connection established\r\nVia: 1.1 p\r\n\r\n"),
            .startTLS(TLSServerOptions(try authority.issue())), .expectRequest, .respond("secret"),
        ])
        defer { peer.stop() }
        let recorder = MetricsRecorder()
        try await withTimeout {
            let session = Self.session(peer, secure: true, credential: "me", authority: authority, delegate: recorder)
            var request = try Self.request("https://localhost/path")
            request.setValue("mine", forHTTPHeaderField: "Proxy-Authorization")
            #expect(await session.outcome(request) == .ok("secret"))
            let connect = try #require(await peer.receivedRequest(0))
            #expect(connect.method == "CONNECT" && connect.target == "localhost:443")
            #expect(connect[field: "Host"] == "localhost:443" && connect[field: "Proxy-Authorization"] == Self.basic)
            let inner = try #require(await peer.receivedRequest(1))
            #expect(inner.target == "/path" && inner[field: "Proxy-Authorization"] == nil)
            let metrics = try #require(await recorder.metrics.element(at: 0)?.transactionMetrics.first)
            #expect(metrics.isProxyConnection && metrics.secureConnectionStartDate != nil)
        }
    }

    @Test func aProxyIsSpokenToOverTLS() async throws {
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer(
            [.expectRequest, .respond("by TLS")], tls: TLSServerOptions(try authority.issue()))
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession {
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "https://localhost:\(peer.address.port ?? 0)",
                ]
                $0.appTransportSecurity.allowsArbitraryLoads = true
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            let outcome3 = await session.outcome(try Self.request("http://h.example/"))
            #expect(outcome3 == .ok("by TLS"))
            let received = try #require(await peer.receivedRequest(0))
            #expect(received.target == "http://h.example/")
        }
    }

    @Test func aRefusalIsAnErrorThatNamesTheProxy() async throws {
        let answers: [(String, URLError.Code, String)] = [
            ("HTTP/1.1 403 No Way\r\nContent-Length: 2\r\n\r\nno", .cannotConnectToHost, "403 No Way"),
            ("HTTP/1.1 407 Who\r\n\r\n", .userAuthenticationRequired, "user name"),
            ("HTTP/1.1 200 OK\r\n\r\nearly", .cannotConnectToHost, "bytes after"),
            ("SSH-2.0\r\n\r\n", .cannotConnectToHost, "makes no sense"),
            ("", .cannotConnectToHost, "closed the connection"),
        ]
        for (answer, code, text) in answers {
            let peer = try ScriptedPeer([.expectRequest, .send(answer), .close])
            defer { peer.stop() }
            try await withTimeout {
                let session = Self.session(peer, secure: true)
                do {
                    _ = try await session.data(for: try Self.request("https://h.example/"))
                    Issue.record("\(answer) was taken for a tunnel")
                } catch let error as URLError {
                    #expect(error.code == code, "\(answer)")
                    let description = error.localizedDescription
                    #expect(description.contains(text) && description.contains("\(peer.address)"), "\(description)")
                }
            }
        }
    }

    @Test func aProxyThatIsNotThereIsNamed() async throws {
        let port = try RefusingPort.keepOne()
        let session = makeSession {
            $0.connectionProxyDictionary = ["HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(port)]
        }
        do {
            _ = try await session.data(for: try Self.request("https://h.example/"))
            Issue.record("there is no proxy")
        } catch let error as URLError {
            #expect(error.code == .cannotConnectToHost)
            #expect(error.localizedDescription.contains("proxy http://127.0.0.1:\(port)"))
        }
    }

    @Test func exceptionsAreReachedDirectly() async throws {
        let server = try ScriptedPeer([.expectRequest, .respond("direct")])
        defer { server.stop() }
        let session = makeSession {
            $0.connectionProxyDictionary = [
                "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": 1, "ExceptionsList": ["127.0.0.0/8"],
            ]
        }
        try await withTimeout { #expect(await session.outcome(server.request()) == .ok("direct")) }
    }

    /// A silent proxy leads to a timeout, as a silent server does.
    @Test func aProxyThatSaysNothingTimesOut() async throws {
        let peer = try ScriptedPeer([.expectRequest, .hold])
        defer { peer.stop() }
        try await withTimeout {
            let session = Self.session(peer, secure: true)
            var request = try Self.request("https://h.example/")
            request.timeoutInterval = 0.3
            #expect(await session.outcome(request) == .failed(.timedOut))
        }
    }
}

private final class MetricsRecorder: NSObject, URLSessionTaskDelegate, Sendable {
    let metrics = Recorder<URLSessionTaskMetrics>()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        self.metrics.append(metrics)
    }
}
