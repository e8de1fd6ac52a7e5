import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Challenges of scripted proxies, to requests in absolute form and to `CONNECT`.
@Suite(.usesPeers) struct ProxyChallengeTests {
    private typealias Answer = ChallengeAnswerer.Answer

    static let me = "Basic bWU6c2VjcmV0"
    private static let accepted: Answer = (
        .useCredential, URLCredential(user: "me", password: "secret", persistence: .forSession)
    )

    static func refusal(_ challenge: String = "Basic realm=\"r\"", closes: Bool = false) -> ScriptedPeer.Step {
        .send(
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: \(challenge)\r\nContent-Length: 2\r\n"
                + "\(closes ? "Connection: close\r\n" : "")\r\nno")
    }

    static func session(
        _ peer: ScriptedPeer, delegate: (any URLSessionDelegate)? = nil, credential: String? = nil,
        authority: CertificateAuthority? = nil, storage: URLCredentialStorage = URLCredentialStorage(),
        on loop: EventLoop = .next()
    ) -> URLSession {
        let port = Int(peer.address.port ?? 0)
        var proxy: [AnyHashable: Any] = [
            "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port, "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1",
            "HTTPSPort": port,
        ]
        if let credential {
            proxy[kCFProxyUsernameKey] = credential
            proxy[kCFProxyPasswordKey] = "wrong"
        }
        return makeSession(delegate: delegate, on: loop) {
            $0.connectionProxyDictionary = proxy
            $0.appTransportSecurity.allowsArbitraryLoads = true
            $0.urlCredentialStorage = storage
            if let authority { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        }
    }

    static func request(_ url: String, _ body: String? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = body == nil ? "GET" : "POST"
        request.httpBody = body.map { Data($0.utf8) }
        return request
    }

    @Test func aForwardedRequestIsSentAgain() async throws {
        let peer = try ScriptedPeer([
            .expectRequest, Self.refusal(), .forever([.expectRequest, .respond("in")]),
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { _ in Self.accepted }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer)
            let outcome = await session.outcome(try Self.request("http://h.example/a", "body"))
            #expect(outcome == .ok("in"))
            let other = await session.outcome(try Self.request("http://h.example/b"))
            #expect(other == .ok("in"))
            let requests = await peer.requestCount(reaches: 3)
            #expect(requests.map { $0[field: "Proxy-Authorization"] } == [nil, Self.me, Self.me])
            #expect(requests.map { $0[field: "Authorization"] } == [nil, nil, nil])
            #expect(String(decoding: requests[1].body, as: UTF8.self) == "body")
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -"])
        let challenge = try #require(answerer.challenges.snapshot.first)
        let space = challenge.protectionSpace
        #expect(space.isProxy() && space.proxyType == NSURLProtectionSpaceHTTPProxy && space.host == "127.0.0.1")
        #expect(space.port == Int(peer.address.port ?? 0) && space.protocol == nil)
        #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 407)
    }

    /// A credential that the proxy refuses without a challenge is not remembered any longer, also where the proxy does
    /// not prove that it knows the password.
    @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", nonce=\"n\""])
    func aRefusalWithoutAChallenge(_ challenge: String) async throws {
        let peer = try ScriptedPeer([
            .expectRequest, Self.refusal(challenge), .expectRequest, .respond("in"), .expectRequest,
            .send("HTTP/1.1 407 Who\r\nProxy-Authentication-Info: rspauth=\"0\"\r\nContent-Length: 2\r\n\r\nno"),
            .expectRequest, .respond("in"),
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { _ in Self.accepted }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer)
            let request = try Self.request("http://h.example/")
            for outcome in [Outcome.ok("in"), .loaded(status: 407, body: "no"), .ok("in")] {
                #expect(await session.outcome(request) == outcome)
            }
            let sent = peer.requests.snapshot.map { $0[field: "Proxy-Authorization"] != nil }
            #expect(sent == [false, true, true, false])
        }
    }

