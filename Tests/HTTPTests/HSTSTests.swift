import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@Suite struct HSTSTests {
    /// A host that has said so is reached by https when http is asked for; the first request went in the clear.
    @Test(arguments: BothVersions.all) func isFollowed(version: String) async throws {
        try await BothVersions.withServer(
            version,
            { request in
                var response = ServerResponse.text(request.tls == nil ? "clear" : "secured")
                response.fields.append(name: "Strict-Transport-Security", value: "max-age=600")
                return response
            }
        ) { session, server in
            let secured = try #require(URL(string: server.url("/", host: "localhost")))
            var components = try #require(URLComponents(url: secured, resolvingAgainstBaseURL: false))
            components.scheme = "http"
            let cleartext = URLRequest(url: try #require(components.url))
            let before = await session.outcome(cleartext)
            #expect(before != .ok("secured"))
            let taught = await session.outcome(URLRequest(url: secured))
            #expect(taught == .ok("secured"))
            let (data, response) = try await session.data(for: cleartext)
            #expect(data == Data("secured".utf8) && response.url == secured)
            // The first letter is in another form, which is escaped.
            let text = try #require(components.string).replacing("localhost", with: "%EF%BD%8Cocalhost")
            let sameHost = await session.outcome(URLRequest(url: try #require(URL(string: text))))
            #expect(sameHost == .ok("secured"))
            let other = makeSession()
            let unaware = await other.outcome(cleartext)
            #expect(unaware != .ok("secured"))
        }
    }

    /// A session, and a server whose first connection is cleartext, and whose second one has TLS.
    private func withSite(
        _ cleartext: [ScriptedPeer.Step], delegate: (any URLSessionDelegate)? = nil,
        _ body: @escaping @Sendable (URLSession, ScriptedPeer) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let secured: [ScriptedPeer.Step] = [
            .startTLS(TLSServerOptions(try authority.issue())), .expectHead, .send("HTTP/1.1 100 Continue\r\n\r\n"),
            .expectBody, .respond("secured"), .readUntilClose,
        ]
        let peer = try ScriptedPeer(scripts: [cleartext, secured])
        defer { peer.stop() }
        let session = makeSession(delegate: delegate) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.httpMaximumConnectionsPerHost = 1
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, peer) }
        #expect(peer.connections.map { $0.tls != nil } == [false, true])
    }

    private static func request(_ peer: ScriptedPeer, _ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: peer.url(path, host: "localhost"))))
    }

    /// The reasons for which a request is sent again.
    enum Reason: CaseIterable {
        case challenged, connectionLost, timedOut, expectationRefused

        var answer: ScriptedPeer.Step {
            switch self {
            case .challenged:
                .send("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n")
            case .connectionLost: .reset
            case .timedOut: .send("HTTP/1.1 408 Late\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            case .expectationRefused: .send("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
            }
        }
    }

    /// The host requires https while it has the request, by a response to another one.
    @Test(arguments: Reason.allCases) func aRequestIsSentAgainByHTTPS(reason: Reason) async throws {
        let (isAsked, isRequired) = (Signal(), Signal())
        // The second request is sent on the same connection.
        let cleartext: [ScriptedPeer.Step] = [
            .expectRequest, .respond("first"), .expectHead, .fire(isAsked), .waitFor(isRequired), reason.answer,
            .readUntilClose,
        ]
        try await withSite(cleartext, delegate: ChallengeAnswerer("user", "secret")) { session, peer in
            let first = try Self.request(peer, "/first")
            #expect(await session.outcome(first) == .ok("first"))
            var request = try Self.request(peer, "/again")
            if reason == .expectationRefused {
                request.httpMethod = "PUT"
                request.httpBody = Data("body".utf8)
                request.setValue("100-continue", forHTTPHeaderField: "Expect")
            }
            let again = request
            let outcome = Task { await session.outcome(again) }
            await isAsked.wait()
            session.core.settings.hsts.note("max-age=600", from: "localhost")
            isRequired.fire()
            #expect(await outcome.value == .ok("secured"))
            #expect(peer.requests.snapshot.map(\.target) == ["/first", "/again", "/again"])
            #expect(peer.requests.snapshot.last?[field: "Authorization"] == nil)
        }
    }

    /// The host requires https while the request waits for the connection of another one.
    @Test func aRequestThatWaitsIsSentByHTTPS() async throws {
        let (isAsked, isRequired) = (Signal(), Signal())
        let cleartext: [ScriptedPeer.Step] = [
            .expectRequest, .fire(isAsked), .waitFor(isRequired), .respond("first"), .readUntilClose,
        ]
        try await withSite(cleartext) { session, peer in
            let (first, second) = (try Self.request(peer, "/first"), try Self.request(peer, "/second"))
            let outcome = Task { await session.outcome(first) }
            await isAsked.wait()
            let task = session.dataTask(with: second)
            let recorder = TransferRecorder()
            task.delegate = recorder
            task.resume()
            try await waitUntil { await session.statistics.requests.waiting == 1 }
            session.core.settings.hsts.note("max-age=600", from: "localhost")
            isRequired.fire()
            #expect(await outcome.value == .ok("first"))
            #expect(await recorder.all().last == "complete ok")
            #expect(recorder.metrics.snapshot.map(\.redirectCount) == [0])
            #expect(task.response?.url?.scheme == "https" && task.originalRequest == second)
            #expect(peer.requests.snapshot.map(\.target) == ["/first", "/second"])
        }
    }

    /// The host requires https while the delegate makes another stream for the body.
    @Test func aBodyThatIsRenewedIsNotSentInCleartext() async throws {
        let peer = try ScriptedPeer([.expectRequest, .respond("first"), .expectRequest, .reset])
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession()
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try #require(URL(string: peer.url(host: "localhost"))))
            // The next request is sent on the same connection.
            #expect(await session.outcome(request) == .ok("first"))
            let hsts = session.core.settings.hsts
            let recorder = TransferRecorder(streams: [
                { InputStream(data: Data("body".utf8)) },
                {
                    hsts.note("max-age=600", from: "localhost")
                    return InputStream(data: Data("body".utf8))
                },
            ])
            request.httpMethod = "PUT"
            let task = session.uploadTask(withStreamedRequest: request)
            task.delegate = recorder
            task.resume()
            let code = URLError.Code.appTransportSecurityRequiresSecureConnection.rawValue
            #expect(await recorder.all().last == "complete \(code)")
        }
        #expect(peer.requests.snapshot.map(\.bodyText) == ["", "body"])
        #expect(peer.connections.count == 1)
    }
}
