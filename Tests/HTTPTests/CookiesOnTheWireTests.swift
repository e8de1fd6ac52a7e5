import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Cookies between sessions and servers; what they mean is tested in `CoreTests`.
@Suite struct CookiesOnTheWireTests {
    /// Sets what the query says, sends back what it is given; `/hop` redirects.
    private static let answer: LoopbackServer.Route = { request in
        // Over HTTP/2 each cookie may have a field of its own (RFC 9113 §8.2.3).
        let cookies = request.fields.values(of: .cookie).joined(separator: "; ")
        var response: ServerResponse =
            request.path == "/hop" ? .redirect(to: "/end") : .text(cookies.isEmpty ? "none" : cookies)
        if let query = request.target.split(separator: "?").dropFirst().first {
            for cookie in query.split(separator: "&") {
                response.fields.append(name: "Set-Cookie", value: String(cookie))
            }
        }
        return response
    }

    private static func outcome(
        _ session: URLSession, _ server: LoopbackServer, _ path: String,
        _ change: (inout URLRequest) -> Void = { _ in }
    ) async throws -> Outcome {
        var request = try BothVersions.request(server, path)
        change(&request)
        return await session.outcome(request)
    }

    @Test(arguments: BothVersions.all) func comeBack(version: String) async throws {
        try await BothVersions.withServer(version, Self.answer) { session, server in
            let steps: [(String, String)] = [
                ("/?a=1&b=2;Path=/deep", "none"), ("/", "a=1"), ("/deep/x", "b=2; a=1"), ("/?a=3", "a=1"), ("/", "a=3"),
                ("/?a=;Max-Age=0", "a=3"), ("/", "none"),
            ]
            for (path, expected) in steps {
                let outcome = try await Self.outcome(session, server, path)
                #expect(outcome == .ok(expected), "\(path)")
            }
        }
    }

    @Test(arguments: BothVersions.all) func areSetAndSentOnEachHop(version: String) async throws {
        try await BothVersions.withServer(version, Self.answer) { session, server in
            let outcome = try await Self.outcome(session, server, "/hop?a=1")
            #expect(outcome == .ok("a=1"))
        }
    }

    /// Over HTTP/2 a field that begins or ends with a space is malformed, also where it has one of several cookies.
    @Test(arguments: BothVersions.all) func mayHaveSpacesAroundThem(version: String) async throws {
        try await BothVersions.withServer(version, Self.answer) { session, server in
            for cookies in ["a=1 ; b=2", "a=1;  b=2", "a=1; b=2 ; c=3"] {
                let outcome = try await Self.outcome(session, server, "/") {
                    $0.setValue(cookies, forHTTPHeaderField: "Cookie")
                }
                #expect(outcome == .ok(cookies))
            }
        }
    }