    /// The next request is on the same connection where the proxy keeps it, else on another. Later tunnels need no
    /// challenge.
    @Test(arguments: [false, true]) func aTunnelIsAskedForAgain(closes: Bool) async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let tunnel: [ScriptedPeer.Step] = [
            .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(identity), .expectRequest,
            .respond("in", fields: ["Connection: close"]),
        ]
        let first: [ScriptedPeer.Step] = [.expectRequest, Self.refusal(closes: closes)]
        let scripts = closes ? [first, tunnel, tunnel] : [first + tunnel, tunnel]
        let peer = try ScriptedPeer(scripts: scripts)
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { _ in Self.accepted }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer, authority: authority)
            for _ in 0..<2 {
                let outcome = await session.outcome(try Self.request("https://localhost/a"))
                #expect(outcome == .ok("in"))
            }
            let requests = await peer.requestCount(reaches: 5)
            #expect(requests.map(\.method) == ["CONNECT", "CONNECT", "GET", "CONNECT", "GET"])
            #expect(requests.map { $0[field: "Proxy-Authorization"] } == [nil, Self.me, nil, Self.me, nil])
            #expect(requests.map(\.connection) == (closes ? [0, 1, 1, 2, 2] : [0, 0, 0, 1, 1]))
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -"])
        #expect(answerer.challenges.snapshot.first?.protectionSpace.proxyType == NSURLProtectionSpaceHTTPSProxy)
    }

    /// The proxy closes the connection that it has kept, as the next request is on its way.
    @Test func aTunnelIsAskedForOnAnotherConnection() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, Self.refusal(), .expectRequest, .close],
            [
                .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(identity), .expectRequest, .respond("in"),
            ],
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { _ in Self.accepted }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer, authority: authority)
            let outcome = await session.outcome(try Self.request("https://localhost/a"))
            #expect(outcome == .ok("in"))
        }
        let requests = peer.requests.snapshot
        #expect(requests.map(\.connection) == [0, 0, 1, 1])
        #expect(requests.map { $0[field: "Proxy-Authorization"] } == [nil, Self.me, Self.me, nil])
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -"])
    }

    /// A proxy that closes its connection after each password is asked on one more connection only.
    @Test func aProxyThatClosesAfterEachPasswordIsAskedTwice() async throws {
        let closing: [ScriptedPeer.Step] = [.expectRequest, Self.refusal(), .expectRequest, .close]
        let peer = try ScriptedPeer(scripts: Array(repeating: closing, count: 5))
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { _ in Self.accepted }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer, authority: try CertificateAuthority())
            let outcome = await session.outcome(try Self.request("https://localhost/a"))
            #expect(outcome == .failed(.cannotConnectToHost))
        }
        #expect(peer.requests.snapshot.map(\.connection) == [0, 0, 1, 1])
    }

    /// Wrong passwords, each disposition, and credentials in the proxy's settings, for both ways through a proxy.
    @Test(arguments: ["http", "https"]) func dispositions(scheme: String) async throws {
        let none: Answer = (.useCredential, nil)
        let cases: [(name: String, [Answer], isIn: Bool, asked: [String], cancelled: Bool)] = [
            ("no credential", [none], false, ["HTTPBasic r 0 -"], false),
            ("default", [(.performDefaultHandling, nil)], false, ["HTTPBasic r 0 -"], false),
            ("cancel", [(.cancelAuthenticationChallenge, nil)], false, ["HTTPBasic r 0 -"], true),
            ("reject", [(.rejectProtectionSpace, nil)], false, ["HTTPBasic r 0 -"], false),
            ("right", [Self.accepted], true, ["HTTPBasic r 0 -"], false),
            (
                "wrong, then right",
                [(.useCredential, URLCredential(user: "x", password: "y", persistence: .forSession)), Self.accepted],
                true, ["HTTPBasic r 0 -", "HTTPBasic r 1 x"], false
            ),
        ]
        for (name, answers, isIn, asked, cancelled) in cases {
            let peer = try ScriptedPeer([.forever([.expectRequest, Self.refusal()])])
            defer { peer.stop() }
            let rest = Box(answers)
            let answerer = ChallengeAnswerer { _ in
                rest.update { rest in
                    guard !rest.isEmpty else { return none }
                    return rest.removeFirst()
                }
            }
            try await withTimeout {
                let session = Self.session(peer, delegate: answerer)
                let outcome = await session.outcome(try Self.request("\(scheme)://h.example/"))
                let requests = await peer.requestCount(reaches: isIn ? answers.count + 1 : 1)
                // This proxy accepts no credential: the test is about the requests that it gets.
                #expect(requests.contains { $0[field: "Proxy-Authorization"] == Self.me } == isIn, "\(name)")
                let refused: Outcome =
                    scheme == "http" ? .loaded(status: 407, body: "no") : .failed(.userAuthenticationRequired)
                #expect(outcome == (cancelled ? .failed(.cancelled) : refused), "\(name)")
            }
            #expect(answerer.seen.snapshot.prefix(asked.count) == asked.map { "task's task: \($0)" }[...], "\(name)")
        }
    }

    /// The settings' credential is sent without a challenge. When it is wrong, it counts as a failure and is proposed.
    @Test(arguments: ["http", "https"]) func wrongSettings(scheme: String) async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, Self.refusal()])])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { _ in (.useCredential, nil) }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer, credential: "you")
            _ = await session.outcome(try Self.request("\(scheme)://h.example/"))
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 1 you"])
    }

    /// A stored credential is used without a delegate.
    @Test(arguments: ["http", "https"]) func stored(scheme: String) async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, Self.refusal()])])
        defer { peer.stop() }
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            proxyHost: "127.0.0.1", port: Int(peer.address.port ?? 0), type: scheme, realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        storage.setDefaultCredential(
            URLCredential(user: "me", password: "secret", persistence: .forSession), for: space)
        try await withTimeout {
            let session = Self.session(peer, storage: storage)
            _ = await session.outcome(try Self.request("\(scheme)://h.example/"))
            let requests = await peer.requestCount(reaches: 2)
            #expect(requests.map { $0[field: "Proxy-Authorization"] } == [nil, Self.me])
        }
    }

    /// A new body stream is requested.
    @Test func aStreamIsAskedForAgain() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, Self.refusal(), .expectRequest, .respond("in")], [.expectRequest, .respond("in")],
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer("me", "secret", bodies: { InputStream(data: Data("again".utf8)) })
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer)
            var request = try Self.request("http://h.example/", "")
            request.httpBodyStream = InputStream(data: Data("first".utf8))
            let outcome = await session.outcome(request)
            #expect(outcome == .ok("in"))
            let bodies = await peer.requestCount(reaches: 2).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies == ["first", "again"])
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -", "body"])
    }

    @Test func aFileIsReadAgain() async throws {
        // The refusal may come before the file's end was read: the connection is not used again then.
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, Self.refusal(), .expectRequest, .respond("in")], [.expectRequest, .respond("in")],
        ])
        defer { peer.stop() }
        let folder = try TemporaryFolder()
        try await withTimeout {
            let session = Self.session(peer, delegate: ChallengeAnswerer("me", "secret"))
            var request = try Self.request("http://h.example/", "")
            request.bodyFile = BodyFile(try folder.write("of the file", to: "body"))
            let outcome = await session.outcome(request)
            #expect(outcome == .ok("in"))
            let bodies = await peer.requestCount(reaches: 2).map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies == ["of the file", "of the file"])
        }
    }

    /// The proxy's challenge comes first, then the server's. The proxy's credential is used for its tunnels, too.
    @Test func theServerAsksAsWell() async throws {
        let peer = try ScriptedPeer(scripts: [
            [
                .expectRequest, Self.refusal(), .expectRequest,
                .send("HTTP/1.1 401 Who\r\nWWW-Authenticate: Basic realm=\"s\"\r\nContent-Length: 0\r\n\r\n"),
                .expectRequest, .respond("in"),
            ], [.expectRequest, .send("HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n")],
        ])
        defer { peer.stop() }
        let answerer = ChallengeAnswerer { challenge in
            let user = challenge.protectionSpace.isProxy() ? "me" : "you"
            return (.useCredential, URLCredential(user: user, password: "secret", persistence: .forSession))
        }
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer)
            let outcome = await session.outcome(try Self.request("http://h.example/"))
            #expect(outcome == .ok("in"))
            let refused = await session.outcome(try Self.request("https://h.example/"))
            #expect(refused == .failed(.cannotConnectToHost))
            let requests = await peer.requestCount(reaches: 4)
            #expect(requests.map { $0[field: "Proxy-Authorization"] } == [nil, Self.me, Self.me, Self.me])
            #expect(requests.map { $0[field: "Authorization"] } == [nil, nil, "Basic eW91OnNlY3JldA==", nil])
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPBasic r 0 -", "task's task: HTTPBasic s 0 -"])
    }

    /// NTLM challenges go to the session's delegate. The three steps are on one connection, which stays the user's.
    @Test(arguments: ["http", "https"]) func ntlm(scheme: String) async throws {
        let authority = try CertificateAuthority()
        let token = Data(NTLMServer.challenge).base64EncodedString()
        let end: [ScriptedPeer.Step] =
            scheme == "http"
            ? [.respond("in")]
            : [
                .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(TLSServerOptions(try authority.issue())), .expectRequest,
                .respond("in"),
            ]
        let peer = try ScriptedPeer(
            [.expectRequest, Self.refusal("NTLM"), .expectRequest, Self.refusal("NTLM \(token)"), .expectRequest] + end)
        defer { peer.stop() }
        let answerer = SessionChallengeAnswerer("D\\u", "p")
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer, authority: authority)
            let outcome = await session.outcome(try Self.request("\(scheme)://localhost/", "body"))
            #expect(outcome == .ok("in"))
            let requests = await peer.requestCount(reaches: scheme == "http" ? 3 : 4)
            #expect(requests.allSatisfy { $0.connection == 0 })
            let messages = requests.prefix(3).map { request in
                request[field: "Proxy-Authorization"].flatMap { Data(base64Encoded: String($0.dropFirst(5))) } ?? Data()
            }
            #expect(messages.map { $0.dropFirst(8).first } == [nil, 1, 3])
            #expect(NTLMServer.isRight(Array(messages[2])))
            #expect(
                requests.map { !$0.body.isEmpty }
                    == (scheme == "http" ? [true, false, true] : [false, false, false, true]))
        }
        #expect(answerer.seen.snapshot == ["task's session: NTLM - 0 -"])
    }

    /// After the program has removed the credential, no request goes over a connection that it has authenticated to the
    /// proxy.
    @Test func theCredentialOfNTLMGoes() async throws {
        let token = Data(NTLMServer.challenge).base64EncodedString()
        let script: [ScriptedPeer.Step] = [
            .expectRequest, Self.refusal("NTLM"), .expectRequest, Self.refusal("NTLM \(token)"),
            .forever([.expectRequest, .respond("in")]),
        ]
        let peer = try ScriptedPeer(script)
        defer { peer.stop() }
        let (answerer, storage) = (SessionChallengeAnswerer("D\\u", "p"), URLCredentialStorage())
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer, storage: storage)
            defer { session.invalidateAndCancel() }
            let request = try Self.request("http://h.example/")
            for _ in 0..<2 { #expect(await session.outcome(request) == .ok("in")) }
            let space = try #require(answerer.challenges.snapshot.first).protectionSpace
            storage.remove(try #require(storage.credentials(for: space)?["D\\u"]), for: space)
            #expect(await session.outcome(request) == .ok("in"))
            #expect(peer.requests.snapshot.map(\.connection) == [0, 0, 0, 0, 1, 1, 1])
        }
        #expect(answerer.seen.count == 2)
    }

    /// Concurrent requests through one proxy lead to one challenge. The timeouts of those that wait are suspended.
    @Test(arguments: ["http", "https"]) func onlyOneAsks(scheme: String) async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(
            LoopbackServer.Options(tls: scheme == "https" ? TLSServerOptions(try authority.issue()) : nil)
        ) { .text($0.path) }
        defer { server.stop() }
        let proxy = try await onThread { try ProxyServer(.squid, credential: "me:secret", by: .digest) }
        defer { proxy.stop() }
        let answer = Signal()
        let answerer = ChallengeAnswerer { _ in
            _ = answer.waitBlocking(interruptedBy: Signal())
            return Self.accepted
        }
        try await withTimeout {
            let session = makeSession(delegate: answerer) {
                $0.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": Int(proxy.port), "HTTPSEnable": 1,
                    "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
                ]
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
                $0.httpMaximumConnectionsPerHost = 4
                $0.allowsHTTP2 = false
            }
            let outcomes = await withTaskGroup(of: Outcome.self) { group in
                for number in 0..<12 {
                    group.addTask { await session.outcome(server, "/\(number)") }
                }
                _ = await answerer.challenges.count(reaches: 1)
                answer.fire()
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect((0..<12).allSatisfy { outcomes.contains(.ok("/\($0)")) })
        }
        #expect(answerer.seen.snapshot == ["task's task: HTTPDigest r 0 -"])
    }

    /// The first load's request is sent with the program's credential, and its answer does not come, or the program has
    /// suspended the load. The timeout of the next load runs meanwhile, and its program is asked after five seconds.
    @Test func nobodyWaitsForASlowAnswer() async throws {
        let cases: [(scheme: String, isSuspended: Bool, timeout: Double, outcome: Outcome)] = [
            ("http", false, 3, .failed(.timedOut)), ("https", false, 3, .failed(.timedOut)),
            ("http", false, 10, .ok("second")), ("http", true, 10, .ok("second")),
        ]
        let other = try LoopbackServer { _ in .text("other") }
        defer { other.stop() }
        for (scheme, isSuspended, timeout, outcome) in cases {
            let (sentAgain, answer, refused) = (Signal(), Signal(), Signal())
            let peer = try ScriptedPeer(scripts: [
                [
                    .expectRequest, Self.refusal(), .expectRequest, .fire(sentAgain), .waitFor(answer),
                    .respond("first"), .hold,
                ],
                [.expectRequest, Self.refusal(), .fire(refused), .expectRequest, .respond("second"), .hold],
            ])
            let time = ManualTime()
            let loop = EventLoop(name: "test", time: .manual(time))
            defer {
                peer.stop()
                loop.stop()
            }
            let answerer = ChallengeAnswerer { _ in Self.accepted }
            try await withTimeout("\(scheme) \(isSuspended) \(timeout)") {
                let session = Self.session(peer, delegate: answerer, on: loop)
                let first = session.dataTask(with: try Self.request("\(scheme)://first.example/"))
                first.resume()
                await sentAgain.wait()
                if isSuspended {
                    first.suspend()
                    _ = await session.allTasks
                    answer.fire()
                }
                var request = try Self.request("\(scheme)://second.example/")
                request.timeoutInterval = timeout
                let second = Task { [request] in await session.outcome(request) }
                await refused.wait()
                // Other loads of the loop: the refusal has been read then.
                let bystander = makeSession(on: loop)
                let elsewhere = URLRequest(url: try #require(URL(string: other.url("/"))))
                for _ in 0..<2 { #expect(await bystander.outcome(elsewhere) == .ok("other")) }
                time.advance(by: .seconds(6))
                #expect(await second.value == outcome)
                #expect(answerer.seen.count == (outcome == .ok("second") ? 2 : 1))
                bystander.invalidateAndCancel()
                session.invalidateAndCancel()
            }
        }
    }

    /// The delegate has the challenge of a connection that is being opened, when the request gets another connection.
    @Test func aRequestThatGetsAnotherConnectionHasItsTimeoutAgain() async throws {
        let authority = try CertificateAuthority()
        let identity = TLSServerOptions(try authority.issue())
        let (sent, answer, sentBehind) = (Signal(), Signal(), Signal())
        let peer = try ScriptedPeer(scripts: [
            [
                .expectRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .startTLS(identity), .expectRequest, .fire(sent),
                .waitFor(answer), .respond("first"), .expectRequest, .fire(sentBehind), .hold,
            ], [.expectRequest, Self.refusal(), .hold],
        ])
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer {
            peer.stop()
            loop.stop()
        }
        let delegate = Silent()
        try await withTimeout {
            let session = Self.session(peer, delegate: delegate, authority: authority, on: loop)
            let first = Task { await session.outcome(try Self.request("https://localhost/1")) }
            await sent.wait()
            var request = try Self.request("https://localhost/2")
            request.timeoutInterval = 10
            let second = Task { [request] in await session.outcome(request) }
            _ = await delegate.asked.count(reaches: 1)
            answer.fire()
            #expect(try await first.value == .ok("first"))
            await sentBehind.wait()
            // The turn in which the request was sent is over then.
            _ = await session.allTasks
            time.advance(by: .seconds(11))
            #expect(await second.value == .failed(.timedOut))
            session.invalidateAndCancel()
        }
    }

    /// When a task is cancelled while its delegate has the challenge, the next task gets one.
    @Test(arguments: ["http", "https"]) func theAskerIsCancelled(scheme: String) async throws {
        let peer = try ScriptedPeer([.forever([.expectRequest, Self.refusal()])])
        defer { peer.stop() }
        let answerer = Cancelling()
        try await withTimeout {
            let session = Self.session(peer, delegate: answerer)
            let first = session.dataTask(with: try Self.request("\(scheme)://h.example/1"))
            let second = session.dataTask(with: try Self.request("\(scheme)://h.example/2"))
            first.resume()
            second.resume()
            _ = await answerer.ended.count(reaches: 2)
        }
        #expect(answerer.asked.count == 2)
    }
}

/// Cancels the first task with a challenge, and gives the second no credential.
private final class Cancelling: NSObject, URLSessionTaskDelegate, Sendable {
    let asked = Recorder<Int>()
    let ended = Recorder<Int>()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        asked.append(task.taskIdentifier)
        if asked.count == 1 { task.cancel() } else { completionHandler(.useCredential, nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ended.append(task.taskIdentifier)
    }
}

/// Never answers a proxy's challenge.
private final class Silent: NSObject, URLSessionTaskDelegate, Sendable {
    let asked = Recorder<Int>()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.isProxy() else { return completionHandler(.performDefaultHandling, nil) }
        asked.append(task.taskIdentifier)
    }
}
