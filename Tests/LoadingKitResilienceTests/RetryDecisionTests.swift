import Foundation
import LoadingKit
import Testing

@testable import LoadingKitResilience

@Suite struct RetryDecisionTests {
    private func request(_ method: String, key: Bool = false, stream: Bool = false) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://example.org/")))
        request.httpMethod = method
        if key { request.setValue("1", forHTTPHeaderField: "Idempotency-Key") }
        if stream { request.httpBodyStream = InputStream(data: Data([1])) }
        return request
    }

    private func decide(
        _ policy: RetryPolicy, _ outcome: AttemptOutcome, _ request: URLRequest, number: Int = 1,
        elapsed: TimeInterval = 0
    ) -> RetryDecision {
        policy.decision(
            after: outcome, of: request, number: number, elapsed: elapsed, now: Date(timeIntervalSince1970: 0),
            random: 1)
    }

    private func decide(_ outcome: AttemptOutcome, _ request: URLRequest) -> RetryDecision {
        decide(RetryPolicy(), outcome, request)
    }

    @Test(arguments: [
        ("GET", false, true), ("HEAD", false, true), ("OPTIONS", false, true), ("TRACE", false, true),
        ("PUT", false, true), ("DELETE", false, true), ("POST", false, false), ("PATCH", false, false),
        ("POST", true, true), ("PATCH", true, true), ("get", false, true), ("put", false, true),
        ("options", false, false),
    ])
    func methods(_ method: String, _ key: Bool, _ retries: Bool) throws {
        let expected: RetryDecision = retries ? .retry(after: 0.2) : .deliver(.notRepeatable)
        #expect(decide(.status(503), try request(method, key: key)) == expected)
    }

    @Test func theProgramMaySayThatAPostMayBeRepeated() throws {
        var policy = RetryPolicy()
        policy.mayRepeat = { $0.url?.path == "/" }
        #expect(decide(policy, .status(500), try request("POST")) == .retry(after: 0.2))
        policy.mayRepeat = nil
        policy.retriesWithIdempotencyKey = false
        #expect(decide(policy, .status(500), try request("POST", key: true)) == .deliver(.notRepeatable))
    }

    @Test(arguments: 100...599)
    func statuses(_ status: Int) throws {
        let isRetriable = [408, 425, 429, 500, 502, 503, 504].contains(status)
        #expect(
            decide(.status(status), try request("GET"))
                == (isRetriable ? .retry(after: 0.2) : .deliver(.noRetriableFailure)))
    }

    @Test(arguments: [
        (URLError.Code.timedOut, true), (.networkConnectionLost, true), (.cannotConnectToHost, true),
        (.cannotFindHost, true), (.dnsLookupFailed, true), (.notConnectedToInternet, true), (.badServerResponse, true),
        (.cancelled, false), (.badURL, false), (.unsupportedURL, false), (.serverCertificateUntrusted, false),
        (.serverCertificateHasBadDate, false), (.userAuthenticationRequired, false),
        (.dataLengthExceedsMaximum, false), (.httpTooManyRedirects, false),
        (.appTransportSecurityRequiresSecureConnection, false),
        (.userCancelledAuthentication, false), (.requestBodyStreamExhausted, false),
    ])
    func errors(_ code: URLError.Code, _ retries: Bool) throws {
        #expect(
            decide(.failure(code), try request("GET"))
                == (retries ? .retry(after: 0.2) : .deliver(.noRetriableFailure)))
    }

    @Test func otherErrorsAreDelivered() throws {
        #expect(decide(.otherFailure, try request("GET")) == .deliver(.noRetriableFailure))
    }

    @Test func aStreamIsSentAgainOnlyWhereItIsMadeAnew() throws {
        var policy = RetryPolicy()
        #expect(decide(policy, .status(500), try request("PUT", stream: true)) == .deliver(.bodyCannotBeSentAgain))
        policy.makeBodyStream = { _ in InputStream(data: Data()) }
        #expect(decide(policy, .status(500), try request("PUT", stream: true)) == .retry(after: 0.2))
    }

    @Test func attemptsAreCounted() throws {
        var policy = RetryPolicy()
        policy.maximumAttempts = 3
        #expect(decide(policy, .status(500), try request("GET"), number: 2) == .retry(after: 0.4))
        #expect(decide(policy, .status(500), try request("GET"), number: 3) == .deliver(.noAttemptLeft))
        policy.maximumAttempts = 0
        #expect(decide(policy, .status(500), try request("GET"), number: 1) == .deliver(.noAttemptLeft))
    }

    @Test func aWaitThatEndsAfterTheTotalTimeIsNotBegun() throws {
        var policy = RetryPolicy()
        policy.totalTimeout = 5
        #expect(decide(policy, .status(500), try request("GET"), elapsed: 4.7) == .retry(after: 0.2))
        #expect(decide(policy, .status(500), try request("GET"), elapsed: 4.9) == .deliver(.noTimeLeft))
    }

    @Test func retryAfterIsTheLeastWaitAndHasACap() throws {
        var policy = RetryPolicy()
        let get = try request("GET")
        #expect(decide(policy, .status(429, retryAfter: .seconds(7)), get) == .retry(after: 7.2))
        #expect(decide(policy, .status(503, retryAfter: .seconds(31)), get) == .deliver(.retryAfterIsTooLong))
        #expect(
            decide(policy, .status(503, retryAfter: .date(Date(timeIntervalSince1970: 9))), get) == .retry(after: 9.2))
        #expect(
            decide(policy, .status(503, retryAfter: .date(Date(timeIntervalSince1970: -9))), get) == .retry(after: 0.2))
        policy.beyondMaximumRetryAfter = .waitsForMaximum
        #expect(decide(policy, .status(503, retryAfter: .seconds(.infinity)), get) == .retry(after: 30))
        policy.heedsRetryAfter = false
        #expect(decide(policy, .status(503, retryAfter: .seconds(7)), get) == .retry(after: 0.2))
    }

    @Test(arguments: [
        (1, 1.0, 0.2), (2, 1.0, 0.4), (3, 0.5, 0.4), (8, 1.0, 20.0), (1_000_000, 1.0, 20.0), (5, 0.0, 0.0),
        (Int.max, 1.0, 20.0), (0, 1.0, 0.2), (1, .nan, 0.0),
    ])
    func backoff(_ retry: Int, _ random: Double, _ delay: TimeInterval) {
        #expect(abs(Backoff().delay(beforeRetry: retry, random: random) - delay) < 1e-9)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 1e308])
    func backoffOfStrangeNumbersIsANumber(_ number: Double) {
        let delay = Backoff(base: number, factor: number, cap: number).delay(beforeRetry: 5, random: number)
        #expect(delay >= 0 && delay <= 1e9)
    }

    @Test func theBudgetIsAPartOfTheRequestsAndAReserve() {
        var budget = RetryBudget(ratio: 0.2, reserve: 2, perSecond: 0, maximum: 3)
        #expect([budget.withdraw(at: 0), budget.withdraw(at: 0), budget.withdraw(at: 0)] == [true, true, false])
        for _ in 0..<5 { budget.deposit() }
        #expect([budget.withdraw(at: 0), budget.withdraw(at: 0)] == [true, false])
        for _ in 0..<1_000 { budget.deposit() }
        #expect(abs(budget.tokens - 3) < 1e-9)
        var refilled = RetryBudget(ratio: 0, reserve: 2, perSecond: 0.5)
        #expect([refilled.withdraw(at: 0), refilled.withdraw(at: 0), refilled.withdraw(at: 1)] == [true, true, false])
        #expect([refilled.withdraw(at: 3), refilled.withdraw(at: -100)] == [true, false])
    }
}