    /// Values of a server's cookies have no spaces at their ends. Values of a program's own cookies may.
    @Test(arguments: BothVersions.all) func ofAProgramMayEndWithSpaces(version: String) async throws {
        let storage = HTTPCookieStorage()
        let cookie = HTTPCookie(properties: [.name: "a", .value: "1 \t", .domain: "localhost", .path: "/"])
        storage.setCookie(try #require(cookie))
        #expect(storage.cookies?.first?.value == "1 \t")
        try await BothVersions.withServer(version, Self.answer, { $0.httpCookieStorage = storage }) {
            session, server in
            let outcome = try await Self.outcome(session, server, "/")
            #expect(outcome == .ok("a=1"))
        }
    }

    @Test func requestsAndConfigurationsHaveTheirSay() async throws {
        let storage = HTTPCookieStorage()
        try await BothVersions.withServer("http/1.1", Self.answer, { $0.httpCookieStorage = storage }) {
            session, server in
            let own = try await Self.outcome(session, server, "/?a=1") {
                $0.setValue("mine", forHTTPHeaderField: "Cookie")
            }
            #expect(own == .ok("mine"))
            let unhandled = try await Self.outcome(session, server, "/?b=1") { $0.httpShouldHandleCookies = false }
            #expect(unhandled == .ok("none"))
            #expect(storage.cookies?.map(\.name) == ["a"])
            let foreign = try await Self.outcome(session, server, "/?c=1") {
                $0.mainDocumentURL = URL(string: "https://other.example/")
            }
            #expect(foreign == .ok("none"))
            #expect(storage.cookies?.map(\.name) == ["a"])
        }
        try await BothVersions.withServer(
            "http/1.1", Self.answer,
            {
                $0.httpCookieStorage = storage
                $0.httpShouldSetCookies = false
                $0.httpCookieAcceptPolicy = .never
            }
        ) { session, server in
            let outcome = try await Self.outcome(session, server, "/?d=1")
            #expect(outcome == .ok("none"))
            #expect(storage.cookies?.map(\.name) == ["a"])
        }
        try await BothVersions.withServer("http/1.1", Self.answer, { $0.httpCookieStorage = nil }) { session, server in
            _ = try await Self.outcome(session, server, "/?e=1")
            let outcome = try await Self.outcome(session, server, "/")
            #expect(outcome == .ok("none"))
        }
    }

    /// A program's own storage, which answers later and from another thread.
    private final class SlowStorage: HTTPCookieStorage, @unchecked Sendable {  // adds no state
        override func getCookiesFor(
            _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {
            DispatchQueue.global().async { super.getCookiesFor(task, completionHandler: completionHandler) }
        }
    }

    /// Overrides nothing that is asked for cookies.
    private final class AfterThoughtStorage: HTTPCookieStorage, @unchecked Sendable {}  // adds no state

    /// The same in the asynchronous form, which asks its superclass before and after it has thought.
    private final class AsynchronousStorage: HTTPCookieStorage, @unchecked Sendable {  // adds no state
        override func cookies(for task: URLSessionTask) async -> [HTTPCookie]? {
            guard await super.cookies(for: task) != nil else { return nil }
            await Task.yield()
            let own = HTTPCookie(properties: [.name: "own", .value: "1", .domain: "localhost", .path: "/"])
            return (await super.cookies(for: task) ?? []) + (own.map { [$0] } ?? [])
        }
    }

    @Test func aStorageOfOnesOwnMayBeAsynchronous() async throws {
        let storage = AsynchronousStorage()
        try await BothVersions.withServer("h2", Self.answer, { $0.httpCookieStorage = storage }) { session, server in
            for expected in ["own=1", "a=1; own=1"] {
                let outcome = try await Self.outcome(session, server, "/")
                #expect(outcome == .ok(expected))
                _ = try await Self.outcome(session, server, "/?a=1")
            }
            let task = session.dataTask(with: try BothVersions.request(server, "/"))
            let names = await storage.cookies(for: task)?.map(\.name)
            #expect(names == ["a", "own"])
            let plain = await HTTPCookieStorage().cookies(for: task)
            #expect(plain?.isEmpty == true)
        }
    }

    /// A program's own storage that calls each of its handlers several times, and keeps them.
    private final class RepeatingStorage: HTTPCookieStorage, @unchecked Sendable {  // constants
        let handlers = Recorder<@Sendable ([HTTPCookie]?) -> Void>()
        private let times: Int

        init(_ times: Int) {
            self.times = times
            super.init()
        }

        override func getCookiesFor(
            _ task: URLSessionTask, completionHandler: @escaping @Sendable ([HTTPCookie]?) -> Void
        ) {
            handlers.append(completionHandler)
            let own = HTTPCookie(properties: [.name: "own", .value: "1", .domain: "localhost", .path: "/"])
            for _ in 0..<times { completionHandler(own.map { [$0] }) }
        }
    }

    @Test(arguments: BothVersions.all) func aStorageOfOnesOwnAnswersOnce(version: String) async throws {
        let storage = RepeatingStorage(2)
        try await BothVersions.withServer(version, Self.answer, { $0.httpCookieStorage = storage }) { session, server in
            let outcome = try await Self.outcome(session, server, "/")
            #expect(outcome == .ok("own=1"))
        }
    }

    /// The storage answers again while the delegate decides about a challenge.
    @Test(arguments: BothVersions.all) func aSecondAnswerSendsNothing(version: String) async throws {
        let route: LoopbackServer.Route = { request in
            if request.fields.contains(.authorization) { return .text("in") }
            return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=r")
        }
        let (storage, isAsked, mayAnswer) = (RepeatingStorage(1), Signal(), Signal())
        defer { mayAnswer.fire() }
        let delegate = ChallengeAnswerer { _ in
            isAsked.fire()
            mayAnswer.waitBlocking()
            return (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        }
        try await BothVersions.withServer(version, route, delegate: delegate, { $0.httpCookieStorage = storage }) {
            session, server in
            async let loaded = Self.outcome(session, server, "/")
            await isAsked.wait()
            storage.handlers[0]?(nil)
            // The loop has the answer once it answers this.
            _ = await session.allTasks
            mayAnswer.fire()
            let outcome = try await loaded
            #expect(outcome == .ok("in"))
            #expect(server.requests.snapshot.map { $0.fields.contains(.authorization) } == [false, true])
        }
    }

    @Test(arguments: [SlowStorage(), AfterThoughtStorage()])
    func aStorageOfOnesOwnMayTakeItsTime(_ storage: HTTPCookieStorage) async throws {
        try await BothVersions.withServer("h2", Self.answer, { $0.httpCookieStorage = storage }) { session, server in
            let first = try await Self.outcome(session, server, "/hop?a=1")
            #expect(first == .ok("a=1"))
            let second = try await Self.outcome(session, server, "/")
            #expect(second == .ok("a=1"))
        }
    }

    @Test func sessionsOfTheirOwnShareNothing() {
        let one = URLSessionConfiguration.ephemeral
        #expect(one.httpCookieStorage !== URLSessionConfiguration.ephemeral.httpCookieStorage)
        #expect(URLSessionConfiguration.default.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(one.httpCookieAcceptPolicy == .onlyFromMainDocumentDomain && one.httpShouldSetCookies)
    }
}
