import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// The program decides whether a server is trusted.
@Suite(.usesPeers) struct ServerTrustChallengeTests {
    private static let route: LoopbackServer.Route = { request in
        .text("\(request.connection)\(request.tls?.isResumed == true ? " resumed" : "")")
    }

    private struct Case: Sendable {
        var what: String
        /// Whether the session trusts the server's authority.
        var isTrusted: Bool
        var answer: @Sendable (URLAuthenticationChallenge) -> ChallengeNotes.Answer
        var outcome: Outcome
    }

    private static func cases() throws -> [Case] {
        let other = try X509Certificate(pemRepresentation: try CertificateAuthority().certificatePEM)
        let accept: @Sendable (URLAuthenticationChallenge) -> ChallengeNotes.Answer = { challenge in
            (.useCredential, challenge.protectionSpace.serverTrust.map { URLCredential(trust: $0) })
        }
        let unknown = Outcome.failed(.serverCertificateHasUnknownRoot)
        var cases: [Case] = [
            Case(what: "accept", isTrusted: true, answer: accept, outcome: .ok("0")),
            Case(what: "accept what fails", isTrusted: false, answer: accept, outcome: .ok("0")),
            Case(
                what: "reject what passes", isTrusted: true, answer: { _ in (.rejectProtectionSpace, nil) },
                outcome: .failed(.serverCertificateUntrusted)),
            Case(
                what: "reject what fails", isTrusted: false, answer: { _ in (.rejectProtectionSpace, nil) },
                outcome: unknown),
        ]
        for isTrusted in [true, false] {
            let verdict = isTrusted ? Outcome.ok("0") : unknown
            cases += [
                Case(
                    what: "cancel", isTrusted: isTrusted, answer: { _ in (.cancelAuthenticationChallenge, nil) },
                    outcome: .failed(.cancelled)),
                Case(
                    what: "default", isTrusted: isTrusted, answer: { _ in (.performDefaultHandling, nil) },
                    outcome: verdict),
                Case(
                    what: "no credential", isTrusted: isTrusted, answer: { _ in (.useCredential, nil) },
                    outcome: verdict),
                Case(
                    what: "a password", isTrusted: isTrusted,
                    answer: { _ in
                        (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
                    }, outcome: verdict),
                Case(
                    what: "trust in another", isTrusted: isTrusted,
                    answer: { _ in
                        (.useCredential, URLCredential(trust: ServerTrust(certificates: [other], host: nil)))
                    }, outcome: verdict),
            ]
        }
        return cases
    }

    @Test(arguments: BothVersions.all) func answers(version: String) async throws {
        for test in try Self.cases() {
            let delegate = TrustAnswerer(test.answer)
            try await BothVersions.withServer(version, Self.route, delegate: delegate) {
                if !test.isTrusted { $0.tlsTrustRoots = .pem((try? CertificateAuthority().certificatePEM) ?? "") }
            } body: { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == test.outcome, "\(test.what)")
                #expect(delegate.methods == ["ServerTrust"], "\(test.what)")
                let space = delegate.challenges.last?.protectionSpace
                #expect(space?.host == "localhost" && space?.protocol == "https" && space?.realm == nil)
                #expect(space?.port == server.address.port.map { Int($0) })
                #expect(space?.serverTrust?.isTrusted == test.isTrusted && space?.serverTrust?.host == "localhost")
                if outcome != .ok("0") { #expect(server.requests.count == 0, "\(test.what): a request was sent") }
            }
        }
    }

    @Test(
        "a connection is asked about once, a new one anew, also where it continues a TLS session",
        arguments: BothVersions.all, TLSGeneration.allCases)
    func everyConnection(version: String, tls: TLSGeneration) async throws {
        let delegate = TrustAnswerer { _ in (.performDefaultHandling, nil) }
        try await BothVersions.withServer(
            version, Self.route, delegate: delegate, tls: { $0.maximumVersion = tls.version }
        ) {
            session, server in
            let request = try BothVersions.request(server, "/")
            for _ in 0..<2 { #expect(await session.outcome(request) == .ok("0")) }
            #expect(delegate.challenges.count == 1)
            await session.forget()
            #expect(await session.outcome(request) == .ok("1 resumed"))
            #expect(delegate.challenges.count == 2)
            let chains = delegate.challenges.snapshot.compactMap { $0.protectionSpace.serverTrust?.certificates }
            #expect(chains.count == 2 && chains.first == chains.last && chains.first?.isEmpty == false)
        }
    }

    /// The first time accepted, then not.
    @Test("a continued session is refused as a new one is", arguments: BothVersions.all)
    func continuedAndRefused(version: String) async throws {
        let isRefused = Box(false)
        let delegate = TrustAnswerer { _ in
            isRefused.value ? (.cancelAuthenticationChallenge, nil) : (.performDefaultHandling, nil)
        }
        try await BothVersions.withServer(version, Self.route, delegate: delegate) { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("0"))
            await session.forget()
            isRefused.value = true
            #expect(await session.outcome(request) == .failed(.cancelled))
            #expect(server.requests.count == 1)
        }
    }

    @Test(
        "what was accepted against the rules is not continued, and concerns no other session",
        arguments: BothVersions.all)
    func accepted(version: String) async throws {
        let delegate = TrustAnswerer.accepting()
        try await BothVersions.withServer(version, Self.route, delegate: delegate) {
            $0.tlsTrustRoots = .pem((try? CertificateAuthority().certificatePEM) ?? "")
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("0"))
            await session.forget()
            #expect(await session.outcome(request) == .ok("1"))
            let other = URLSession(configuration: session.configuration)
            defer { other.invalidateAndCancel() }
            let outcome = await other.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == .failed(.serverCertificateHasUnknownRoot))
        }
    }

    @Test("a key is pinned; the delegate evaluates by its own anchors", arguments: BothVersions.all)
    func pinning(version: String) async throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue()
        let anchor = try X509Certificate(pemRepresentation: authority.certificatePEM)
        let pin = try X509Certificate(pemRepresentation: identity.certificatePEM).publicKeySHA256
        for pins in [[pin], [Data(repeating: 0, count: 32)]] {
            let delegate = TrustAnswerer { challenge in
                guard var trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
                trust.anchorCertificates = [anchor]
                guard let chain = try? trust.evaluate(), chain.contains(where: { pins.contains($0.publicKeySHA256) })
                else { return (.cancelAuthenticationChallenge, nil) }
                return (.useCredential, URLCredential(trust: trust))
            }
            let options = TLSServerOptions(identity, applicationProtocols: [version])
            let server = try LoopbackServer(LoopbackServer.Options(tls: options), route: Self.route)
            defer { server.stop() }
            let session = makeSession(delegate: delegate)
            let outcome = await session.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == (pins == [pin] ? .ok("0") : .failed(.cancelled)))
        }
    }

    /// A session's delegate that has no opinion.
    private final class Silent: NSObject, URLSessionTaskDelegate {}

    @Test("the session's delegate is asked first, the task's own when it leaves it to it", arguments: BothVersions.all)
    func order(version: String) async throws {
        let own = ChallengeAnswerer("own", takesTrust: true) { _ in (.cancelAuthenticationChallenge, nil) }
        let answers: [((any URLSessionDelegate)?, Outcome)] = [
            (nil, .failed(.cancelled)), (Silent(), .failed(.cancelled)), (TrustAnswerer.accepting(), .ok("0")),
        ]
        for (delegate, expected) in answers {
            try await BothVersions.withServer(version, Self.route, delegate: delegate) { session, server in
                do {
                    let (data, _) = try await session.data(
                        for: try BothVersions.request(server, "/"), delegate: own)
                    #expect(.ok(String(decoding: data, as: UTF8.self)) == expected)
                } catch let error as URLError {
                    #expect(.failed(error.code) == expected)
                }
            }
        }
        #expect(own.seen.snapshot == ["own's task: ServerTrust - 0 -", "own's task: ServerTrust - 0 -"])
    }

    @Test("where the session verifies nothing the program may still refuse", arguments: BothVersions.all)
    func withoutVerification(version: String) async throws {
        let answers: [(ChallengeNotes.Answer, Outcome)] = [
            ((.performDefaultHandling, nil), .ok("0")),
            ((.rejectProtectionSpace, nil), .failed(.serverCertificateHasUnknownRoot)),
            ((.cancelAuthenticationChallenge, nil), .failed(.cancelled)),
        ]
        for (answer, expected) in answers {
            let delegate = TrustAnswerer { _ in answer }
            try await BothVersions.withServer(version, Self.route, delegate: delegate) {
                $0.tlsTrustRoots = .system
                $0.tlsVerifiesServer = false
            } body: { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == expected && delegate.challenges.count == 1)
                // The evaluation knows the system's authorities all the same.
                let trust = delegate.challenges.last?.protectionSpace.serverTrust
                let error = #expect(throws: ServerTrustError.self) { try trust?.evaluate() }
                #expect(error?.reason == .unknownAuthority)
            }
        }
    }

    @Test("through a tunnel it is the server that is decided about", arguments: BothVersions.all)
    func tunnel(version: String) async throws {
        let proxy = try await onThread { try ProxyServer(.tinyproxy) }
        defer { proxy.stop() }
        let dictionary: [String: any Sendable] = [
            "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
        ]
        for (accepts, expected) in [(true, Outcome.ok("0")), (false, .failed(.cancelled))] {
            let delegate =
                accepts ? TrustAnswerer.accepting() : TrustAnswerer { _ in (.cancelAuthenticationChallenge, nil) }
            try await BothVersions.withServer(version, Self.route, delegate: delegate) {
                $0.connectionProxyDictionary = dictionary
                $0.tlsTrustRoots = .pem((try? CertificateAuthority().certificatePEM) ?? "")
            } body: { session, server in
                let outcome = await session.outcome(try BothVersions.request(server, "/"))
                #expect(outcome == expected)
                #expect(delegate.challenges.snapshot.map(\.protectionSpace.host) == ["localhost"])
            }
        }
    }

    @Test("a handler that forwards a request leaves the decision to the delegate", arguments: BothVersions.all)
    func forwarded(version: String) async throws {
        let delegate = TrustAnswerer.accepting()
        let target = Box<URL?>(nil)
        try await BothVersions.withServer(version, Self.route, delegate: delegate) {
            $0.tlsTrustRoots = .pem((try? CertificateAuthority().certificatePEM) ?? "")
            $0.register(scheme: "test") { load in
                let response = try await load.next.load(URLRequest(url: target.value ?? load.url))
                try await load.receive(response.response)
                for try await piece in response.body { try await load.receive(piece) }
            }
        } body: { session, server in
            target.value = try BothVersions.request(server, "/").url
            let outcome = await session.outcome(URLRequest(url: try #require(URL(string: "test:a"))))
            #expect(outcome == .ok("0") && delegate.challenges.count == 1)
        }
    }

    // MARK: While the program thinks

    private static func impatient(_ request: URLRequest) -> URLRequest {
        var request = request
        request.timeoutInterval = 10
        return request
    }

    /// Calls `body` with a session whose delegate does not answer by itself.
    private func withThinker(
        _ version: String, _ configure: (URLSessionConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (TrustThinker, URLSession, URLRequest, LoopbackServer) async throws -> Void
    ) async throws {
        let thinker = TrustThinker()
        try await BothVersions.withServer(version, Self.route, delegate: thinker, configure) { session, server in
            try await body(thinker, session, try BothVersions.request(server, "/"), server)
        }
    }

    @Test(arguments: BothVersions.all) func answeredTwice(version: String) async throws {
        try await withThinker(version) { thinker, session, request, _ in
            async let outcome = session.outcome(request)
            let question = try #require(await thinker.questions.element(at: 0))
            question.accept()
            question.answer(.cancelAuthenticationChallenge, nil)
            #expect(await outcome == .ok("0"))
            question.answer(.cancelAuthenticationChallenge, nil)
            #expect(await session.outcome(request) == .ok("0"))
        }
    }

    @Test(arguments: BothVersions.all) func neverAnswered(version: String) async throws {
        try await withThinker(version) { thinker, session, request, server in
            async let outcome = session.outcome(request)
            await thinker.questions.count(reaches: 1)
            session.invalidateAndCancel()
            #expect(await outcome == .failed(.cancelled))
            await thinker.invalidated.wait()
            await server.endings.count(reaches: 1)
            thinker.questions[0]?.accept()
            #expect(server.requests.count == 0)
        }
        try await withThinker(version, { $0.timeoutIntervalForResource = 0.2 }) { _, session, request, _ in
            #expect(await session.outcome(request) == .failed(.timedOut))
        }
    }

    @Test("when the one that is asked is cancelled, the next that waits is asked", arguments: BothVersions.all)
    func cancelledWhileAsked(version: String) async throws {
        try await withThinker(version, { $0.httpMaximumConnectionsPerHost = 1 }) { thinker, session, request, server in
            let first = Task { await session.outcome(request) }
            let asked = try #require(await thinker.questions.element(at: 0))
            async let second = session.outcome(request)
            // The second is in the queue when a note on the loop after its start has been taken.
            try await waitUntil { await session.allTasks.count { $0.state == .running } == 2 }
            first.cancel()
            #expect(await first.value == .failed(.cancelled))
            let next = try #require(await thinker.questions.element(at: 1))
            #expect(next.task != asked.task)
            // Who is gone has no say.
            asked.answer(.cancelAuthenticationChallenge, nil)
            next.accept()
            // Over a connection of its own.
            #expect(await second == .ok("1"))
            #expect(server.requests.count == 1)
        }
    }

    @Test("a question that is not needed any more holds no time up")
    func withdrawn() async throws {
        let (isBusy, release) = (Signal(), Signal())
        let thinker = TrustThinker()
        let route: LoopbackServer.Route = { request in
            if request.path == "/first" {
                isBusy.fire()
                try request.exchange.wait(for: release)
            } else {
                try request.exchange.waitUntilClientCloses()
            }
            return .text("\(request.connection)")
        }
        try await BothVersions.withServer("http/1.1", route, delegate: thinker) { session, server in
            let one = try BothVersions.request(server, "/first")
            let two = try Self.impatient(BothVersions.request(server, "/second"))
            async let first = session.outcome(one)
            try #require(await thinker.questions.element(at: 0)).accept()
            await isBusy.wait()
            async let second = session.outcome(two)
            await thinker.questions.count(reaches: 2)
            // The first connection becomes free, and carries the second request, which the server does not answer.
            release.fire()
            #expect(await first == .ok("0"))
            #expect(await second == .failed(.timedOut))
            #expect(await server.requests.count(reaches: 2).map(\.connection) == [0, 0])
        }
    }

    @Test(
        "one refusal fails the one that was asked; the others are asked about connections of their own",
        arguments: BothVersions.all)
    func sharedAttempt(version: String) async throws {
        let count = Box(0)
        let delegate = TrustAnswerer { _ in
            count.update { $0 += 1 }
            return count.value == 1 ? (.cancelAuthenticationChallenge, nil) : (.performDefaultHandling, nil)
        }
        try await BothVersions.withServer(version, Self.route, delegate: delegate) { session, server in
            let request = try BothVersions.request(server, "/")
            let outcomes = await withTaskGroup(of: Outcome.self) { group in
                for _ in 0..<5 { group.addTask { await session.outcome(request) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .failed(.cancelled) } == 1)
            #expect(outcomes.count { if case .loaded(200, _) = $0 { true } else { false } } == 4)
        }
    }

    @Test("the server closes while the program thinks", arguments: TLSGeneration.allCases)
    func closedWhileAsked(version: TLSGeneration) async throws {
        var tls = TLSServerOptions(try CertificateAuthority().issue())
        tls.maximumVersion = version.version
        let ends = Signal()
        let peer = try ScriptedPeer([.beginTLS(tls, answerBytes: 100_000), .waitFor(ends), .close])
        defer { peer.stop() }
        let thinker = TrustThinker()
        let session = makeSession(delegate: thinker)
        let url = try #require(URL(string: peer.url().replacing("http:", with: "https:")))
        try await withTimeout {
            async let outcome = session.outcome(URLRequest(url: url))
            let question = try #require(await thinker.questions.element(at: 0))
            ends.fire()
            #expect(await outcome == .failed(.secureConnectionFailed))
            question.accept()
        }
    }

    @Test("a chain that is too long is refused before anyone is asked")
    func hugeChain() async throws {
        let authority = try CertificateAuthority()
        var identity = try authority.issue()
        let other = try authority.intermediate().certificatePEM
        identity.certificatePEM += String(repeating: other, count: 400)
        let server = try LoopbackServer(LoopbackServer.Options(tls: TLSServerOptions(identity)), route: Self.route)
        defer { server.stop() }
        let delegate = TrustAnswerer.accepting()
        let session = makeSession(delegate: delegate)
        try await withTimeout {
            let outcome = await session.outcome(try BothVersions.request(server, "/"))
            #expect(outcome == .failed(.secureConnectionFailed) && delegate.challenges.count == 0)
        }
    }
}
