import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// https: servers that are who they say, servers that are not, and connections that end in the wrong way.
@Suite struct TLSTests {
    private struct Case: Sendable {
        var what: String
        var identity: ServerIdentity
        var trusted: URLSessionConfiguration.TrustRoots
        var host = "localhost"
        var outcome: Outcome
        /// A part of the underlying error's plain words.
        var words = ""
    }

    private static func certificateCases() throws -> [Case] {
        let authority = try CertificateAuthority()
        let roots = URLSessionConfiguration.TrustRoots.pem(authority.certificatePEM)
        let fine = try authority.issue()
        let other = try CertificateAuthority().issue()
        return [
            Case(what: "fine", identity: fine, trusted: roots, outcome: .ok("a")),
            Case(what: "by address", identity: fine, trusted: roots, host: "127.0.0.1", outcome: .ok("a")),
            Case(
                what: "expired", identity: try authority.issue(.expired), trusted: roots,
                outcome: .failed(.serverCertificateHasBadDate), words: "expired"),
            Case(
                what: "not valid yet", identity: try authority.issue(.notYetValid), trusted: roots,
                outcome: .failed(.serverCertificateNotYetValid), words: "not yet valid"),
            Case(
                what: "self-signed", identity: try ServerIdentity.selfSigned(), trusted: roots,
                outcome: .failed(.serverCertificateUntrusted), words: "self-signed"),
            Case(
                what: "unknown authority", identity: other, trusted: roots,
                outcome: .failed(.serverCertificateHasUnknownRoot), words: "issuer"),
            Case(
                what: "the system's store", identity: fine, trusted: .system,
                outcome: .failed(.serverCertificateHasUnknownRoot), words: "issuer"),
            Case(
                what: "wrong host", identity: try authority.issue(.names("elsewhere.test")), trusted: roots,
                outcome: .failed(.serverCertificateUntrusted), words: "localhost"),
        ]
    }

