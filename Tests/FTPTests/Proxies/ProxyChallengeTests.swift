import Foundation
import LoadingKit
import TestSupport
import Testing

/// A proxy's demand for a user and a password is put to the program, as it is for HTTP.
@Suite(.usesPeers) struct ProxyChallengeTests {
    struct Asking: Sendable, CustomTestStringConvertible {
        let program: ProxyServer.Program
        var scheme = ProxyServer.Scheme.basic

        var testDescription: String { "\(program) \(scheme)" }

        static let all = [
            Asking(program: .squid), Asking(program: .squid, scheme: .digest), Asking(program: .microsocks),
        ]

        func start() async throws -> ProxyServer {
            try await onThread { try ProxyServer(program, credential: "me:secret", by: scheme) }
        }
    }

    /// Answers a proxy's challenges, and notes them.
    private final class Answerer: NSObject, URLSessionTaskDelegate, Sendable {
        let spaces = Recorder<URLProtectionSpace>()
        let failures = Recorder<Int>()
        private let answer: @Sendable (URLAuthenticationChallenge, URLSessionTask) -> String?

        /// - Parameter answer: gives a password; nil cancels the challenge.
        init(_ answer: @escaping @Sendable (URLAuthenticationChallenge, URLSessionTask) -> String?) {
            self.answer = answer
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            spaces.append(challenge.protectionSpace)
            failures.append(challenge.previousFailureCount)
            guard let password = answer(challenge, task) else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            let credential = URLCredential(user: "me", password: password, persistence: .forSession)
            completionHandler(.useCredential, credential)
        }
    }

    private func load(
        _ asking: Asking, _ delegate: Answerer?, times: Int = 1
    ) async throws -> (outcomes: [FTPOutcome], proxy: Int, steps: [String]) {
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let proxy = try await asking.start()
        defer { proxy.stop() }
        let session = makeFTPSession(delegate: delegate) { $0.connectionProxyDictionary = proxy.dictionary }
        defer { session.invalidateAndCancel() }
        let outcomes = try await withTimeout(asking.testDescription) {
            var outcomes: [FTPOutcome] = []
            for _ in 0..<times { outcomes.append(await session.outcome(server.url())) }
            return outcomes
        }
        return (outcomes, Int(proxy.port), server.steps)
    }

    /// The data connections, and later loads, are accepted without another challenge.
    @Test(arguments: Asking.all) func aWrongPasswordAndThenTheRightOne(_ asking: Asking) async throws {
        let answerer = Answerer { challenge, _ in challenge.previousFailureCount == 0 ? "wrong" : "secret" }
        let run = try await load(asking, answerer, times: 2)
        #expect(run.outcomes == Array(repeating: .loaded(FaultyFTPServer.file), count: 2))
        #expect(answerer.failures.snapshot == [0, 1])
        for space in answerer.spaces.snapshot {
            #expect(space.isProxy() && space.host == "127.0.0.1" && space.port == run.proxy)
            let isSOCKS = asking.program.isSOCKS
            #expect(space.proxyType == (isSOCKS ? NSURLProtectionSpaceSOCKSProxy : NSURLProtectionSpaceFTPProxy))
        }
    }

    @Test(arguments: Asking.all) func aCancelledChallenge(_ asking: Asking) async throws {
        let answerer = Answerer { _, _ in nil }
        let run = try await load(asking, answerer)
        #expect(run.outcomes == [.failed(.cancelled)])
        #expect(answerer.failures.snapshot == [0] && run.steps == [])
    }

    @Test(arguments: Asking.all) func aTaskThatIsCancelledInTheChallenge(_ asking: Asking) async throws {
        let answerer = Answerer { _, task in
            task.cancel()
            return "secret"
        }
        let run = try await load(asking, answerer)
        #expect(run.outcomes == [.failed(.cancelled)])
        #expect(run.steps == [])
    }

    @Test(arguments: Asking.all) func nobodyAnswers(_ asking: Asking) async throws {
        let run = try await load(asking, nil)
        #expect(run.outcomes == [.failed(.userAuthenticationRequired)])
        #expect(run.steps == [])
    }

    /// Each of two users' loads has its own credential for the server; the proxy's is the session's.
    @Test func theProxyAndTheServerAsk() async throws {
        let proxy = try await Asking(program: .squid).start()
        defer { proxy.stop() }
        let run = try await ScenarioRun.start(.pyftpdlib, .none)
        defer { run.server.stop() }
        let password = run.server.password
        let (user, kinds) = (run.server.user, Recorder<Bool>())
        let answerer = BothAnswerer(server: (user, password), kinds)
        let session = run.makeSession(delegate: answerer) {
            $0.connectionProxyDictionary = proxy.dictionary
        }
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(for: run.request("/a.txt", credential: "nobody:none"))
        #expect(Array(data) == ScenarioRun.text)
        #expect(kinds.snapshot == [true, false])
    }

    /// Gives the proxy its credential, and the server its own.
    private final class BothAnswerer: NSObject, URLSessionTaskDelegate, Sendable {
        private let server: (user: String, password: String)
        private let kinds: Recorder<Bool>

        init(server: (user: String, password: String), _ kinds: Recorder<Bool>) {
            (self.server, self.kinds) = (server, kinds)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let isProxy = challenge.protectionSpace.isProxy()
            kinds.append(isProxy)
            completionHandler(
                .useCredential,
                URLCredential(
                    user: isProxy ? "me" : server.user, password: isProxy ? "secret" : server.password,
                    persistence: .forSession))
        }
    }

    /// A session does not use another session's credentials for a proxy.
    @Test func twoSessionsAskTheirOwnPrograms() async throws {
        let asking = Asking(program: .squid)
        let proxy = try await asking.start()
        defer { proxy.stop() }
        let server = try FaultyFTPServer()
        defer { server.stop() }
        let answerers = (0..<2).map { _ in Answerer { _, _ in "secret" } }
        let sessions = answerers.map { answerer in
            makeFTPSession(delegate: answerer) { $0.connectionProxyDictionary = proxy.dictionary }
        }
        defer { for session in sessions { session.invalidateAndCancel() } }
        try await withTimeout {
            for session in sessions + sessions {
                #expect(await session.outcome(server.url()) == .loaded(FaultyFTPServer.file))
            }
        }
        #expect(answerers.map(\.failures.snapshot) == [[0], [0]])
    }
}
