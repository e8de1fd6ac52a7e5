import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// The decision of a task's own delegate in a TLS handshake is for tasks with that delegate alone.
@Suite struct TaskDelegateTrustTests {
    /// Answers a task's challenges about connections, and counts them.
    final class Decider: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // constants
        let challenges = Recorder<URLAuthenticationChallenge>()
        private let answer: @Sendable (URLAuthenticationChallenge) -> ChallengeNotes.Answer

        init(_ answer: @escaping @Sendable (URLAuthenticationChallenge) -> ChallengeNotes.Answer) {
            self.answer = answer
        }

        static func accepting(_ identity: ClientIdentity? = nil) -> Decider {
            Decider { challenge in
                if let trust = challenge.protectionSpace.serverTrust {
                    return (.useCredential, URLCredential(trust: trust))
                }
                let credential = identity.map { URLCredential(identity: $0, certificates: nil, persistence: .none) }
                return (.useCredential, credential)
            }
        }

        static var refusing: Decider { Decider { _ in (.cancelAuthenticationChallenge, nil) } }
        static var indifferent: Decider { Decider { _ in (.performDefaultHandling, nil) } }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping ChallengeAnswerHandler
        ) {
            challenges.append(challenge)
            let (disposition, credential) = answer(challenge)
            completionHandler(disposition, credential)
        }
    }

    /// A delegate that decides nothing.
    final class Bystander: NSObject, URLSessionTaskDelegate {}

    private static let route: LoopbackServer.Route = { request in
        var response = ServerResponse.text("\(request.connection)\(request.tls?.isResumed == true ? " resumed" : "")")
        response.fields.append(name: "Strict-Transport-Security", value: "max-age=9")
        return response
    }

    private static let unknown = Outcome.failed(.serverCertificateHasUnknownRoot)

    /// Whom the session does not trust.
    static func distrust(_ configuration: URLSessionConfiguration) {
        configuration.tlsTrustRoots = .pem((try? CertificateAuthority().certificatePEM) ?? "")
    }

    @Test("a server that one delegate accepted is not another's", arguments: BothVersions.all)
    func acceptedByOne(version: String) async throws {
        try await BothVersions.withServer(version, Self.route) {
            Self.distrust($0)
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            let (one, other, refusing) = (Decider.accepting(), Decider.accepting(), Decider.refusing)
            #expect(await session.outcome(request, delegate: one) == .ok("0"))
            #expect(await session.outcome(request) == Self.unknown)
            #expect(await session.outcome(request, delegate: Bystander()) == Self.unknown)
            #expect(await session.outcome(request, delegate: Decider.indifferent) == Self.unknown)
            #expect(await session.outcome(request, delegate: refusing) == .failed(.cancelled))
            let outcome = await session.outcome(request, delegate: other)
            #expect(outcome != .ok("0") && outcome.isLoaded)
            // Its own goes on, and is not asked again.
            #expect(await session.outcome(request, delegate: one) == .ok("0"))
            #expect(one.challenges.count == 1 && other.challenges.count == 1 && refusing.challenges.count == 1)
        }
    }

    @Test("loads that begin at once, with different delegates", arguments: BothVersions.all)
    func atOnce(version: String) async throws {
        try await BothVersions.withServer(version, Self.route) {
            Self.distrust($0)
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            let accepting = Decider.accepting()
            await withTaskGroup(of: (accepts: Bool, outcome: Outcome).self) { group in
                for index in 0..<30 {
                    let accepts = index % 3 == 0
                    let delegate: Decider? = accepts ? accepting : index % 3 == 1 ? .indifferent : nil
                    group.addTask { (accepts, await session.outcome(request, delegate: delegate)) }
                }
                for await load in group {
                    if load.accepts { #expect(load.outcome.isLoaded) } else { #expect(load.outcome == Self.unknown) }
                }
            }
        }
    }

    @Test("a delegate that pins is asked, whatever the session has connected before", arguments: BothVersions.all)
    func pinning(version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            let request = try BothVersions.request(server, "/")
            #expect(await session.outcome(request) == .ok("0"))
            let refusing = Decider.refusing
            #expect(await session.outcome(request, delegate: refusing) == .failed(.cancelled))
            #expect(refusing.challenges.count == 1)
        }
    }

    @Test("another delegate at the place in memory of one that is gone", arguments: BothVersions.all)
    func gone(version: String) async throws {
        try await BothVersions.withServer(version, Self.route) {
            Self.distrust($0)
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            for _ in 0..<20 {
                let outcome = await session.outcome(request, delegate: Decider.accepting())
                #expect(outcome.isLoaded)
                #expect(await session.outcome(request, delegate: Decider.indifferent) == Self.unknown)
            }
        }
    }

    @Test("what an accepted server says of HSTS is not believed", arguments: BothVersions.all)
    func hsts(version: String) async throws {
        for isTrusted in [true, false] {
            try await BothVersions.withServer(version, Self.route) {
                if !isTrusted { Self.distrust($0) }
            } body: { session, server in
                let request = try BothVersions.request(server, "/")
                #expect(await session.outcome(request, delegate: Decider.accepting()).isLoaded)
                let isKnown = session.core.settings.hsts.requiresSecureConnection(to: "localhost")
                #expect(isKnown == isTrusted)
            }
        }
    }

    @Test("delegates that decide nothing share a connection", arguments: BothVersions.all)
    func bystanders(version: String) async throws {
        try await BothVersions.withServer(version, Self.route) { session, server in
            let request = try BothVersions.request(server, "/")
            for _ in 0..<5 { #expect(await session.outcome(request, delegate: Bystander()) == .ok("0")) }
            for _ in 0..<5 { #expect(await session.outcome(request) == .ok("0")) }
        }
    }

    /// Decides nothing. No other test uses this class: once one delegate of a class has been asked, the class is known.
    private final class Newcomer: NSObject, URLSessionTaskDelegate, Sendable {
        private let ends: Recorder<URLError.Code?>

        init(_ ends: Recorder<URLError.Code?>) { self.ends = ends }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ends.append((error as? URLError)?.code)
        }
    }

    @Test("delegates that decide nothing share an HTTP/2 connection, also when their loads begin at once")
    func bystandersAtOnce() async throws {
        let loop = EventLoop(name: "bystanders", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        try await BothVersions.withServer("h2", Self.route, on: loop) {
            $0.httpMaximumConnectionsPerHost = 1
        } body: { session, server in
            let ends = Recorder<URLError.Code?>()
            let request = try BothVersions.request(server, "/")
            // All of them begin before the first connection is there.
            loop.execute {
                for _ in 0..<10 {
                    let task = session.dataTask(with: request)
                    task.delegate = Newcomer(ends)
                    task.resume()
                }
            }
            #expect(await ends.count(reaches: 10).allSatisfy { $0 == nil })
            #expect(server.openings.count == 1)
        }
    }

    @Test(
        "where the session's delegate decides, tasks with delegates of their own share its connections",
        arguments: BothVersions.all)
    func sessionDecides(version: String) async throws {
        let delegate = TrustAnswerer.accepting()
        try await BothVersions.withServer(version, Self.route, delegate: delegate) {
            Self.distrust($0)
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            let own = Decider.refusing
            for _ in 0..<5 { #expect(await session.outcome(request, delegate: own) == .ok("0")) }
            for _ in 0..<5 { #expect(await session.outcome(request) == .ok("0")) }
            #expect(own.challenges.count == 0)
        }
    }

    @Test("each delegate's client certificate is for its own tasks", arguments: BothVersions.all)
    func identities(version: String) async throws {
        let authority = try CertificateAuthority()
        let route: LoopbackServer.Route = { request in
            let shown = request.tls?.peerCertificateDER.flatMap { try? X509Certificate(derRepresentation: Data($0)) }
            return .text(shown?.subject ?? "none")
        }
        func identity(_ name: String) throws -> ClientIdentity {
            let files = try authority.issue(.client(name))
            return try ClientIdentity(pemRepresentation: files.certificatePEM + files.privateKeyPEM)
        }
        let delegates = [
            ("CN=Ada", Decider.accepting(try identity("Ada"))), ("CN=Bob", Decider.accepting(try identity("Bob"))),
        ]
        try await BothVersions.withServer(version, route) {
            Self.distrust($0)
        } tls: {
            $0.clientAuthoritiesPEM = [authority.certificatePEM]
        } body: { session, server in
            let request = try BothVersions.request(server, "/")
            for _ in 0..<3 {
                for (name, delegate) in delegates {
                    #expect(await session.outcome(request, delegate: delegate) == .ok(name))
                }
            }
            #expect(await session.outcome(request) == Self.unknown)
        }
    }
}

extension Outcome {
    fileprivate var isLoaded: Bool {
        if case .loaded(200, _) = self { true } else { false }
    }
}
