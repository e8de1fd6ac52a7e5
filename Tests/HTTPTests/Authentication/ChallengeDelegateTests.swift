import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Which delegate gets a challenge, and when.
@Suite struct ChallengeDelegateTests {
    private typealias Answer = ChallengeAnswerer.Answer

    /// A session's delegate that only takes the session's challenges.
    private final class SessionOnly: NSObject, URLSessionDelegate {
        let seen: Recorder<String>
        init(_ seen: Recorder<String>) { self.seen = seen }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            seen.append("only: \(challenge.protectionSpace.realm ?? "-")")
            completionHandler(.useCredential, nil)
        }
    }

    /// Neither delegate takes challenges.
    private final class Silent: NSObject, URLSessionTaskDelegate {}

    @Test(arguments: ["Basic realm=r", "Digest realm=r, nonce=n", "NTLM"])
    func order(of challenge: String) async throws {
        let isNTLM = challenge == "NTLM"
        let refusal: ScriptedPeer.Step = .send(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\nContent-Length: 0\r\n\r\n")
        let peer = try ScriptedPeer([.forever([.expectRequest, refusal])])
        defer { peer.stop() }
        let seen = Recorder<String>()
        let none: @Sendable (URLAuthenticationChallenge) -> Answer = { _ in (.useCredential, nil) }
        let own = ChallengeAnswerer("own", seen: seen, none)
        let shared = ChallengeAnswerer("shared", seen: seen, none)
        let sharedBoth = SessionChallengeAnswerer("shared", seen: seen, none)
        let cases: [((any URLSessionDelegate)?, (any URLSessionTaskDelegate)?, asked: String?)] = [
            (nil, nil, nil), (nil, own, "own's task"), (nil, Silent(), nil), (Silent(), nil, nil),
            (shared, nil, "shared's task"), (shared, own, "own's task"), (shared, Silent(), "shared's task"),
            (sharedBoth, nil, isNTLM ? "shared's session" : "shared's task"),
            (sharedBoth, own, isNTLM ? "shared's session" : "own's task"),
            (SessionOnly(seen), nil, isNTLM ? "only" : nil),
            (SessionOnly(seen), own, isNTLM ? "only" : "own's task"),
        ]
        try await withTimeout {
            for (index, (delegate, ownDelegate, asked)) in cases.enumerated() {
                let before = seen.count
                let session = makeSession(delegate: delegate)
                defer { session.invalidateAndCancel() }
                let (_, response) = try await session.data(for: peer.request(), delegate: ownDelegate)
                #expect((response as? HTTPURLResponse)?.statusCode == 401)
                let who = seen.snapshot.dropFirst(before).map { $0.prefix { $0 != ":" } }
                #expect(who == (asked.map { [$0[...]] } ?? []), "\(index)")
            }
        }
    }

    /// A delegate that answers late, except for trust in servers.
    private final class Thinker: NSObject, URLSessionTaskDelegate {
        let handlers = Recorder<@Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            guard challenge.protectionSpace.serverTrust == nil else {
                return completionHandler(.performDefaultHandling, nil)
            }
            handlers.append(completionHandler)
        }
    }

    private static let right = URLCredential(user: "u", password: "p", persistence: .none)

    /// The connection closes while the program decides: another is used, or the load fails.
    @Test(arguments: BothVersions.all) func theConnectionIsLostMeanwhile(version: String) async throws {
        let route: LoopbackServer.Route = { request in
            if request.fields.contains(.authorization) { return .text("in \(request.connection) \(request.bodyText)") }
            var refusal = ServerResponse.stream(.length(1000)) { writer in
                try writer.write("begun")
                try writer.request.exchange.closeAbruptly()
            }
            refusal.status = 401
            return refusal.adding("WWW-Authenticate", "Basic realm=r")
        }
        for (credential, outcome) in [(Self.right, Outcome.ok("in 1 body")), (nil, .failed(.networkConnectionLost))] {
            let thinker = Thinker()
            try await BothVersions.withServer(version, route, delegate: thinker) { session, server in
                // The request may be sent twice: the answer may come before the connection's end is noticed.
                let request = try BothVersions.request(server, "/", "PUT", body: Data("body".utf8))
                async let loaded = session.outcome(request)
                let answer = try #require(await thinker.handlers.element(at: 0))
                _ = await server.endings.element(at: 0)
                answer(.useCredential, credential)
                let came = await loaded
                #expect(came == outcome)
            }
        }
    }

    /// The server has closed the connection. A request that must not be sent twice is not sent on it.
    @Test func theServerHasNotWaited() async throws {
        let refusal: ScriptedPeer.Step = .send(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
        let peer = try ScriptedPeer(scripts: [[.expectRequest, refusal, .close], [.expectRequest, .respond("in")]])
        defer { peer.stop() }
        try await withTimeout {
            let thinker = Thinker()
            let session = makeSession(delegate: thinker)
            defer { session.invalidateAndCancel() }
            let request = peer.request(method: "POST")
            async let loaded = session.outcome(request)
            let answer = try #require(await thinker.handlers.element(at: 0))
            await peer.endedCount(reaches: 1)
            answer(.useCredential, Self.right)
            #expect(await loaded == .ok("in"))
        }
    }

    /// Only the first answer to a challenge counts.
    @Test(arguments: BothVersions.all) func answersThatComeTwice(version: String) async throws {
        let site = ProtectedSite("Basic realm=r")
        let thinker = Thinker()
        try await BothVersions.withServer(version, site.route, delegate: thinker) { session, server in
            async let loaded = session.outcome(server, "/")
            let first = try #require(await thinker.handlers.element(at: 0))
            first(.useCredential, URLCredential(user: "u", password: "wrong", persistence: .none))
            let second = try #require(await thinker.handlers.element(at: 1))
            first(.cancelAuthenticationChallenge, nil)
            second(.useCredential, Self.right)
            second(.cancelAuthenticationChallenge, nil)
            #expect(await loaded == .ok("GET "))
        }
    }

    /// A refusal's body that is too long to read is left: over HTTP/1.1 with its connection.
    @Test(arguments: BothVersions.all) func longRefusals(version: String) async throws {
        let route: LoopbackServer.Route = { request in
            if request.fields.contains(.authorization) { return .text("in \(request.connection)") }
            return .bytes([UInt8](repeating: 1, count: 300_000), status: 401).adding("WWW-Authenticate", "Basic")
        }
        try await BothVersions.withServer(version, route, delegate: ChallengeAnswerer("u", "p")) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in \(version == "h2" ? 0 : 1)"))
        }
    }
}
