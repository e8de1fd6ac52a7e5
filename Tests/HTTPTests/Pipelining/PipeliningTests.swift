import Foundation
import LoadingKit
import LoadingKitCore
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// Requests are sent ahead of the answers to others where that does no harm, and get their own answers (RFC 9112 §9.3.2).
@Suite struct PipeliningTests {
    /// Answers of every framing, with interim ones between; each to the request of its turn.
    private static let answers: [(method: String, answer: String, outcome: Outcome)] = [
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", .ok("a")),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", .ok("")),
        (
            "GET",
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nbb\r\n1\r\nb\r\n0\r\nT: 1\r\n\r\n", .ok("bbb")
        ),
        ("OPTIONS", "HTTP/1.1 204 No Content\r\n\r\n", .loaded(status: 204, body: "")),
        ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .ok("")),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", .loaded(status: 304, body: "")),
        (
            "GET", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nc",
            .loaded(status: 404, body: "c")
        ),
        (
            "TRACE", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + String(repeating: "d", count: 5000),
            .ok(String(repeating: "d", count: 5000))
        ),
    ]

    /// The server answers when it has all eight, in one piece or byte by byte.
    @Test(arguments: [false, true]) func eachGetsItsOwnAnswer(byteByByte: Bool) async throws {
        let answers = Self.answers.map(\.answer).joined()
        let peer = try ScriptedPeer(
            ScriptedPeer.Step.prove + [
                .expectRequests(8), byteByByte ? .sendByteByByte(answers) : .send(answers), .readUntilClose,
            ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            for (index, answer) in Self.answers.enumerated() {
                loads.start("/\(index)") { $0.httpMethod = answer.method }
            }
            let outcomes = await loads.outcomes(8)
            for (index, answer) in Self.answers.enumerated() { #expect(outcomes["/\(index)"] == answer.outcome) }
            #expect(loads.ended.snapshot.map(\.path) == (0..<8).map { "/\($0)" })
            let requests = peer.requests.snapshot.dropFirst()
            #expect(requests.map(\.target) == (0..<8).map { "/\($0)" })
            #expect(requests.map(\.method) == Self.answers.map(\.method))
            #expect(peer.connections.count == 1)
        }
    }

    /// Eight are unanswered at most; the rest follow as answers come.
    @Test func noMoreThanEightAreUnanswered() async throws {
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [
                .expectRequests(8), .respond("a", fields: ["Connection: close"]), .readUntilClose,
            ],
            [.forever([.expectRequest, .respond("b")])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            for index in 1...20 { loads.start("/\(index)") }
            let outcomes = await loads.outcomes(20)
            #expect(outcomes["/1"] == .ok("a"))
            #expect(outcomes.values.count { $0 == .ok("b") } == 19)
            await peer.endedCount(reaches: 1)
            #expect(peer.connections[0].receivedText.components(separatedBy: "GET /").count - 1 == 9)
            // Requests that were sent in vain go first.
            #expect(peer.requests.snapshot.dropFirst(9).map(\.target) == (2...20).map { "/\($0)" })
        }
    }

    /// The requests are shared by the connections, which are as many as they may be.
    @Test func everyConnectionHasItsShare() async throws {
        let (both, all) = (Signal(), Signal())
        let peer = try ScriptedPeer([
            .expectRequest, .waitFor(both), .respond("proof"), .expectRequests(3), .waitFor(all),
            .repeated(3, [.respond("a")]), .readUntilClose,
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer, connections: 2)
        try await withTimeout {
            await loads.proveTwo(both)
            for index in 1...6 { loads.start("/\(index)") }
            await peer.requestCount(reaches: 2 + 6)
            // A connection that has answered before the last load begins would be the better one for it.
            all.fire()
            let outcomes = await loads.outcomes(6)
            #expect(outcomes.values.allSatisfy { $0 == .ok("a") })
            #expect(peer.connections.count == 2)
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var session = true
        var firstSays = false
        var secondSays = false
        var proof = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproof"
        var first = "GET"
        /// Waits between the two.
        var between: String?
        var second = "GET"
        var isSentAhead: Bool

        var testDescription: String {
            "\(session) \(firstSays) \(secondSays) \(proof.prefix(8)) \(first) \(between ?? "") \(second)"
        }
    }

    private static let cases = [
        Case(isSentAhead: true), Case(session: false, isSentAhead: false),
        Case(session: false, firstSays: true, secondSays: true, isSentAhead: true),
        Case(session: false, secondSays: true, isSentAhead: false),
        Case(session: false, firstSays: true, isSentAhead: false),
        Case(first: "HEAD", second: "OPTIONS", isSentAhead: true), Case(second: "TRACE", isSentAhead: true),
        Case(first: "POST", isSentAhead: false), Case(first: "PUT", isSentAhead: false),
        Case(first: "DELETE", isSentAhead: false), Case(first: "QUERY", isSentAhead: false),
        Case(second: "POST", isSentAhead: false), Case(second: "PUT", isSentAhead: false),
        Case(second: "DELETE", isSentAhead: false), Case(second: "PATCH", isSentAhead: false),
        Case(between: "POST", isSentAhead: false), Case(between: "GET", isSentAhead: true),
        Case(
            proof: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nproof", isSentAhead: false),
    ]

    /// The requests on the first connection when the first answer ends it. Requests sent ahead are read before that answer.
    @Test(arguments: cases) func whatIsSentAhead(_ test: Case) async throws {
        let go = Signal()
        let ahead = test.isSentAhead ? (test.between == nil ? 1 : 2) : 0
        let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        let peer = try ScriptedPeer(scripts: [
            [
                .expectRequest, .send(test.proof), .expectRequests(1 + ahead), .waitFor(go), .send(empty),
                .readUntilClose,
            ],
            [.forever([.expectRequest, .respond()])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer, isOn: test.session)
        @Sendable func start(_ path: String, _ method: String, says: Bool = false) {
            loads.start(path) {
                $0.httpMethod = method
                if ["POST", "PUT", "PATCH"].contains(method) { $0.httpBody = Data("body".utf8) }
                $0.httpShouldUsePipelining = says
            }
        }
        try await withTimeout {
            await loads.prove()
            start("/first", test.first, says: test.firstSays)
            _ = await peer.receivedRequest(1)
            if let between = test.between { start("/between", between) }
            start("/second", test.second, says: test.secondSays)
            await peer.requestCount(reaches: 2 + ahead)
            await loads.settle()
            go.fire()
            let outcomes = await loads.outcomes(test.between == nil ? 2 : 3)
            #expect(outcomes.values.allSatisfy { $0 == .ok("") })
            await peer.endedCount(reaches: 1)
            #expect(peer.connections[0].receivedText.contains(" /second ") == test.isSentAhead)
        }
    }

    /// Nobody is sent behind an answer that has begun and does not say where it ends.
    @Test func nobodyWaitsBehindAnEndlessAnswer() async throws {
        let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n"
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [.expectRequest, .send(chunk), .readUntilClose],
            [.forever([.expectRequest, .respond("a")])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer, connections: 2)
        try await withTimeout {
            await loads.prove()
            let (bytes, _) = try await loads.session.bytes(for: peer.request("/endless"))
            for path in ["/1", "/2", "/3"] { loads.start(path) }
            #expect(await loads.outcomes(3).values.allSatisfy { $0 == .ok("a") })
            #expect(!peer.connections[0].receivedText.contains(" /1 "))
            bytes.task.cancel()
        }
    }

    /// A connection that has answered nothing yet has others wait.
    @Test func aNewConnectionIsNotTrusted() async throws {
        let go = Signal()
        let peer = try ScriptedPeer(scripts: [
            [.expectRequest, .waitFor(go), .respond("a", fields: ["Connection: close"]), .readUntilClose],
            [.forever([.expectRequest, .respond("a")])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            loads.start("/first")
            _ = await peer.receivedRequest(0)
            loads.start("/second")
            await loads.settle()
            go.fire()
            let outcomes = await loads.outcomes(2)
            #expect(outcomes.values.allSatisfy { $0 == .ok("a") })
            await peer.endedCount(reaches: 1)
            #expect(!peer.connections[0].receivedText.contains("/second"))
        }
    }

    /// Heads that are longer than what the connection takes at once.
    @Test func longHeadsAreSentAsThereIsRoom() async throws {
        let go = Signal()
        let long = String(repeating: "x", count: 400_000)
        let peer = try ScriptedPeer(
            ScriptedPeer.Step.prove + [
                .expectRequest, .waitFor(go), .expectRequests(3), .repeated(4, [.respond("a")]), .readUntilClose,
            ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            loads.start("/0")
            _ = await peer.receivedRequest(1)
            for index in 1...3 { loads.start("/\(index)") { $0.setValue(long, forHTTPHeaderField: "Long") } }
            await loads.settle()
            go.fire()
            let outcomes = await loads.outcomes(4)
            #expect(outcomes.values.allSatisfy { $0 == .ok("a") })
            #expect(peer.requests.snapshot.dropFirst(2).allSatisfy { $0[field: "Long"] == long })
            #expect(peer.connections.count == 1)
        }
    }

    /// An answer that comes before the next request is sent whole: that one goes out anew elsewhere.
    @Test func anAnswerMayComeBeforeTheNextRequestIsSent() async throws {
        let (go, isAnswered) = (Signal(), Signal())
        let long = String(repeating: "x", count: 10_000_000)
        let peer = try ScriptedPeer(scripts: [
            // The sockets hold less than the second request: the client gets the answer before it has sent that.
            ScriptedPeer.Step.prove + [
                .expectRequest, .waitFor(go), .respond("a"), .waitFor(isAnswered), .readUntilClose,
            ],
            [.expectAnything, .respond("b"), .readUntilClose],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            loads.start("/0")
            _ = await peer.receivedRequest(1)
            loads.start("/1") { $0.setValue(long, forHTTPHeaderField: "Long") }
            await loads.settle()
            go.fire()
            _ = await loads.outcomes(1)
            isAnswered.fire()
            #expect(await loads.outcomes(2) == ["/0": .ok("a"), "/1": .ok("b")])
        }
    }

    /// A response that nobody asked for ends the connection, as it does after a single request.
    @Test func anAnswerTooManyEndsTheConnection() async throws {
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n"
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [
                .expectRequests(2), .send(answer + "a" + answer + "b" + answer + "c"), .readUntilClose,
            ],
            [.expectRequest, .respond("d")],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            for path in ["/a", "/b"] { loads.start(path) }
            #expect(await loads.outcomes(2) == ["/a": .ok("a"), "/b": .ok("b")])
            #expect(await loads.session.outcome(peer.request("/d")) == .ok("d"))
            #expect(peer.requests.snapshot.map(\.connection) == [0, 0, 0, 1])
        }
    }

    private final class Metrics: NSObject, URLSessionTaskDelegate {
        let collected = Recorder<URLSessionTaskTransactionMetrics>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            for transaction in metrics.transactionMetrics { collected.append(transaction) }
        }
    }

    @Test func metricsTellWhenARequestWasSentAndAnswered() async throws {
        let peer = try ScriptedPeer(
            ScriptedPeer.Step.prove + [.expectRequests(3), .repeated(3, [.respond("a")]), .readUntilClose])
        defer { peer.stop() }
        let metrics = Metrics()
        let loads = PipelinedLoads(peer, on: PipelinedLoads.session(delegate: metrics))
        try await withTimeout {
            await loads.prove()
            for index in 1...3 { loads.start("/\(index)") }
            let all = await metrics.collected.count(reaches: 4).dropFirst()
            #expect(all.map(\.request.url?.path) == ["/1", "/2", "/3"])
            #expect(all.allSatisfy { $0.isReusedConnection && $0.countOfRequestHeaderBytesSent > 50 })
            // Times of different tasks are compared on the clock that they were taken from.
            let begun = try all.map { try #require($0.record.timings.responseStart) }
            for transaction in all {
                let times = [
                    transaction.fetchStartDate, transaction.requestStartDate, transaction.requestEndDate,
                    transaction.responseStartDate, transaction.responseEndDate,
                ].compactMap { $0 }
                #expect(times.count == 5 && times == times.sorted())
                // All were sent before the first answer.
                #expect(try #require(transaction.record.timings.requestEnd) <= begun[0])
            }
            #expect(begun == begun.sorted())
        }
    }
}
