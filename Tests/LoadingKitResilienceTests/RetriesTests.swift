import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitResilience
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct RetriesTests {
    private func failing(_ times: Int, status: Int = 503, retryAfter: String? = nil) throws -> LoopbackServer {
        let left = Box(times)
        return try LoopbackServer { _ in
            let fails = left.update { left -> Bool in
                left -= 1
                return left >= 0
            }
            guard fails else { return .text("good") }
            let response = ServerResponse.text("bad", status: status)
            return retryAfter.map { response.adding("Retry-After", $0) } ?? response
        }
    }

    private func retries(_ clock: ManualClock, _ change: (inout RetryPolicy) -> Void = { _ in }) -> Retries {
        var policy = RetryPolicy()
        change(&policy)
        return Retries(policy, clock: clock.clock, random: { 1 })
    }

    @Test(arguments: [0, 1, 2])
    func aServerThatFailsForATimeIsAskedAgain(_ times: Int) async throws {
        let server = try failing(times)
        defer { server.stop() }
        let clock = ManualClock(passesAtOnce: true)
        let session = URLSession.with(retries(clock))
        #expect(try await session.text(server.url()) == "good")
        #expect(server.requests.count == times + 1)
        #expect(clock.sleeps.snapshot == Array([0.2, 0.4].prefix(times)))
    }

    @Test func theLastResponseIsDelivered() async throws {
        let server = try failing(9)
        defer { server.stop() }
        let session = URLSession.with(retries(ManualClock(passesAtOnce: true)))
        let (data, response) = try await session.data(from: try #require(URL(string: server.url())))
        #expect((response as? HTTPURLResponse)?.statusCode == 503)
        #expect(String(decoding: data, as: UTF8.self) == "bad")
        #expect(server.requests.count == 3)
    }

    @Test func postIsSentAgainOnlyWithAnIdempotencyKey() async throws {
        let server = try failing(3)
        defer { server.stop() }
        let session = URLSession.with(retries(ManualClock(passesAtOnce: true)))
        var post = try server.request(method: "POST")
        post.httpBody = Data("body".utf8)
        let (_, first) = try await session.data(for: post)
        #expect((first as? HTTPURLResponse)?.statusCode == 503)
        #expect(server.requests.count == 1)
        post.setValue("7", forHTTPHeaderField: "Idempotency-Key")
        let (_, second) = try await session.data(for: post)
        #expect((second as? HTTPURLResponse)?.statusCode == 200)
        #expect(server.requests.snapshot.map(\.bodyText) == ["body", "body", "body", "body"])
    }

    @Test func retryAfterIsWaitedFor() async throws {
        let server = try failing(1, status: 429, retryAfter: "7")
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(retries(clock))
        async let text = session.text(server.url())
        #expect(await clock.sleeps.element(at: 0) == 7.2)
        clock.advance(by: 7.1)
        #expect(server.requests.count == 1)
        clock.advance(by: 0.2)
        #expect(try await text == "good")
    }

    @Test func cancellationEndsTheWait() async throws {
        let server = try failing(9)
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(retries(clock))
        let task = Task { try await session.text(server.url()) }
        _ = await clock.sleeps.element(at: 0)
        task.cancel()
        await #expect(throws: URLError.self) { try await task.value }
        try await waitUntil { clock.sleeping == 0 }
        #expect(server.requests.count == 1)
    }

    @Test func connectionsThatBreakBeforeTheHeadAreRetried() async throws {
        let left = Box(2)
        let server = try LoopbackServer { request in
            if left.update({ left in
                left -= 1
                return left >= 0
            }) {
                try request.exchange.reset()
            }
            return .text("good")
        }
        defer { server.stop() }
        let session = URLSession.with(retries(ManualClock(passesAtOnce: true)) { $0.maximumAttempts = 5 })
        var request = try server.request(method: "PUT")
        request.httpBody = Data("x".utf8)
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "good")
    }

    @Test func aBodyThatBreaksOffIsNotRetried() async throws {
        let server = try LoopbackServer { _ in
            .stream(.length(10)) { writer in
                try writer.write("half")
                try writer.request.exchange.reset()
            }
        }
        defer { server.stop() }
        let session = URLSession.with(retries(ManualClock(passesAtOnce: true)))
        let failure = try await error(URLError.self) { try await session.text(server.url()) }
        #expect(failure.code == .networkConnectionLost)
        #expect(server.requests.count == 1)
    }

    @Test func aBodyWhoseFirstBytesDoNotComeIsRetriedWhereAskedFor() async throws {
        let left = Box(1)
        let server = try LoopbackServer { _ in
            let fails = left.update { left -> Bool in
                left -= 1
                return left >= 0
            }
            return .stream(.length(4)) { writer in
                if fails { try writer.request.exchange.reset() }
                try writer.write("good")
            }
        }
        defer { server.stop() }
        let session = URLSession.with(retries(ManualClock(passesAtOnce: true)) { $0.waitsForFirstBytes = true })
        #expect(try await session.text(server.url()) == "good")
        #expect(server.requests.count == 2)
    }

    @Test func anAttemptThatTakesTooLongIsCancelledAndRetried() async throws {
        let number = Box(0)
        let server = try LoopbackServer { request in
            if number.update({ number -> Bool in
                number += 1
                return number == 1
            }) {
                try request.exchange.waitUntilClientCloses()
            }
            return .text("good")
        }
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(retries(clock) { $0.attemptTimeout = 3 })
        async let text = session.text(server.url())
        _ = await server.requests.count(reaches: 1)
        #expect(await clock.sleeps.element(at: 0) == 3)
        clock.advance(by: 3)
        #expect(await clock.sleeps.element(at: 1) == 0.2)
        clock.advance(by: 0.2)
        #expect(try await text == "good")
    }

    @Test func theTotalTimeEndsAllAttempts() async throws {
        let server = try LoopbackServer { request in
            try request.exchange.waitUntilClientCloses()
            return .text("late")
        }
        defer { server.stop() }
        let clock = ManualClock()
        let session = URLSession.with(retries(clock) { $0.totalTimeout = 5 })
        let task = Task { try await session.text(server.url()) }
        #expect(await clock.sleeps.element(at: 0) == 5)
        _ = await server.requests.count(reaches: 1)
        clock.advance(by: 5)
        let failure = try await error(URLError.self) { try await task.value }
        #expect(failure.code == .timedOut && failure.localizedDescription.contains("totalTimeout"))
        #expect(failure.failingURL?.absoluteString == server.url())
        #expect(failure.userInfo["NSErrorFailingURLStringKey"] as? String == server.url())
    }

    @Test func theBudgetOfOneSessionIsNotThatOfAnother() async throws {
        let server = try failing(.max)
        defer { server.stop() }
        let clock = ManualClock(passesAtOnce: true)
        let budget = RetryBudget(ratio: 0, reserve: 2, perSecond: 0)
        let first = URLSession.with(retries(clock) { $0.budget = budget })
        let second = URLSession.with(retries(clock) { $0.budget = budget })
        for _ in 0..<3 { #expect(try await first.status(server.url()) == 503) }
        #expect(server.requests.count == 5)
        #expect(try await second.status(server.url()) == 503)
        #expect(server.requests.count == 8)
    }

    @Test func aStreamIsMadeAnewForEachAttempt() async throws {
        let server = try failing(2)
        defer { server.stop() }
        let session = URLSession.with(
            retries(ManualClock(passesAtOnce: true)) {
                $0.makeBodyStream = { _ in InputStream(data: Data("anew".utf8)) }
            })
        var request = try server.request(method: "PUT")
        request.httpBodyStream = InputStream(data: Data("once".utf8))
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "good")
        #expect(server.requests.snapshot.map(\.bodyText) == ["once", "anew", "anew"])
    }

    @Test func aFileIsSentAgain() async throws {
        let server = try failing(1)
        defer { server.stop() }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("of a file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let session = URLSession.with(retries(ManualClock(passesAtOnce: true)))
        let (data, _) = try await session.upload(for: try server.request(method: "PUT"), fromFile: file)
        #expect(String(decoding: data, as: UTF8.self) == "good")
        #expect(server.requests.snapshot.map(\.bodyText) == ["of a file", "of a file"])
    }

    @Test func redirectsPassThroughTheStackAnew() async throws {
        let server = try LoopbackServer { request in
            request.path == "/old" ? .redirect(to: "/new") : .text("new")
        }
        defer { server.stop() }
        let seen = Recorder<String>()
        let session = URLSession.with(
            ClosureInterceptor { load in
                seen.append(load.url.path)
                try await load.receive(load.next.load(load.request))
            }, retries(ManualClock(passesAtOnce: true)))
        #expect(try await session.text(server.url("/old")) == "new")
        #expect(seen.snapshot == ["/old", "/new"])
    }

    @Test func aThousandRequestsAtOnce() async throws {
        let seen = Box([String: Int]())
        let server = try LoopbackServer { request in
            let number = seen.update { seen -> Int in
                seen[request.target, default: 0] += 1
                return seen[request.target] ?? 0
            }
            return number == 1 ? .text("bad", status: 503) : .text(request.target)
        }
        defer { server.stop() }
        let session = URLSession.with(
            Forwarder(), retries(ManualClock(passesAtOnce: true)) { $0.budget = nil }, Forwarder())
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<1_000 { group.addTask { try await session.text(server.url("/\(number)")) } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts.count == 1_000)
        #expect(server.requests.count == 2_000)
    }
}