@Suite struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    @Test(arguments: [
        ("0", 0.0), ("120", 120), (" 5\t", 5), ("007", 7), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sunday, 06-Nov-94 08:49:47 GMT", 10), ("Sun Nov  6 08:49:47 1994", 10), ("Sun Nov 16 08:49:37 1994", 864_000),
        ("sun, 06 nov 1994 08:49:47 gmt", 10), ("Sun, 06 Nov 1994 08:49:27 GMT", 0),
        ("Thu, 29 Feb 1996 00:00:00 GMT", 41_440_223), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
    ])
    func forms(_ text: String, _ delay: TimeInterval) {
        #expect(RetryAfter(text, now: now)?.delay(from: now) == delay)
    }

    @Test(arguments: [
        "", " ", "-1", "+1", "1.5", "1e3", "0x10", "ten", "１２", "1 2", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, 5", "Sun, 06 Nov 1994 08:49:37 PST",
    ])
    func others(_ text: String) { #expect(RetryAfter(text, now: now) == nil) }

    @Test func aNumberOfAnyLengthIsOne() {
        #expect(RetryAfter(String(repeating: "9", count: 1_000), now: now)?.delay(from: now) == .infinity)
    }

    @Test func everyBeginningOfADateIsNone() {
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            #expect(RetryAfter(date, now: now)?.delay(from: now) == 0)
            for length in 0..<date.count { #expect(RetryAfter(String(date.prefix(length)), now: now) == nil) }
        }
    }

    @Test func aTwoDigitYearIsAtMostFiftyYearsAhead() {
        let ahead = RetryAfter("Sunday, 06-Nov-44 08:49:37 GMT", now: now)
        #expect(ahead?.delay(from: now) ?? 0 > 49 * 365 * 86_400)
        #expect(RetryAfter("Sunday, 06-Nov-45 08:49:37 GMT", now: now)?.delay(from: now) == 0)
    }
}
