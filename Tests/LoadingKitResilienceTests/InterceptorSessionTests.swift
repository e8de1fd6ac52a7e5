import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitResilience
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RateLimiterTests {
    @Test func requestsGoInOrderAsTheClockMoves() async throws {
        let server = try LoopbackServer { .text($0.path) }
        defer { server.stop() }
        let clock = ManualClock()
        let limiter = RateLimiter(RateLimit(rate: 1), clock: clock.clock)
        let session = URLSession.with(limiter)
        #expect(try await session.text(server.url("/0")) == "/0")
        var tasks: [Task<String, any Error>] = []
        for number in 1...3 {
            tasks.append(Task { try await session.text(server.url("/\(number)")) })
            try await waitUntil { limiter.waitingCount == number }
        }
        tasks[1].cancel()
        _ = try? await tasks[1].value
        try await waitUntil { limiter.waitingCount == 2 }
        for expected in [0, 2] {
            try await waitUntil { clock.sleeping == 1 }
            clock.advance(by: 1)
            #expect(try await tasks[expected].value == "/\(expected + 1)")
        }
        #expect(server.requests.snapshot.map(\.path) == ["/0", "/1", "/3"])
        #expect(limiter.waitingCount == 0)
    }

    @Test func aWaitThatWouldBeTooLongFailsAtOnce() async throws {
        let server = try LoopbackServer { _ in .text("a") }
        defer { server.stop() }
        let limiter = RateLimiter(RateLimit(rate: 0.1, maximumWait: 5), clock: ManualClock().clock)
        let session = URLSession.with(limiter)
        #expect(try await session.status(server.url()) == 200)
        let failure = try await error(RateLimitError.self) { try await session.status(server.url()) }
        #expect(try failure.origin == server.origin && failure.wait == 10)
        #expect(server.requests.count == 1)
    }

    @Test func retryAfterPausesTheHost() async throws {
        let server = try LoopbackServer { _ in .text("slow down", status: 429).adding("Retry-After", "20") }
        defer { server.stop() }
        let limiter = RateLimiter(RateLimit(rate: 100, burst: 100, maximumWait: 5), clock: ManualClock().clock)
        let session = URLSession.with(limiter)
        #expect(try await session.status(server.url()) == 429)
        let failure = try await error(RateLimitError.self) { try await session.status(server.url()) }
        #expect(failure.wait == 20)
    }

    /// The origin that was used least recently is forgotten beyond the limit, even where its bucket is not full.
    @Test func noMoreHostsAreRecordedThanTheLimitAllows() async throws {
        let servers = try (0..<2).map { _ in try LoopbackServer { _ in .text("a") } }
        defer { for server in servers { server.stop() } }
        var limit = RateLimit(rate: 0.1, maximumWait: 5)
        limit.maximumHosts = 1
        let session = URLSession.with(RateLimiter(limit, clock: ManualClock().clock))
        for server in [servers[0], servers[1], servers[0]] {
            #expect(try await session.status(server.url()) == 200)
        }
    }

    /// Where it is asked for the time, and where a wait for a turn is replaced by a longer one.
    @Test func theClockMayUseTheLimiter() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text("slow down", status: 429).adding("Retry-After", "20")
        }
        let other = try LoopbackServer { _ in .text("a") }
        defer { for server in [server, other] { server.stop() } }
        let clock = ManualClock()
        let used = Box<RateLimiter?>(nil)
        defer { used.value = nil }
        var limit = RateLimit(rate: 1, maximumWait: 100)
        limit.maximumHosts = 1
        let limiter = RateLimiter(limit, clock: clock.running { _ = used.value?.waitingCount })
        used.value = limiter
        let session = URLSession.with(limiter)
        let first = Task { try await session.status(server.url()) }
        _ = await server.requests.count(reaches: 1)
        let second = Task { try await session.status(server.url()) }
        _ = await clock.sleeps.count(reaches: 1)
        release.fire()
        #expect(try await first.value == 429)
        _ = await clock.sleeps.count(reaches: 2)
        second.cancel()
        await #expect(throws: URLError.self) { try await second.value }
        #expect(try await session.status(other.url()) == 200)
    }

    @Test func aThousandCancelledWaitersLeave() async throws {
        let server = try LoopbackServer { _ in .text("a") }
        defer { server.stop() }
        let clock = ManualClock()
        let limiter = RateLimiter(RateLimit(rate: 0.01, maximumWait: 1e9), clock: clock.clock)
        let session = URLSession.with(limiter)
        #expect(try await session.status(server.url()) == 200)
        let tasks = (0..<1_000).map { _ in Task { try await session.status(server.url()) } }
        try await waitUntil { limiter.waitingCount == 1_000 }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: URLError.self) { try await task.value } }
        try await waitUntil { limiter.waitingCount == 0 && clock.sleeping == 0 }
        #expect(server.requests.count == 1)
    }
}

