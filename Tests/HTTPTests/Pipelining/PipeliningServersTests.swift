import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Pipelining to servers that do nothing for a test's sake.
@Suite struct PipeliningServersTests {
    /// Loads each path once, all at once, and gives the bodies in the paths' order.
    private static func load(_ count: Int, _ server: NginxServer, _ session: URLSession) async throws -> [String] {
        let requests = try (0..<count).map { URLRequest(url: try #require(URL(string: server.url("/\($0)")))) }
        return await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, await session.outcome(request)) }
            }
            var bodies = Array(repeating: "", count: count)
            for await case (let index, .loaded(200, let body)) in group { bodies[index] = body }
            return bodies
        }
    }

    /// Each answer says whether its request was sent ahead (`p`, else `.`), on which connection, and its path.
    private static let echo = "location / { return 200 \"$pipe $connection $request_uri\"; }"

    /// - Parameter each: how many requests nginx takes on a connection before it says that it closes it.
    @Test(arguments: [(6, nil), (1, nil), (1, 7), (6, 7), (2, 2)] as [(connections: Int, each: Int?)])
    func nginxAnswersEach(connections: Int, each: Int?) async throws {
        let count = each == nil ? 1000 : 300
        let limit = each.map { "keepalive_requests \($0);" } ?? ""
        let server = try await onThread { try NginxServer(directives: Self.echo + limit) }
        defer { server.stop() }
        try await withTimeout {
            let session = PipelinedLoads.session(connections: connections)
            defer { session.invalidateAndCancel() }
            var (answers, sentAhead) = ([[Substring]](), 0)
            // nginx marks a request that it received before it had answered the one before: on a busy machine it may have
            // been faster than the client each time. The second answer of two is the last one, with none ahead of it.
            repeat {
                try Task.checkCancellation()
                answers = try await Self.load(count, server, session).map { $0.split(separator: " ") }
                #expect(answers.allSatisfy { $0.count == 3 })
                #expect(answers.map(\.last) == (0..<count).map { "/\($0)" })
                sentAhead = answers.count { $0.first == "p" }
            } while sentAhead == 0 && each != 2
            if each == nil {
                #expect(Set(answers.map { $0[1] }).count == connections)
            }
        }
    }

    private static func body(_ path: String) -> String {
        let number = Int(path.dropFirst()) ?? 0
        return path + String(repeating: "x", count: number % 3 == 0 ? number * 40 : number % 50)
    }

    /// Answers of all lengths and framings, some of which end their connection, and loads that are cancelled at any time:
    /// nobody gets another's answer.
    @Test(arguments: 0..<4 as Range<UInt64>) func nobodyGetsAnothersAnswer(seed: UInt64) async throws {
        let server = try LoopbackServer { request in
            let (path, number) = (request.path, Int(request.path.dropFirst()) ?? 0)
            switch number % 20 {
            case 3, 14: return .text(Self.body(path)).closing()
            case 5...8:
                return .stream { writer in for byte in Self.body(path).utf8 { try writer.write([byte]) } }
            default: return .text(Self.body(path))
            }
        }
        defer { server.stop() }
        try await withTimeout {
            var random = SeededGenerator(seed: seed)
            let session = PipelinedLoads.session(connections: Int(seed % 3) + 1)
            defer { session.invalidateAndCancel() }
            let ended = Recorder<(path: String, outcome: String?)>()
            for number in 0..<300 {
                let path = "/\(number)"
                var request = URLRequest(url: try #require(URL(string: server.url(path))))
                let isHead = Int.random(in: 0..<5, using: &random) == 0
                if isHead { request.httpMethod = "HEAD" }
                let task = session.dataTask(with: request) { data, _, error in
                    let body = error == nil ? String(decoding: data ?? Data(), as: UTF8.self) : nil
                    let isCancelled = (error as? URLError)?.code == .cancelled
                    ended.append((isHead ? "" : path, isCancelled ? nil : body ?? "\(String(describing: error))"))
                }
                task.resume()
                switch Int.random(in: 0..<10, using: &random) {
                case 0: task.cancel()
                case 1: Task { task.cancel() }
                case 2:
                    task.suspend()
                    Task { task.resume() }
                default: break
                }
                if number % 50 == 49 { _ = await ended.count(reaches: number - 20) }
            }
            for (path, outcome) in await ended.count(reaches: 300) {
                if let outcome { #expect(outcome == (path.isEmpty ? "" : Self.body(path))) }
            }
            // A connection whose answers are not wanted is closed.
            let failures = server.failures.snapshot.filter { !$0.contains("reset") && !$0.contains("Broken pipe") }
            #expect(failures.isEmpty)
        }
    }

    /// A login that every answer asks for at first, while others are on their way behind it.
    @Test(arguments: ["Basic realm=\"r\"", "Digest realm=\"r\", qop=\"auth\", algorithm=MD5"])
    func loginsWhileOthersAreBehind(challenge: String) async throws {
        let site = ProtectedSite(challenge)
        let server = try LoopbackServer(route: site.route)
        defer { server.stop() }
        try await withTimeout {
            let session = PipelinedLoads.session(connections: 2, delegate: SessionChallengeAnswerer("u", "p"))
            defer { session.invalidateAndCancel() }
            let request = URLRequest(url: try #require(URL(string: server.url("/"))))
            await withTaskGroup(of: Outcome.self) { group in
                for _ in 0..<40 { group.addTask { await session.outcome(request) } }
                for await outcome in group { #expect(outcome == .ok("GET ")) }
            }
        }
    }

    /// NTLM is about the connection: what takes part in it shares it with no other request.
    @Test func ntlmHasItsConnectionAlone() async throws {
        let ntlm = NTLMServer()
        let server = try LoopbackServer(route: ntlm.route)
        defer { server.stop() }
        try await withTimeout {
            let session = PipelinedLoads.session(connections: 2, delegate: SessionChallengeAnswerer("D\\u", "p"))
            defer { session.invalidateAndCancel() }
            let request = URLRequest(url: try #require(URL(string: server.url("/"))))
            await withTaskGroup(of: Outcome.self) { group in
                for _ in 0..<40 { group.addTask { await session.outcome(request) } }
                for await outcome in group { #expect(outcome == .ok("in")) }
            }
        }
    }
}
