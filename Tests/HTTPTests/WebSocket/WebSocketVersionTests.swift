import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The version of HTTP over which a WebSocket is opened where there is no connection yet.
@Suite(.usesPeers, .timeLimit(.minutes(5))) struct WebSocketVersionTests {
    /// How a server with HTTP/2 alone refuses HTTP/1.1.
    enum Refusal: CaseIterable {
        /// It ends the handshake (RFC 7301 §3.2).
        case alert
        /// It chooses no protocol, and then rejects the client's bytes.
        case silence
    }

    /// Calls `body` with a server that supports HTTP/2 alone.
    private static func withServer(
        _ refusal: Refusal, allowsConnectProtocol: Bool = true,
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        var tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2"])
        tls.ignoresOtherProtocols = refusal == .silence
        var options = LoopbackServer.Options(tls: tls)
        options.speaksHTTP2 = true
        options.allowsConnectProtocol = allowsConnectProtocol
        let server = try LoopbackServer(options) { request in
            if request.path == "/reset" { try request.exchange.reset() }
            return .webSocket(request) { try $0.echo() }
        }
        defer { server.stop() }
        let session = makeSession {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, server) }
    }

    private static func echo(_ session: URLSession, _ server: LoopbackServer, tried: String = "h2") async throws {
        let recorder = WebSocketRecorder()
        let task = session.webSocketTask(with: try WebSocketServing.url(server))
        task.delegate = recorder
        task.resume()
        try await task.send(.string("a"))
        try await expect(task, "a")
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await recorder.whole() == ["open -", "close 1000 -", "metrics \(tried)", "end -"])
    }

    @Test(arguments: Refusal.allCases) func aServerOfHTTP2Alone(_ refusal: Refusal) async throws {
        try await Self.withServer(refusal) { session, server in
            try await Self.echo(session, server, tried: refusal == .silence ? "http/1.1 h2" : "h2")
            #expect(server.openings.count == 2)
            // The connection is used again.
            try await Self.echo(session, server)
            #expect(server.openings.count == 2)
            // When it is gone, HTTP/1.1 is not tried again.
            let lost = session.webSocketTask(with: try WebSocketServing.url(server, "/reset"))
            lost.resume()
            await expectFailure(.networkConnectionLost) { _ = try await lost.receive() }
            let count = server.openings.count
            try await Self.echo(session, server)
            #expect(server.openings.count == count + 1)
        }
    }

    /// All WebSockets share one connection, and each has its own pace.
    @Test(arguments: Refusal.allCases) func manyAtATime(_ refusal: Refusal) async throws {
        try await Self.withServer(refusal) { session, server in
            let tasks = try (0..<20).map { _ in session.webSocketTask(with: try WebSocketServing.url(server)) }
            for task in tasks { task.resume() }
            for round in 0..<3 {
                for (number, task) in tasks.enumerated() { try await task.send(.string("\(round) \(number)")) }
                for (number, task) in tasks.enumerated().reversed() { try await expect(task, "\(round) \(number)") }
            }
            // A task that is cancelled does not disturb the others.
            for task in tasks.dropLast() { task.cancel() }
            let last = try #require(tasks.last)
            try await last.send(.string("still here"))
            try await expect(last, "still here")
            last.cancel(with: .normalClosure, reason: nil)
        }
    }

    @Test(arguments: Refusal.allCases) func aServerThatOpensNone(_ refusal: Refusal) async throws {
        try await Self.withServer(refusal, allowsConnectProtocol: false) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            await expectFailure(.secureConnectionFailed) { _ = try await task.receive() }
            #expect(task.error?.localizedDescription.hasPrefix("the server supports only HTTP/2") == true)
            #expect(server.openings.count == 2)
        }
    }

    @Test func aSessionWithoutHTTP2() async throws {
        try await Self.withServer(.alert, { $0.allowsHTTP2 = false }) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            await expectFailure(.secureConnectionFailed) { _ = try await task.receive() }
            #expect(task.error?.localizedDescription.contains("no application protocol") == true)
            #expect(server.openings.count == 1)
        }
    }

    /// A real server that supports HTTP/2 alone, and chooses no protocol in the TLS handshake.
    @Test func hypersServer() async throws {
        let authority = try CertificateAuthority()
        let server = try await onThread {
            try HTTP2Server(.hyper, files: ["file": [1]], identity: try authority.issue())
        }
        defer { server.stop() }
        let recorder = WebSocketRecorder()
        let session = makeSession(delegate: recorder) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let url = try #require(URL(string: server.url("/chat").replacing("https", with: "wss")))
            let task = session.webSocketTask(with: url)
            task.resume()
            let long = String(repeating: "long ", count: 5000)
            for text in ["", "short", long] {
                try await task.send(.string(text))
                try await expect(task, text)
            }
            try await task.sendPing()
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await recorder.whole() == ["open -", "close 1000 -", "metrics http/1.1 h2", "end -"])
        }
    }

    /// An upgrade to a protocol other than WebSocket needs HTTP/1.1.
    @Test func anUpgradeToAnotherProtocol() async throws {
        try await Self.withServer(.alert) { session, server in
            var request = try BothVersions.request(server, "/")
            request.setValue("echo", forHTTPHeaderField: "Upgrade")
            #expect(await session.outcome(request) == .failed(.secureConnectionFailed))
        }
    }
}
