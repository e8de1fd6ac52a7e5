import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitHTTP
@testable import LoadingKitTransport

/// NTLM stays on the connection that it authenticates.
@Suite struct NTLMTests {
    private static func withServer(
        _ ntlm: NTLMServer, protocols: [String] = ["http/1.1"], _ answerer: SessionChallengeAnswerer,
        _ configure: (URLSessionConfiguration) -> Void = { _ in },
        body: @escaping @Sendable (URLSession, LoopbackServer) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: protocols)
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls), route: ntlm.route)
        defer { server.stop() }
        let session = makeSession(delegate: answerer) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            configure($0)
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, server) }
    }

    /// The body goes with the last message, not with the one that is certain to be refused.
    @Test func threeMessagesOnOneConnection() async throws {
        let ntlm = NTLMServer()
        let answerer = SessionChallengeAnswerer("D\\u", "p")
        try await Self.withServer(ntlm, answerer) { session, server in
            let request = try BothVersions.request(server, "/", "POST", body: Data("body".utf8))
            #expect(await session.outcome(request) == .ok("in"))
            // From here on the connection is authenticated for the user.
            #expect(await session.outcome(request) == .ok("in"))
        }
        #expect(ntlm.seen.snapshot == ["0 0 body", "0 1 ", "0 3 body", "0 0 body"])
        #expect(answerer.seen.snapshot == ["task's session: NTLM - 0 -"])
    }

    /// The answer is bound to the server's certificate (RFC 5929), so that an attacker cannot use it elsewhere.
    @Test func theAnswerIsBoundToTheConnection() async throws {
        let ntlm = NTLMServer()
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        let server = try LoopbackServer(LoopbackServer.Options(tls: TLSServerOptions(identity)), route: ntlm.route)
        defer { server.stop() }
        let session = makeSession(delegate: SessionChallengeAnswerer("D\\u", "p")) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.allowsHTTP2 = false
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { #expect(await session.outcome(server, "/") == .ok("in")) }
        let certificate = Certificate(der: try #require(identity.certificatesDER().first))
        let binding = try #require(certificate.endPointHash.flatMap { NTLMChannelBinding(endPointHash: $0) })
        let nt = try #require(ntlm.answers.snapshot.first.flatMap { NTLMMessage.field($0, at: 20) })
        #expect(nt.hexadecimal.contains("0a001000" + binding.hash.hexadecimal))
    }

    /// The expected value is another implementation's.
    @Test func channelBinding() throws {
        let binding = try #require(NTLMChannelBinding(endPointHash: Array(0..<32)))
        #expect(binding.hash.hexadecimal == "8f1214c9c9cab8dc3bf866da9aba57a7")
    }

    @Test func streamsAreRequestedWithTheLastMessage() async throws {
        let ntlm = NTLMServer()
        let answerer = SessionChallengeAnswerer("D\\u", "p", bodies: { InputStream(data: Data("again".utf8)) })
        try await Self.withServer(ntlm, answerer) { session, server in
            let request = try BothVersions.request(server, "/", "POST", body: Data("body".utf8), isStreamed: true)
            #expect(await session.outcome(request) == .ok("in"))
        }
        #expect(ntlm.seen.snapshot == ["0 0 body", "0 1 ", "0 3 again"])
        #expect(answerer.seen.snapshot == ["task's session: NTLM - 0 -", "body"])
    }

    /// How the load ends that authenticates the first connection, by its path.
    enum FirstLoad: String, CaseIterable {
        case complete = "/"
        case redirected = "/moved"
        /// After the head. The rest of the response comes afterwards.
        case cancelled = "/slow"
    }

    private static func load(
        _ first: FirstLoad, _ ntlm: NTLMServer, _ session: URLSession, _ server: LoopbackServer
    ) async throws {
        let request = try BothVersions.request(server, first.rawValue)
        guard first == .cancelled else {
            #expect(await session.outcome(request) == .ok("in"))
            return
        }
        let (bytes, _) = try await session.bytes(for: request)
        bytes.task.cancel()
        try await waitUntil { await session.allTasks.isEmpty }
        ntlm.bodyIsDue.fire()
    }

    /// A connection is used for the requests of the user that it is authenticated for, however the load ended that
    /// authenticated it. With one connection at a time, the next request waits until the connection is free.
    @Test(arguments: FirstLoad.allCases) func anotherUsersRequestsGoOverAnotherConnection(_ first: FirstLoad)
        async throws
    {
        let ntlm = NTLMServer()
        try await Self.withServer(
            ntlm, SessionChallengeAnswerer("D\\u", "p"), { $0.httpMaximumConnectionsPerHost = 1 }
        ) { session, server in
            try await Self.load(first, ntlm, session, server)
            let request = try BothVersions.request(server, "/")
            var other = request
            other.url = request.url.flatMap { URL(string: $0.absoluteString.replacing("//", with: "//other:q@")) }
            #expect(await session.outcome(other) == .ok("in"))
            var byHand = request
            byHand.setValue("Basic b3RoZXI6cQ==", forHTTPHeaderField: "Authorization")
            #expect(await session.outcome(byHand) == .loaded(status: 401, body: "refused"))
        }
        let redirected = first == .redirected ? ["0 0 "] : []
        #expect(ntlm.seen.snapshot.filter { $0.hasPrefix("0 ") } == ["0 0 ", "0 1 ", "0 3 "] + redirected)
    }

    @Test(arguments: FirstLoad.allCases)
    func aConnectionWithACredentialForOneRequestIsNotUsedAgain(_ first: FirstLoad) async throws {
        let ntlm = NTLMServer()
        let delegate = TrustAnswerer { challenge in
            guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodNTLM else {
                return (.performDefaultHandling, nil)
            }
            return (.useCredential, URLCredential(user: "D\\u", password: "p", persistence: .none))
        }
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue())
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls), route: ntlm.route)
        defer { server.stop() }
        let session = makeSession(delegate: delegate) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.httpMaximumConnectionsPerHost = 1
        }
        try await withTimeout {
            try await Self.load(first, ntlm, session, server)
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("in"))
        }
        // A redirect's request is another one.
        let connections = 0..<(first == .redirected ? 3 : 2)
        #expect(ntlm.seen.snapshot == connections.flatMap { ["\($0) 0 ", "\($0) 1 ", "\($0) 3 "] })
    }

    /// After the program has removed or replaced a credential in its storage, no request goes over a connection that it
    /// has authenticated.
    @Test(arguments: [false, true]) func theCredentialGoes(isReplaced: Bool) async throws {
        let ntlm = NTLMServer()
        let answerer = SessionChallengeAnswerer("D\\u", "p")
        let storage = URLCredentialStorage()
        try await Self.withServer(ntlm, answerer, { $0.urlCredentialStorage = storage }) { session, server in
            for path in ["/a", "/b"] { #expect(await session.outcome(server, path) == .ok("in")) }
            let space = try #require(answerer.challenges.snapshot.first).protectionSpace
            let credential = try #require(storage.credentials(for: space)?["D\\u"])
            if isReplaced {
                storage.set(URLCredential(user: "D\\u", password: "q", persistence: .forSession), for: space)
            } else {
                storage.remove(credential, for: space)
            }
            for path in ["/c", "/d"] { #expect(await session.outcome(server, path) == .ok("in")) }
        }
        let connections = (0..<2).flatMap { ["\($0) 0 ", "\($0) 1 ", "\($0) 3 ", "\($0) 0 "] }
        #expect(ntlm.seen.snapshot == connections)
        #expect(answerer.seen.count == 2)
    }

    /// NTLM cannot be used over HTTP/2, as a connection's streams may be of several users.
    @Test func neverOverHTTP2() async throws {
        let ntlm = NTLMServer()
        try await Self.withServer(ntlm, protocols: ["h2", "http/1.1"], SessionChallengeAnswerer("D\\u", "p")) {
            session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
        }
        #expect(ntlm.seen.snapshot == ["h2 0 0 ", "1 1 ", "1 3 "])
    }

    @Test func wrongPasswords() async throws {
        let ntlm = NTLMServer()
        let answerer = SessionChallengeAnswerer { challenge in
            let password = challenge.previousFailureCount == 0 ? "wrong" : "p"
            return (.useCredential, URLCredential(user: "D\\u", password: password, persistence: .forSession))
        }
        try await Self.withServer(ntlm, answerer) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
        }
        #expect(ntlm.seen.snapshot == ["0 0 ", "0 1 ", "0 3 ", "0 1 ", "0 3 "])
        #expect(answerer.seen.snapshot == ["0 -", "1 D\\u"].map { "task's session: NTLM - \($0)" })
    }

    /// NTLM has no realm: a challenge of another scheme refuses the remembered credential, whatever realm it names.
    @Test func aRefusalByAnotherScheme() async throws {
        let isOpen = Box(true)
        let server = try LoopbackServer { request in
            let isAnswer = request.fields.contains(.authorization)
            if isAnswer, isOpen.value { return .text("in") }
            return ServerResponse.text("refused", status: 401)
                .adding("WWW-Authenticate", isAnswer ? "Bearer realm=\"api\"" : "NTLM")
        }
        defer { server.stop() }
        let answerer = SessionChallengeAnswerer("D\\u", "p")
        let session = makeSession(delegate: answerer)
        defer { session.invalidateAndCancel() }
        try await withTimeout {
            let request = URLRequest(url: try #require(URL(string: server.url("/"))))
            #expect(await session.outcome(request) == .ok("in"))
            isOpen.value = false
            for _ in 0..<2 { #expect(await session.outcome(request) == .loaded(status: 401, body: "refused")) }
            #expect(answerer.seen.count == 2)
        }
    }

    /// Each connection has its own handshake. The program gets one challenge.
    @Test func severalConnections() async throws {
        let ntlm = NTLMServer()
        let answerer = SessionChallengeAnswerer("D\\u", "p")
        try await Self.withServer(ntlm, answerer, { $0.httpMaximumConnectionsPerHost = 3 }) { session, server in
            #expect(await session.outcome(server, "/") == .ok("in"))
            let outcomes = await withTaskGroup(of: Outcome.self) { group in
                for number in 0..<12 { group.addTask { await session.outcome(server, "/\(number)") } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes == Array(repeating: .ok("in"), count: 12))
            #expect(answerer.seen.count == 1)
        }
        for connection in 0..<3 {
            let steps = ntlm.seen.snapshot.filter { $0.hasPrefix("\(connection) ") }.prefix(3)
            #expect(steps.isEmpty || steps.elementsEqual(["0 ", "1 ", "3 "].map { "\(connection) \($0)" }))
        }
    }

    /// When the server closes the connection during the handshake, the request goes to another connection: a bounded
    /// number of times.
    @Test func theConnectionIsLostInBetween() async throws {
        let ntlm = NTLMServer(closesInBetween: true)
        let answerer = SessionChallengeAnswerer { challenge in
            let credential = URLCredential(user: "D\\u", password: "p", persistence: .forSession)
            return (.useCredential, challenge.previousFailureCount == 0 ? credential : nil)
        }
        try await Self.withServer(ntlm, answerer) { session, server in
            #expect(await session.outcome(server, "/") == .loaded(status: 401, body: "refused"))
        }
        let messages = ntlm.seen.snapshot.map { $0.split(separator: " ")[1] }
        #expect(messages == ["0"] + Array(repeating: "1", count: 10))
    }

    /// A server that accepts the first message has not received the body: the whole request is sent again.
    @Test func theFirstMessageIsAccepted() async throws {
        let bodies = Recorder<String>()
        let peer = try ScriptedPeer([
            .expectRequest, .send("HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n"),
            .expectRequest, .respond("early"), .expectRequest, .respond("whole"),
        ])
        defer { peer.stop() }
        try await withTimeout {
            var request = peer.request(method: "POST")
            request.httpBody = Data("body".utf8)
            let session = makeSession(delegate: SessionChallengeAnswerer("D\\u", "p"))
            defer { session.invalidateAndCancel() }
            #expect(await session.outcome(request) == .ok("whole"))
            for number in 0..<3 { bodies.append(try #require(await peer.receivedRequest(number)).bodyText) }
            #expect(bodies.snapshot == ["body", "", "body"])
            let last = try #require(await peer.receivedRequest(2))
            #expect(last[field: "Authorization"] == nil && last.connection == 0)
        }
    }
}