    /// A file that could not be read once may be there the next time: no failure is remembered for the session's life.
    @Test func trustedCertificatesThatComeLater() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue()) { _ in .text("a") }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let path = folder.path + "/roots.pem"
        let session = makeSession { $0.tlsTrustRoots = .file(path: path) }
        let request = try BothVersions.request(server, "/")
        try await withTimeout {
            #expect(await session.outcome(request) == .failed(.cannotConnectToHost))
            try authority.certificatePEM.write(toFile: path, atomically: true, encoding: .utf8)
            #expect(await session.outcome(request) == .ok("a"))
        }
    }

    @Test func certificates() async throws {
        for test in try Self.certificateCases() {
            let peer = try ScriptedPeer([.expectRequest, .respond("a")], tls: TLSServerOptions(test.identity))
            defer { peer.stop() }
            let url = try #require(URL(string: peer.url(host: test.host)))
            let session = makeSession { $0.tlsTrustRoots = test.trusted }
            try await withTimeout(test.what) {
                let outcome = await session.outcome(URLRequest(url: url))
                #expect(outcome == test.outcome, "\(test.what)")
                guard case .failed = test.outcome else { return }
                let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                let words = error?.userInfo[NSUnderlyingErrorKey].map { "\($0)" } ?? ""
                #expect(words.contains(test.words), "\(test.what): \(words)")
                #expect(peer.requests.count == 0, "a request was sent to a server that is not trusted")
            }
            // The program may decide to trust anyone.
            let trusting = makeSession { $0.tlsVerifiesServer = false }
            try await withTimeout(test.what) { #expect(await trusting.outcome(URLRequest(url: url)) == .ok("a")) }
        }
    }

    /// Scripts of servers on an https port, and what comes of a load.
    private struct BadPeer: Sendable {
        var what: String
        var steps: [ScriptedPeer.Step]
        var outcome: Outcome
    }

    private static func badPeers(_ tls: TLSServerOptions) -> [BadPeer] {
        func answers(_ response: String, _ ending: ScriptedPeer.Step) -> [ScriptedPeer.Step] {
            [.startTLS(tls), .expectRequest, .send(response), ending]
        }
        let toTheEnd = "HTTP/1.1 200 OK\r\n\r\nabc"
        let plain = "HTTP/1.1 400 Bad Request\r\n\r\n"
        return [
            BadPeer(
                what: "plain text", steps: [.expectAnything, .send(plain), .close],
                outcome: .failed(.secureConnectionFailed)),
            BadPeer(
                what: "garbage", steps: [.expectAnything, .send([UInt8](repeating: 0xFF, count: 99)), .close],
                outcome: .failed(.secureConnectionFailed)),
            BadPeer(what: "an end", steps: [.expectAnything, .close], outcome: .failed(.secureConnectionFailed)),
            BadPeer(what: "a reset", steps: [.expectAnything, .reset], outcome: .failed(.secureConnectionFailed)),
            BadPeer(
                what: "half a handshake", steps: [.beginTLS(tls, answerBytes: 99), .close],
                outcome: .failed(.secureConnectionFailed)),
            BadPeer(what: "a body to the end", steps: answers(toTheEnd, .close), outcome: .ok("abc")),
            BadPeer(
                what: "a body that may have been cut off", steps: answers(toTheEnd, .closeWithoutNotify),
                outcome: .failed(.networkConnectionLost)),
            BadPeer(
                what: "a body that is whole, cut off after it",
                steps: answers("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", .closeWithoutNotify),
                outcome: .ok("abc")),
            BadPeer(
                what: "a shorter body", steps: answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .close),
                outcome: .failed(.networkConnectionLost)),
            BadPeer(
                what: "a reset in the body", steps: answers("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", .reset),
                outcome: .failed(.networkConnectionLost)),
        ]
    }

    @Test func peersThatMisbehave() async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue())
        let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        let good = try ScriptedPeer([.forever([.expectRequest, .respond("unharmed")])], tls: tls)
        defer { good.stop() }
        for test in Self.badPeers(tls) {
            let peer = try ScriptedPeer(test.steps)
            defer { peer.stop() }
            let url = try #require(URL(string: peer.url().replacingOccurrences(of: "http:", with: "https:")))
            let goodURL = try #require(URL(string: good.url(host: "localhost")))
            try await withTimeout(test.what) {
                let outcome = await session.outcome(URLRequest(url: url))
                #expect(outcome == test.outcome, "\(test.what)")
                #expect(await session.outcome(URLRequest(url: goodURL)) == .ok("unharmed"), "\(test.what)")
            }
        }
    }

    /// The session's metrics of connections that are made one after another.
    private func connections(
        _ count: Int, to options: TLSServerOptions, _ configure: @escaping @Sendable (URLSessionConfiguration) -> Void
    ) async throws -> [TLSFacts] {
        let close = ScriptedPeer.Step.respond("a", fields: ["Connection: close"])
        let peer = try ScriptedPeer([.expectRequest, close], tls: options)
        defer { peer.stop() }
        let url = try #require(URL(string: peer.url(host: "localhost")))
        let session = makeSession(configure)
        return try await withTimeout {
            for _ in 0..<count { _ = await session.outcome(URLRequest(url: url)) }
            await peer.endedCount(reaches: count)
            return peer.connections.compactMap(\.tls)
        }
    }

    @Test func sessionsAreResumed() async throws {
        let authority = try CertificateAuthority()
        for version in [TLSVersion.v1_2, .v1_3] {
            var options = TLSServerOptions(try authority.issue())
            options.minimumVersion = version
            options.maximumVersion = version
            let facts = try await connections(3, to: options) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            #expect(facts.map(\.isResumed) == [false, true, true], "\(version)")
        }
    }

    @Test func versionsAreThoseOfTheConfiguration() async throws {
        let authority = try CertificateAuthority()
        var old = TLSServerOptions(try authority.issue())
        old.maximumVersion = .v1_2
        let refused = try await connections(1, to: old) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.tlsMinimumSupportedProtocolVersion = .TLSv13
        }
        #expect(refused.isEmpty)
        let limited = try await connections(1, to: TLSServerOptions(try authority.issue())) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.tlsMaximumSupportedProtocolVersion = .TLSv12
        }
        #expect(limited.map(\.version) == ["TLSv1.2"])
    }

    @Test func trustRootsThatCannotBeReadAreSaidSo() async throws {
        let session = makeSession { $0.tlsTrustRoots = .file(path: "/nonexistent/roots.pem") }
        let url = try #require(URL(string: "https://127.0.0.1:1/"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.localizedDescription.contains("/nonexistent/roots.pem") == true)
    }
}