@Suite(.timeLimit(.minutes(5))) struct CircuitBreakerTests {
    @Test func itOpensAndClosesAgain() async throws {
        let status = Box(500)
        let server = try LoopbackServer { _ in .text("x", status: status.value) }
        defer { server.stop() }
        let clock = ManualClock()
        let breaker = CircuitBreaker(.init(minimumCalls: 3, openTime: 10), clock: clock.clock)
        let session = URLSession.with(breaker)
        for _ in 0..<3 { #expect(try await session.status(server.url()) == 500) }
        let failure = try await error(CircuitOpenError.self) { try await session.status(server.url()) }
        #expect(try failure.origin == server.origin && failure.wait == 10)
        #expect(server.requests.count == 3)
        clock.advance(by: 10)
        status.value = 200
        #expect(try await session.status(server.url()) == 200)
        #expect(try breaker.phase(of: server.origin) == .closed)
    }

    @Test func cancelledCallsDoNotCount() async throws {
        let server = try LoopbackServer { request in
            try request.exchange.waitUntilClientCloses()
            return .text("late")
        }
        defer { server.stop() }
        let breaker = CircuitBreaker(.init(minimumCalls: 1), clock: ManualClock().clock)
        let session = URLSession.with(breaker)
        for number in 1...3 {
            let task = Task { try await session.status(server.url()) }
            _ = await server.requests.count(reaches: number)
            task.cancel()
            _ = try? await task.value
        }
        _ = await server.endings.count(reaches: 3)
        #expect(try breaker.phase(of: server.origin) == .closed)
    }

    @Test func theNumberOfOpenBreakersIsLimited() async throws {
        let breaker = CircuitBreaker(.init(minimumCalls: 1), maximumHosts: 1_000, clock: ManualClock().clock)
        let session = URLSession.with(
            breaker,
            ClosureInterceptor { load in
                let response = try #require(
                    HTTPURLResponse(url: load.url, statusCode: 500, httpVersion: nil, headerFields: nil))
                try await load.receive(response)
            })
        let origins = (0..<3_000).compactMap { RequestOrigin("http://h\($0).example") }
        for origin in origins { #expect(try await session.status(origin.description) == 500) }
        let open = origins.filter { breaker.phase(of: $0) != .closed }
        #expect(open.count <= 1_000 && open.last == origins.last)
    }

    @Test func theClockMayUseTheBreaker() async throws {
        let origins = (0..<2).compactMap { RequestOrigin("http://h\($0).example") }
        let used = Box<CircuitBreaker?>(nil)
        defer { used.value = nil }
        let clock = ManualClock().running { _ = origins.map { used.value?.phase(of: $0) } }
        let breaker = CircuitBreaker(.init(minimumCalls: 1), maximumHosts: 1, clock: clock)
        used.value = breaker
        let session = URLSession.with(
            breaker,
            ClosureInterceptor { load in
                let response = try #require(
                    HTTPURLResponse(url: load.url, statusCode: 500, httpVersion: nil, headerFields: nil))
                try await load.receive(response)
            })
        for origin in origins { #expect(try await session.status(origin.description) == 500) }
        #expect(origins.map { breaker.phase(of: $0) != .closed } == [false, true])
    }

    @Test func twoSessionsHaveTwoBreakers() async throws {
        let server = try LoopbackServer { _ in .text("x", status: 500) }
        defer { server.stop() }
        let policy = CircuitBreakerState.Policy(minimumCalls: 1)
        let first = URLSession.with(CircuitBreaker(policy)), second = URLSession.with(CircuitBreaker(policy))
        #expect(try await first.status(server.url()) == 500)
        _ = try await error(CircuitOpenError.self) { try await first.status(server.url()) }
        #expect(try await second.status(server.url()) == 500)
    }
}

@Suite(.timeLimit(.minutes(5))) struct HedgingTests {
    private func slowFirst() throws -> LoopbackServer {
        let number = Box(0)
        return try LoopbackServer { request in
            let mine = number.update { number -> Int in
                number += 1
                return number
            }
            if mine == 1 { try request.exchange.waitUntilClientCloses() }
            return .text("answer \(mine)")
        }
    }

    @Test func theFirstGoodResponseWinsAndTheOtherIsCancelled() async throws {
        let server = try slowFirst()
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(Hedging(HedgePolicy(delay: .fixed(2)), clock: clock.clock))
        async let text = session.text(server.url())
        _ = await server.requests.count(reaches: 1)
        #expect(await clock.sleeps.element(at: 0) == 2)
        clock.advance(by: 2)
        #expect(try await text == "answer 2")
        _ = await server.endings.count(reaches: 1)
        #expect(server.requests.count == 2)
    }

    @Test func aPostIsNotHedged() async throws {
        let server = try LoopbackServer { _ in .text("a") }
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(Hedging(HedgePolicy(delay: .fixed(2)), clock: clock.clock))
        _ = try await session.data(for: server.request(method: "POST"))
        #expect(clock.sleeps.count == 0)
    }

    @Test func withoutABudgetThereIsNoFurtherAttempt() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text("a")
        }
        defer { server.stop() }
        let clock = ManualClock()
        let policy = HedgePolicy(delay: .fixed(2), budget: RetryBudget(ratio: 0, reserve: 0))
        let session = URLSession.with(Hedging(policy, clock: clock.clock))
        async let text = session.text(server.url())
        _ = await server.requests.count(reaches: 1)
        _ = await clock.sleeps.element(at: 0)
        clock.advance(by: 2)
        release.fire()
        #expect(try await text == "a")
        #expect(server.requests.count == 1)
    }

    @Test func cancellationEndsAllAttempts() async throws {
        let server = try LoopbackServer { request in
            try request.exchange.waitUntilClientCloses()
            return .text("late")
        }
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(Hedging(HedgePolicy(delay: .fixed(2)), clock: clock.clock))
        let task = Task { try await session.text(server.url()) }
        _ = await clock.sleeps.element(at: 0)
        clock.advance(by: 2)
        _ = await server.requests.count(reaches: 2)
        task.cancel()
        await #expect(throws: URLError.self) { try await task.value }
        _ = await server.endings.count(reaches: 2)
    }
}

