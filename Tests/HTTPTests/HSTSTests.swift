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

    /// The reasons for which a request is sent again.
    enum Reason: CaseIterable {
        case challenged, connectionLost, timedOut, expectationRefused
    }

    /// The host requires https while it has the request, by a response to another one.
    @Test(arguments: Reason.allCases) func aRequestIsNotSentAgainInCleartext(reason: Reason) async throws {
        let session = makeSession(delegate: ChallengeAnswerer("user", "secret"))
        defer { session.invalidateAndCancel() }
        let (hsts, seen) = (session.core.settings.hsts, Recorder<String>())
        var options = LoopbackServer.Options()
        options.beforeBody = { request in
            seen.append(request.path)
            guard request.path == "/again" else { return nil }
            hsts.note("max-age=600", from: "localhost")
            switch reason {
            case .challenged: return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            case .connectionLost: try request.exchange.closeAbruptly()
            case .timedOut: return ServerResponse(408).closing()
            case .expectationRefused: return ServerResponse(417)
            }
        }
        let server = try LoopbackServer(options) { _ in .text("done") }
        defer { server.stop() }
        // The next request is sent on the same connection.
        let first = try BothVersions.request(server, "/first")
        #expect(await session.outcome(first) == .ok("done"))
        var request = try BothVersions.request(server, "/again")
        if reason == .expectationRefused {
            request.httpMethod = "PUT"
            request.httpBody = Data("body".utf8)
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
        }
        let outcome = await session.outcome(request)
        #expect(outcome == .failed(.appTransportSecurityRequiresSecureConnection))
        #expect(seen.snapshot == ["/first", "/again"])
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
