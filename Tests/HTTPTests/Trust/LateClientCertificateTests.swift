import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Servers that ask who the client is when they have seen a request: TLS 1.3's authentication after the handshake.
@Suite(.usesPeers) struct LateClientCertificateTests {
    static func identity(_ authority: CertificateAuthority, _ name: String) throws -> ClientIdentity {
        let files = try authority.issue(.client(name))
        return try ClientIdentity(pemRepresentation: files.certificatePEM + files.privateKeyPEM)
    }

    static func credential(_ identity: ClientIdentity) -> ChallengeNotes.Answer {
        (.useCredential, URLCredential(identity: identity, certificates: nil, persistence: .none))
    }

    /// A peer that speaks TLS 1.3.
    private static func withPeer(
        _ steps: [ScriptedPeer.Step], delegate: (any URLSessionDelegate)?,
        _ body: @escaping @Sendable (URLSession, ScriptedPeer, URLRequest) async throws -> Void
    ) async throws {
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer(steps, tls: TLSServerOptions(try authority.issue()))
        defer { peer.stop() }
        let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "https://localhost:\(peer.address.port ?? 0)/"))
        try await withTimeout { try await body(session, peer, URLRequest(url: url)) }
    }

    /// Answers what concerns the client.
    static func answerer(
        _ answer: @escaping @Sendable () -> ChallengeNotes.Answer
    ) -> TrustAnswerer {
        TrustAnswerer { $0.protectionSpace.serverTrust == nil ? answer() : (.performDefaultHandling, nil) }
    }

    @Test("Apache asks for a folder alone; the connection is the client's from then on")
    func apache() async throws {
        let authority = try CertificateAuthority()
        let origin = try LoopbackServer { request in
            .text("\(request.fields[name: "X-Client"] ?? "") \(request.method) \(request.body.count)")
        }
        defer { origin.stop() }
        let apache = try await onThread {
            try ApacheTLSServer(
                try authority.issue(), clientAuthority: authority.certificatePEM, forwardingTo: origin.url(""))
        }
        defer { apache.stop() }
        let ada = try Self.identity(authority, "Ada")
        @Sendable func request(_ path: String, body: Int? = nil) throws -> URLRequest {
            var request = URLRequest(url: try #require(URL(string: apache.url(path))))
            if let body {
                request.httpMethod = "POST"
                request.httpBody = Data(count: body)
            }
            return request
        }
        try await withTimeout {
            let delegate = Self.answerer { Self.credential(ada) }
            let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            let outcome1 = await session.outcome(try request("/open/"))
            #expect(outcome1 == .ok("(null) GET 0"))
            #expect(delegate.methods == ["ServerTrust"])
            let outcome2 = await session.outcome(try request("/secret/"))
            #expect(outcome2 == .ok("CN=Ada GET 0"))
            #expect(delegate.methods == ["ServerTrust", "ClientCertificate"])
            let space = try #require(delegate.challenges.last?.protectionSpace)
            #expect(space.host == "localhost" && !space.isProxy() && space.distinguishedNames?.count == 1)
            // The connection goes on, and nobody is asked again.
            let outcome3 = await session.outcome(try request("/secret/", body: 50_000))
            #expect(outcome3 == .ok("CN=Ada POST 50000"))
            #expect(delegate.methods.count == 2)
        }
        try await withTimeout {
            // With a body, on a new connection; the server keeps 128 KiB of it until it has asked.
            let delegate = Self.answerer { Self.credential(ada) }
            let session = makeSession(delegate: delegate) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            let outcome4 = await session.outcome(try request("/secret/", body: 100_000))
            #expect(outcome4 == .ok("CN=Ada POST 100000"))
            #expect(delegate.methods == ["ServerTrust", "ClientCertificate"])
        }
        try await withTimeout {
            let none = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { none.invalidateAndCancel() }
            let outcome = await none.outcome(try request("/secret/"))
            #expect(outcome == .failed(.clientCertificateRequired) || outcome.status == 403, "\(outcome)")
            let cancelling = makeSession(delegate: Self.answerer { (.cancelAuthenticationChallenge, nil) }) {
                $0.tlsTrustRoots = .pem(authority.certificatePEM)
            }
            defer { cancelling.invalidateAndCancel() }
            let outcome5 = await cancelling.outcome(try request("/secret/"))
            #expect(outcome5 == .failed(.cancelled))
        }
    }

    @Test("while a long body is being sent") func duringTheBody() async throws {
        let ada = try Self.identity(try CertificateAuthority(), "Ada")
        let delegate = Self.answerer { Self.credential(ada) }
        let (length, first) = (8 << 20, 100_000)
        try await Self.withPeer(
            [
                .expectHead, .expectBytes(first), .askForCertificate, .expectBytes(length - first),
                .respondWithClient,
            ], delegate: delegate
        ) { session, peer, request in
            var request = request
            request.httpMethod = "POST"
            request.httpBody = Data(repeating: 7, count: length)
            // The body does not wait for the server's word.
            request.setValue("", forHTTPHeaderField: "Expect")
            #expect(await session.outcome(request) == .ok("Ada"))
            #expect(delegate.methods == ["ServerTrust", "ClientCertificate"])
        }
    }

    @Test("each answer; a server may ask again") func answers() async throws {
        let ada = try Self.identity(try CertificateAuthority(), "Ada")
        let answers: [(ChallengeNotes.Answer, Outcome)] = [
            (Self.credential(ada), .ok("Ada")), ((.performDefaultHandling, nil), .ok("nobody")),
            ((.rejectProtectionSpace, nil), .ok("nobody")), ((.useCredential, nil), .ok("nobody")),
            ((.cancelAuthenticationChallenge, nil), .failed(.cancelled)),
        ]
        for (answer, expected) in answers {
            let delegate = Self.answerer { answer }
            try await Self.withPeer(
                [.forever([.expectRequest, .askForCertificate, .awaitCertificate, .respondWithClient])],
                delegate: delegate
            ) { session, _, request in
                for count in 1...2 {
                    #expect(await session.outcome(request) == expected)
                    #expect(delegate.methods.count { $0 == "ClientCertificate" } == count)
                }
            }
        }
        try await Self.withPeer(
            [.expectRequest, .askForCertificate, .awaitCertificate, .respondWithClient], delegate: nil
        ) {
            session, _, request in
            #expect(await session.outcome(request) == .ok("nobody"))
        }
    }

    @Test("each answer is for the question; nothing is left of the one before")
    func otherAnswer() async throws {
        let ada = try Self.identity(try CertificateAuthority(), "Ada")
        let isAda = Box(true)
        let delegate = Self.answerer { isAda.value ? Self.credential(ada) : (.performDefaultHandling, nil) }
        try await Self.withPeer(
            [.forever([.expectRequest, .askForCertificate, .awaitCertificate, .respondWithClient])], delegate: delegate
        ) { session, peer, request in
            #expect(await session.outcome(request) == .ok("Ada"))
            isAda.value = false
            #expect(await session.outcome(request) == .ok("nobody"))
            let requests = await peer.requestCount(reaches: 2)
            #expect(requests.map(\.connection) == [0, 0])
        }
    }

    @Test("the program thinks: the task is cancelled meanwhile, the server goes, or no idle time runs")
    func thinking() async throws {
        let ends = Signal()
        for isCancelled in [true, false] {
            let steps: [ScriptedPeer.Step] =
                [.expectRequest, .askForCertificate] + (isCancelled ? [.readUntilClose] : [.waitFor(ends), .close])
            let thinker = TrustThinker()
            try await Self.withPeer(steps, delegate: thinker) { session, peer, request in
                let load = Task { await session.outcome(request) }
                try #require(await thinker.questions.element(at: 0)).accept()
                let question = try #require(await thinker.questions.element(at: 1))
                #expect(question.challenge.protectionSpace.serverTrust == nil)
                if isCancelled {
                    load.cancel()
                    #expect(await load.value == .failed(.cancelled))
                } else {
                    ends.fire()
                    #expect(await load.value == .failed(.secureConnectionFailed))
                }
                await peer.endedCount(reaches: 1)
                question.answer(.performDefaultHandling, nil)
            }
        }
    }

    @Test("an upload goes on where the server goes while the program thinks") func uploading() async throws {
        let ends = Signal()
        let authority = try CertificateAuthority()
        let peer = try ScriptedPeer(
            scripts: [
                [
                    .expectRequest,
                    .send("HTTP/1.1 104 Go\r\nLocation: /uploads/1\r\nUpload-Draft-Interop-Version: 6\r\n\r\n"),
                    .askForCertificate, .waitFor(ends), .close,
                ],
                [.expectRequest, .send("HTTP/1.1 204 No Content\r\nUpload-Offset: 4\r\nUpload-Complete: ?1\r\n\r\n")],
            ],
            tls: TLSServerOptions(try authority.issue()))
        defer { peer.stop() }
        let thinker = TrustThinker(takesTrust: false)
        let session = makeSession(delegate: thinker) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: "https://localhost:\(peer.address.port ?? 0)/")))
        request.httpMethod = "POST"
        try await withTimeout { [request] in
            let load = Task { try await session.upload(for: request, from: Data("body".utf8)).1 }
            let question = try #require(await thinker.questions.element(at: 0))
            ends.fire()
            let response = try await load.value
            #expect((response as? HTTPURLResponse)?.statusCode == 204)
            #expect(peer.requests.snapshot.map(\.method) == ["POST", "HEAD"])
            question.answer(.performDefaultHandling, nil)
        }
    }

    @Test("the identity is for the connection: two sessions, and two task delegates, have their own")
    func identities() async throws {
        let authority = try CertificateAuthority()
        let (ada, bob) = (try Self.identity(authority, "Ada"), try Self.identity(authority, "Bob"))
        let steps: [ScriptedPeer.Step] = [
            .expectRequest, .askForCertificate, .awaitCertificate, .respondWithClient,
            .forever([.expectRequest, .respondWithClient]),
        ]
        try await Self.withPeer(steps, delegate: nil) { session, peer, request in
            let one = TaskDelegateTrustTests.Decider.accepting(ada)
            let other = TaskDelegateTrustTests.Decider.accepting(bob)
            for _ in 0..<2 {
                #expect(await session.outcome(request, delegate: one) == .ok("Ada"))
                #expect(await session.outcome(request, delegate: other) == .ok("Bob"))
                #expect(await session.outcome(request) == .ok("nobody"))
            }
            #expect(one.challenges.count == 2 && other.challenges.count == 2)
        }
    }
}

extension Outcome {
    fileprivate var status: Int? {
        if case .loaded(let status, _) = self { status } else { nil }
    }
}