@Suite(.timeLimit(.minutes(5))) struct ValidationTests {
    @Test func aStatusIsRefusedWithTheFirstBytes() async throws {
        let server = try LoopbackServer { _ in .text(String(repeating: "e", count: 100_000), status: 418) }
        defer { server.stop() }
        let session = URLSession.with(ResponseValidation())
        let failure = try await error(ResponseValidationError.self) { try await session.status(server.url()) }
        #expect((failure.response as? HTTPURLResponse)?.statusCode == 418)
        #expect(failure.bodyText == String(repeating: "e", count: 4_096))
        guard case .status(418) = failure.reason else { return #expect(Bool(false)) }
        let url = server.url().replacing("://", with: "://joe:secret@")
        let text = try await error(ResponseValidationError.self) { try await session.status(url) }.localizedDescription
        #expect(text.hasSuffix("answered with status 418") && !text.contains("secret"))
    }

    /// The error waits for the body for a limited time, and is not retried as the timeout of the load would be.
    @Test func aRefusedResponseThatDoesNotEnd() async throws {
        let server = try LoopbackServer { _ in
            var response = ServerResponse.stream(.length(100)) { writer in
                try writer.write("part")
                try writer.waitUntilClientCloses()
            }
            response.status = 404
            return response
        }
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(Retries(clock: clock.clock), ResponseValidation(clock: clock.clock))
        let task = Task { try await error(ResponseValidationError.self) { try await session.status(server.url()) } }
        #expect(await clock.sleeps.element(at: 0) == 2)
        clock.advance(by: 2)
        let failure = try await task.value
        guard case .status(404) = failure.reason else { return #expect(Bool(false)) }
        #expect("part".hasPrefix(failure.bodyText))
        _ = await server.endings.count(reaches: 1)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        (["text/plain"], true), (["text/*"], true), (["*/*"], true), (["TEXT/Plain; charset=x"], true),
        (["application/json"], false), ([], false),
    ])
    func mimeTypes(_ types: [String], _ isAccepted: Bool) async throws {
        let server = try LoopbackServer { _ in .text("a") }
        defer { server.stop() }
        let session = URLSession.with(ResponseValidation(mimeTypes: types))
        if isAccepted {
            #expect(try await session.text(server.url()) == "a")
        } else {
            _ = try await error(ResponseValidationError.self) { try await session.status(server.url()) }
        }
    }

    @Test func aRequestMayBeRefused() async throws {
        struct Refusal: Error {}
        let session = URLSession.with(RequestValidation { _ in throw Refusal() })
        _ = try await error(Refusal.self) { try await session.status("http://127.0.0.1:1/") }
    }

    @Test func theProgramsOwnCheck() async throws {
        struct Refusal: Error {}
        let server = try LoopbackServer { _ in .text("a") }
        defer { server.stop() }
        let session = URLSession.with(ResponseValidation(check: { _, _ in throw Refusal() }))
        let failure = try await error(ResponseValidationError.self) { try await session.status(server.url()) }
        guard case .custom(is Refusal) = failure.reason else { return #expect(Bool(false)) }
    }
}

@Suite(.timeLimit(.minutes(5))) struct BearerTokensTests {
    private struct Refusal: Error {}

    /// Accepts only one token.
    private func server(_ accepted: Box<String>) throws -> LoopbackServer {
        try LoopbackServer { request in
            let field = request.fields[name: "Authorization"] ?? "none"
            return .text(field, status: field == "Bearer \(accepted.value)" ? 200 : 401)
        }
    }

    @Test func aThousandRequestsShareOneRefresh() async throws {
        let server = try server(Box("new"))
        defer { server.stop() }
        let (refreshes, release) = (Box(0), Signal())
        let tokens = BearerTokens(origins: [try server.origin], token: BearerToken("old")) { _ in
            refreshes.update { $0 += 1 }
            await release.wait()
            return BearerToken("new")
        }
        let session = URLSession.with(tokens)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 { group.addTask { try await session.status(server.url()) } }
            try await waitUntil { tokens.waitingCount == 1_000 }
            release.fire()
            for try await status in group { #expect(status == 200) }
        }
        #expect(refreshes.value == 1)
    }

    @Test func aFailedRefreshFailsAllWhoWaitAndTheNextAsksAgain() async throws {
        let server = try server(Box("new"))
        defer { server.stop() }
        let (refreshes, release) = (Box(0), Signal())
        let tokens = BearerTokens(origins: [try server.origin]) { _ in
            let number = refreshes.update { count -> Int in
                count += 1
                return count
            }
            await release.wait()
            if number == 1 { throw Refusal() }
            return BearerToken("new")
        }
        let session = URLSession.with(tokens)
        let tasks = (0..<5).map { _ in Task { try await session.status(server.url()) } }
        try await waitUntil { tokens.waitingCount == 5 }
        release.fire()
        for task in tasks {
            let failure = try await error(BearerTokenError.self) { try await task.value }
            guard case .refreshFailed(is Refusal) = failure else { return #expect(Bool(false)) }
        }
        #expect(server.requests.count == 0)
        #expect(try await session.status(server.url()) == 200)
        #expect(refreshes.value == 2)
    }

    /// The refresh before the expiry fails, and so does the one that is needed.
    @Test(arguments: [false, true])
    func aTokenIsUsedUntilItExpiresOrIsRefused(isRefused: Bool) async throws {
        let accepted = Box("old")
        let server = try server(accepted)
        defer { server.stop() }
        let clock = ManualClock()
        let token = BearerToken("old", expiry: clock.clock.date() + 25)
        let tokens = BearerTokens(origins: [try server.origin], token: token, clock: clock.clock) { _ in
            throw Refusal()
        }
        let session = URLSession.with(tokens)
        #expect(try await session.text(server.url()) == "Bearer old")
        if isRefused { accepted.value = "new" } else { clock.advance(by: 26) }
        for _ in 0..<2 {
            let failure = try await error(BearerTokenError.self) { try await session.status(server.url()) }
            guard case .refreshFailed(is Refusal) = failure else { return #expect(Bool(false)) }
        }
        #expect(server.requests.count == (isRefused ? 2 : 1))
    }

    @Test func aCancelledWaiterDoesNotEndTheRefresh() async throws {
        let server = try server(Box("new"))
        defer { server.stop() }
        let release = Signal()
        let tokens = BearerTokens(origins: [try server.origin]) { _ in
            await release.wait()
            return BearerToken("new")
        }
        let session = URLSession.with(tokens)
        let cancelled = Task { try await session.status(server.url()) }
        let other = Task { try await session.status(server.url()) }
        try await waitUntil { tokens.waitingCount == 2 }
        cancelled.cancel()
        await #expect(throws: URLError.self) { try await cancelled.value }
        release.fire()
        #expect(try await other.value == 200)
    }

    @Test func aTokenGoesToNoOtherOriginAlsoAfterARedirect() async throws {
        let other = try LoopbackServer { .text($0.fields[name: "Authorization"] ?? "none") }
        defer { other.stop() }
        let target = other.url()
        let server = try LoopbackServer { $0.path == "/away" ? .redirect(to: target) : .redirect(to: "/away") }
        defer { server.stop() }
        let session = URLSession.with(
            BearerTokens(origins: [try server.origin], token: BearerToken("secret")) { _ in BearerToken("secret") })
        #expect(try await session.text(server.url("/")) == "none")
        #expect(
            server.requests.snapshot.map { $0.fields[name: "Authorization"] } == ["Bearer secret", "Bearer secret"])
        #expect(try await session.text(target) == "none")
    }

    @Test func twoUsersNeverShare() async throws {
        let server = try LoopbackServer { .text($0.fields[name: "Authorization"] ?? "none") }
        defer { server.stop() }
        let origin = try server.origin
        let user = { (name: String) in
            URLSession.with(BearerTokens(origins: [origin]) { _ in BearerToken(name) }, SingleFlight())
        }
        let (ann, bob) = (user("ann"), user("bob"))
        async let first = ann.text(server.url())
        async let second = bob.text(server.url())
        #expect(try await [first, second] == ["Bearer ann", "Bearer bob"])
    }

    @Test func aMalformedTokenIsNotSent() async throws {
        let server = try server(Box("x"))
        defer { server.stop() }
        let session = URLSession.with(BearerTokens(origins: [try server.origin]) { _ in BearerToken("a\r\nX: y") })
        let failure = try await error(BearerTokenError.self) { try await session.status(server.url()) }
        guard case .malformedToken = failure else { return #expect(Bool(false)) }
        #expect(server.requests.count == 0)
    }
}

@Suite(.timeLimit(.minutes(5))) struct SingleFlightTests {
    @Test func aThousandEqualRequestsShareOneLoad() async throws {
        let release = Signal()
        let body = [UInt8](repeating: 5, count: 300_000)
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .bytes(body)
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<1_000 { group.addTask { try await session.data(for: server.request()).0 } }
            try await waitUntil { flights.callerCount == 1_000 }
            release.fire()
            for try await data in group { #expect(data == Data(body)) }
        }
        #expect(server.requests.count == 1)
        try await waitUntil { flights.flightCount == 0 }
    }

    @Test func requestsThatDifferDoNotShare() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text(request.fields[name: "Authorization"] ?? "none")
        }
        defer { server.stop() }
        let flights = SingleFlight(ignoredFields: ["Authorization", "X-Request-ID"])
        let session = URLSession.with(flights)
        let fields = [
            ["Authorization": "a"], ["Authorization": "b", "X-Request-ID": "1"], ["authorization": "b"],
            // The same letter in two forms of Unicode.
            ["Authorization": "\u{E9}"], ["Authorization": "e\u{301}"],
        ]
        let tasks = try fields.map { fields in
            let request = try server.request(fields: fields)
            return Task { String(decoding: try await session.data(for: request).0, as: UTF8.self) }
        }
        try await waitUntil { flights.callerCount == 5 }
        #expect(flights.flightCount == 4)
        release.fire()
        var texts: [String] = []
        for task in tasks { texts.append(try await task.value) }
        #expect(texts == ["a", "b", "b", "\u{E9}", "\u{E9}"])
    }

    /// Each session has its own credentials, which the requests do not show.
    @Test func sessionsOfOneConfigurationDoNotShare() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text(request.fields[name: "Cookie"] ?? "none")
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = [flights]
        let sessions = try ["a=1", "a=2"].map { cookie in
            configuration.httpCookieStorage = URLSessionConfiguration.ephemeral.httpCookieStorage
            let url = try #require(URL(string: server.url()))
            let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": cookie], for: url)
            configuration.httpCookieStorage?.setCookies(cookies, for: url, mainDocumentURL: nil)
            return URLSession(configuration: configuration)
        }
        async let first = sessions[0].text(server.url())
        async let second = sessions[1].text(server.url())
        try await waitUntil { flights.callerCount == 2 }
        #expect(flights.flightCount == 2)
        release.fire()
        #expect(try await [first, second] == ["a=1", "a=2"])
    }

    @Test func requestsWithOtherRulesAreNotShared() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text("x")
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        let changes: [(inout URLRequest) -> Void] = [
            { _ in }, { $0.keepsContentCodings = true }, { $0.followsRedirects = false },
        ]
        let tasks = try changes.map { change in
            var request = try server.request()
            change(&request)
            return Task { [request] in try await session.data(for: request).0 }
        }
        try await waitUntil { flights.callerCount == 3 }
        #expect(flights.flightCount == 3)
        release.fire()
        for task in tasks { #expect(try await task.value == Data("x".utf8)) }
    }

    @Test func aCancelledLeaderIsReplacedBeforeTheResponse() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text("good")
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        let leader = Task { try await session.text(server.url()) }
        _ = await server.requests.count(reaches: 1)
        let others = (0..<3).map { _ in Task { try await session.text(server.url()) } }
        try await waitUntil { flights.callerCount == 4 }
        leader.cancel()
        await #expect(throws: URLError.self) { try await leader.value }
        _ = await server.requests.count(reaches: 2)
        release.fire()
        for other in others { #expect(try await other.value == "good") }
        #expect(server.requests.count == 2)
    }

    /// A timeout of the task or of a retry ends the leader's load while its task is running.
    @Test func aLeaderWhoseLoadIsGivenUpIsReplacedBeforeTheResponse() async throws {
        let (release, givesUp, end) = (Signal(), Signal(), Signal())
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .text("good")
        }
        defer { server.stop() }
        let flights = SingleFlight(ignoredFields: ["X-Leader"])
        let session = URLSession.with(
            ClosureInterceptor { load in
                guard load.request.value(forHTTPHeaderField: "X-Leader") != nil else {
                    return try await load.receive(load.next.load(load.request))
                }
                let attempt = Task { try await load.next.load(load.request) }
                await givesUp.wait()
                attempt.cancel()
                _ = try? await attempt.value
                await end.wait()
                throw URLError(.timedOut)
            }, flights)
        let request = try server.request(fields: ["X-Leader": "1"])
        let leader = Task { try await session.data(for: request).0 }
        _ = await server.requests.count(reaches: 1)
        let others = (0..<3).map { _ in Task { try await session.text(server.url()) } }
        try await waitUntil { flights.callerCount == 4 }
        givesUp.fire()
        _ = await server.requests.count(reaches: 2)
        release.fire()
        for other in others { #expect(try await other.value == "good") }
        #expect(server.requests.count == 2)
        end.fire()
        await #expect(throws: URLError.self) { try await leader.value }
    }

    @Test func theLoadGoesOnWhenTheLeaderIsCancelledInItsBody() async throws {
        let (start, release) = (Signal(), Signal())
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: start)
            return .stream(.length(8)) { writer in
                try writer.write("half")
                try writer.wait(for: release)
                try writer.write("half")
            }
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        let leads = Signal()
        let request = try server.request()
        let leader = Task {
            let (bytes, _) = try await session.bytes(for: request)
            var iterator = bytes.makeAsyncIterator()
            while try await iterator.next() != nil { leads.fire() }
        }
        _ = await server.requests.count(reaches: 1)
        let follower = Task { try await session.text(server.url()) }
        try await waitUntil { flights.callerCount == 2 }
        start.fire()
        await leads.wait()
        leader.cancel()
        _ = try? await leader.value
        try await waitUntil { flights.callerCount < 2 }
        release.fire()
        #expect(try await follower.value == "halfhalf")
        #expect(server.requests.count == 1)
    }

    /// The place of a session's decision about its servers.
    enum Decider: CaseIterable {
        case session, task, nobody

        /// A delegate that trusts the server of one port.
        func makeDelegate(_ port: Int?) -> any URLSessionDelegate {
            switch self {
            case .session: SessionPins(port)
            case .task: TaskPins(port)
            case .nobody: Bystander()
            }
        }
    }

    /// After the response's head the load needs another server, when its leader is gone.
    @Test(arguments: Decider.allCases)
    func aServerIsNotTrustedWithoutTheDelegateWhenTheLeaderIsGone(decider: Decider) async throws {
        let (start, more) = (Signal(), Signal())
        let authority = try CertificateAuthority()
        let options = LoopbackServer.Options(tls: TLSServerOptions(try authority.issue()))
        let server = try LoopbackServer(options) { request in
            try request.exchange.wait(for: start)
            return .stream { try $0.write("half") }
        }
        let other = try LoopbackServer(options) { _ in .text("more") }
        defer {
            server.stop()
            other.stop()
        }
        let (request, next) = (try server.request(), try other.request())
        let flights = SingleFlight()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tlsTrustRoots = .pem(authority.certificatePEM)
        configuration.interceptors = [
            flights,
            ClosureInterceptor { load in
                let first = try await load.next.load(load.request)
                try await load.receive(first.response)
                for try await piece in first.body { try await load.receive(piece) }
                await more.wait()
                for try await piece in try await load.next.load(next).body { try await load.receive(piece) }
            },
        ]
        let session = URLSession(
            configuration: configuration, delegate: decider.makeDelegate(request.url?.port), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let leads = Signal()
        let leader = Task {
            let (bytes, _) = try await session.bytes(for: request)
            var iterator = bytes.makeAsyncIterator()
            while try await iterator.next() != nil { leads.fire() }
        }
        _ = await server.requests.count(reaches: 1)
        let follower = Task { try await session.text(server.url()) }
        try await waitUntil { flights.callerCount == 2 }
        start.fire()
        await leads.wait()
        leader.cancel()
        _ = try? await leader.value
        try await waitUntil { flights.callerCount < 2 }
        more.fire()
        let text = try? await follower.value
        #expect(text == (decider == .nobody ? "halfmore" : nil))
        #expect(other.requests.count == (decider == .nobody ? 1 : 0))
    }

    @Test func theLastOneCancelsTheLoad() async throws {
        let server = try LoopbackServer { request in
            try request.exchange.waitUntilClientCloses()
            return .text("late")
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        let tasks = (0..<3).map { _ in Task { try await session.text(server.url()) } }
        try await waitUntil { flights.callerCount == 3 }
        _ = await server.requests.count(reaches: 1)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: URLError.self) { try await task.value } }
        try await waitUntil { flights.flightCount == 0 }
    }

    @Test func eachCallerFollowsARedirect() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            if request.path == "/new" { return .text("new") }
            try request.exchange.wait(for: release)
            return .redirect(to: "/new")
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        let tasks = (0..<5).map { _ in Task { try await session.text(server.url("/old")) } }
        try await waitUntil { flights.callerCount == 5 }
        release.fire()
        for task in tasks { #expect(try await task.value == "new") }
        try await waitUntil { flights.flightCount == 0 }
    }

    @Test func aFailureReachesAll() async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            try request.exchange.reset()
        }
        defer { server.stop() }
        let flights = SingleFlight()
        let session = URLSession.with(flights)
        let tasks = (0..<3).map { _ in Task { try await session.text(server.url()) } }
        try await waitUntil { flights.callerCount == 3 }
        release.fire()
        for task in tasks { await #expect(throws: URLError.self) { try await task.value } }
    }

    /// Where it reads in time, its clock's sleep is cancelled, which may use the flights.
    @Test(arguments: [false, true]) func aCallerThatDoesNotReadIsLetGoOf(readsInTime: Bool) async throws {
        let release = Signal()
        let server = try LoopbackServer { request in
            try request.exchange.wait(for: release)
            return .bytes([UInt8](repeating: 1, count: 8 << 20))
        }
        defer { server.stop() }
        let clock = ManualClock()
        let hold = Signal()
        let used = Box<SingleFlight?>(nil)
        defer { used.value = nil }
        let flights = SingleFlight(
            ignoredFields: ["X-Slow"], bufferLimit: 2 << 20, maximumStall: 5,
            clock: clock.running { _ = used.value?.callerCount })
        used.value = flights
        let session = URLSession.with(
            ClosureInterceptor { load in
                let loaded = try await load.next.load(load.request)
                if load.request.value(forHTTPHeaderField: "X-Slow") != nil { await hold.wait() }
                try await load.receive(loaded)
            }, flights)
        let slowRequest = try server.request(fields: ["X-Slow": "1"])
        let slow = Task { try await session.data(for: slowRequest).0 }
        let fast = Task { try await session.data(for: server.request()).0 }
        // The slow caller takes some of the body without being read: after that nobody may join.
        try await waitUntil { flights.callerCount == 2 }
        release.fire()
        #expect(await clock.sleeps.element(at: 0) == 5)
        if readsInTime {
            hold.fire()
            for task in [slow, fast] { #expect(try await task.value.count == 8 << 20) }
            return
        }
        clock.advance(by: 5)
        #expect(try await fast.value.count == 8 << 20)
        hold.fire()
        let failure = try await error(SingleFlightError.self) { try await slow.value }
        #expect(failure == .fellBehind)
    }
}

/// A delegate that decides nothing.
private final class Bystander: NSObject, URLSessionTaskDelegate {}

/// The session's delegate trusts the server of one port.
private final class SessionPins: NSObject, URLSessionDelegate {
    private let port: Int?

    init(_ port: Int?) { self.port = port }

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isTrusted = challenge.protectionSpace.port == port
        completionHandler(isTrusted ? .performDefaultHandling : .cancelAuthenticationChallenge, nil)
    }
}

/// As ``SessionPins``, with a method for tasks alone.
private final class TaskPins: NSObject, URLSessionTaskDelegate {
    private let port: Int?

    init(_ port: Int?) { self.port = port }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let isTrusted = challenge.protectionSpace.port == port
        completionHandler(isTrusted ? .performDefaultHandling : .cancelAuthenticationChallenge, nil)
    }
}
