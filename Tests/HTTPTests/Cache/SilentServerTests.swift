import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// Stale responses that are allowed where the server fails also answer where it is silent (RFC 5861).
@Suite struct SilentServerTests {
    /// A server that is silent from its second request on, until it is released, and a session that has stored its
    /// first response.
    private struct Site {
        let peer: ScriptedPeer
        let time = ManualTime()
        let session: URLSession
        private let clock: TestWallClock
        private let loop: EventLoop

        init(allowsStale: Bool = true, _ configure: (URLSessionConfiguration) -> Void = { _ in }) throws {
            let control = "Cache-Control: max-age=10" + (allowsStale ? ", stale-if-error=100" : "")
            let answer = ScriptedPeer.Step.respond("stored", fields: [control, "ETag: \"a\""])
            peer = try ScriptedPeer([
                .expectRequest, answer, .expectRequest, .hold, .respond("late"), .expectRequest,
                .send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"),
            ])
            let (clock, loop) = (TestWallClock(), EventLoop(name: "silent", time: .manual(time)))
            (self.clock, self.loop) = (clock, loop)
            session = makeSession(on: loop) {
                $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
                $0.settings.wallClock = clock.wallClock
                configure($0)
            }
        }

        func stop() {
            session.invalidateAndCancel()
            loop.stop()
            peer.stop()
        }

        /// Its timeout is 10 seconds.
        var request: URLRequest {
            var request = peer.request()
            request.timeoutInterval = 10
            return request
        }

        /// Stores the response, which is stale from then on.
        func store() async {
            #expect(await session.outcome(request) == .ok("stored"))
            clock.advance(by: 15)
        }

        /// The outcome of a load that validates the stored response. The server is silent for so many seconds.
        func outcome(silentFor seconds: Int) async -> Outcome {
            await store()
            async let outcome = session.outcome(request)
            await peer.requestCount(reaches: 2)
            time.advance(by: .seconds(seconds))
            return await outcome
        }

        /// Loads the resource, which has been stored.
        @discardableResult
        func load(_ outcomes: Recorder<Outcome>) -> URLSessionTask {
            let task = session.dataTask(with: request) { data, _, error in
                let code = (error as? URLError)?.code
                outcomes.append(code.map { .failed($0) } ?? .ok(String(decoding: data ?? Data(), as: UTF8.self)))
            }
            task.resume()
            return task
        }

        /// Returns when the loop has done what it was given before, such as the start of a task.
        func turn() async {
            let turned = Signal()
            loop.execute { turned.fire() }
            await turned.wait()
        }
    }

    @Test(arguments: [true, false]) func theServerIsSilent(allowsStale: Bool) async throws {
        let site = try Site(allowsStale: allowsStale)
        defer { site.stop() }
        try await withTimeout {
            #expect(await site.outcome(silentFor: 11) == (allowsStale ? .ok("stored") : .failed(.timedOut)))
        }
    }

    private struct Passing: LoadInterceptor {
        func load(_ load: LoadContext) async throws {
            try await load.receive(load.next.load(load.request))
        }
    }

    @Test(arguments: [1, 2]) func theServerIsSilentToInterceptors(_ count: Int) async throws {
        let site = try Site { $0.interceptors = Array(repeating: Passing(), count: count) }
        defer { site.stop() }
        try await withTimeout {
            #expect(await site.outcome(silentFor: 11) == .ok("stored"))
        }
    }

    /// The time for the whole load is the program's limit, no failure of the server.
    @Test func theTimeForTheLoadEndsIt() async throws {
        let site = try Site { $0.timeoutIntervalForResource = 5 }
        defer { site.stop() }
        try await withTimeout {
            #expect(await site.outcome(silentFor: 6) == .failed(.timedOut))
        }
    }

    /// A task that waits for another task's validation has a timeout of its own.
    @Test(arguments: [true, false]) func theServerIsSilentToAnotherTask(allowsStale: Bool) async throws {
        let site = try Site(allowsStale: allowsStale)
        defer { site.stop() }
        try await withTimeout {
            await site.store()
            // Its timeout is the session's, which is longer.
            site.session.dataTask(with: site.peer.request()).resume()
            await site.peer.requestCount(reaches: 2)
            let outcomes = Recorder<Outcome>()
            site.load(outcomes)
            await site.turn()
            site.time.advance(by: .seconds(11))
            #expect(await outcomes.count(reaches: 1) == [allowsStale ? .ok("stored") : .failed(.timedOut)])
        }
    }

    /// While a request waits for a connection no timeout runs, also not that of a task that waits for its validation. Where
    /// the program cancels the task that would validate, another one does.
    @Test(arguments: [1, 3], [false, true])
    func theValidationWaitsForAConnection(_ waitingCount: Int, isCancelled: Bool) async throws {
        let site = try Site(allowsStale: false) { $0.httpMaximumConnectionsPerHost = 1 }
        defer { site.stop() }
        try await withTimeout {
            await site.store()
            site.session.dataTask(with: site.peer.request("/held")).resume()
            await site.peer.requestCount(reaches: 2)
            let (validated, waited) = (Recorder<Outcome>(), Recorder<Outcome>())
            let validating = site.load(validated)
            await site.turn()
            for _ in 0..<waitingCount {
                site.load(waited)
                await site.turn()
            }
            if isCancelled {
                validating.cancel()
                #expect(await validated.count(reaches: 1) == [.failed(.cancelled)])
            }
            site.time.advance(by: .seconds(11))
            await site.turn()
            site.peer.release()
            #expect(
                await waited.count(reaches: waitingCount) == Array(repeating: .ok("stored"), count: waitingCount))
            if !isCancelled { #expect(await validated.count(reaches: 1) == [.ok("stored")]) }
            #expect(site.peer.requests.count == 3)
        }
    }
}
