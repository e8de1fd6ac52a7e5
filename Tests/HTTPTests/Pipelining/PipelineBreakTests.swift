import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

/// When a connection ends with requests unanswered, they are sent again on others.
@Suite struct PipelineBreakTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        /// The server's behaviour after four requests.
        let steps: [ScriptedPeer.Step]
        /// The results of the first requests, which are not sent again.
        let outcomes: [Outcome]
        /// A reset may come before what was sent before it is read.
        var mayHaveBeenRead = false

        var testDescription: String { name }
    }

    private static let cases = [
        Case(name: "closes unanswered", steps: [.close], outcomes: []),
        Case(name: "resets unanswered", steps: [.reset], outcomes: []),
        Case(name: "closes after one", steps: [.respond("a"), .close], outcomes: [.ok("a")]),
        Case(
            name: "resets after three", steps: [.repeated(3, [.respond("a")]), .reset], outcomes: [],
            mayHaveBeenRead: true),
        Case(
            name: "closes after three", steps: [.repeated(3, [.respond("a")]), .close],
            outcomes: [.ok("a"), .ok("a"), .ok("a")]),
        Case(
            name: "closes in the second", steps: [.respond("a"), .send("HTTP/1.1 200 OK\r\nContent-Le"), .close],
            outcomes: [.ok("a"), .failed(.networkConnectionLost)]),
        Case(
            name: "answers garbage", steps: [.respond("a"), .send("garbage\r\n\r\n"), .readUntilClose],
            outcomes: [.ok("a"), .failed(.cannotParseResponse)]),
        Case(
            name: "says close in the first",
            steps: [.respond("a", fields: ["Connection: close"]), .readUntilClose], outcomes: [.ok("a")]),
        Case(
            name: "says close in the third, and goes on",
            steps: [
                .repeated(2, [.respond("a")]), .respond("a", fields: ["Connection: close"]), .respond("never"),
                .readUntilClose,
            ], outcomes: [.ok("a"), .ok("a"), .ok("a")]),
        Case(
            name: "answers by HTTP/1.0",
            steps: [.send("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"), .readUntilClose],
            outcomes: [.ok("a")]),
        Case(
            name: "answers until it closes", steps: [.send("HTTP/1.1 200 OK\r\n\r\nall of it"), .close],
            outcomes: [.ok("all of it")]),
        Case(
            name: "switches", steps: [.send("HTTP/1.1 101 Switching Protocols\r\n\r\n"), .readUntilClose],
            outcomes: [.failed(.badServerResponse)]),
    ]

    @Test(arguments: cases) func whatIsNotAnsweredIsSentAgain(_ test: Case) async throws {
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [.expectRequests(4)] + test.steps,
            [.forever([.expectRequest, .respond("again")])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            for index in 0..<4 { loads.start("/\(index)") }
            let outcomes = await loads.outcomes(4)
            for index in 0..<4 {
                let outcome = try #require(outcomes["/\(index)"])
                if index < test.outcomes.count {
                    #expect(outcome == test.outcomes[index])
                } else {
                    #expect(outcome == .ok("again") || (test.mayHaveBeenRead && outcome == .ok("a")))
                }
            }
            let again = peer.requests.snapshot.filter { $0.connection > 0 }.map(\.target)
            #expect(again == again.sorted())
            #expect(Set(again).count == again.count)
        }
    }

    /// A server that has ended a connection unannounced is not pipelined to any more; one that has said so before is.
    @Test(arguments: [false, true]) func whetherTheServerIsTrustedAgain(isAnnounced: Bool) async throws {
        let go = Signal()
        let answer = ScriptedPeer.Step.respond("a", fields: isAnnounced ? ["Connection: close"] : [])
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [.expectRequests(2), answer, .close],
            // The one that was sent in vain, and two more.
            [
                .expectRequest, .respond("again"), .expectRequest, .waitFor(go),
                .respond("b", fields: ["Connection: close"]), .readUntilClose,
            ],
            [.forever([.expectRequest, .respond("c")])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            await loads.prove()
            for index in 1...2 { loads.start("/\(index)") }
            #expect(await loads.outcomes(2) == ["/1": .ok("a"), "/2": .ok("again")])
            loads.start("/3")
            _ = await peer.receivedRequest(4)
            loads.start("/4")
            await loads.settle()
            go.fire()
            let outcomes = await loads.outcomes(4)
            #expect(outcomes["/3"] == .ok("b") && outcomes["/4"] == .ok("c"))
            await peer.endedCount(reaches: 2)
            #expect(peer.connections[1].receivedText.contains("/4") == isAnnounced)
        }
    }

    /// Other connections, which are well, take what one has lost.
    @Test func anotherConnectionTakesOver() async throws {
        let (both, all) = (Signal(), Signal())
        let proof: [ScriptedPeer.Step] = [.expectRequest, .waitFor(both), .respond("proof")]
        let peer = try ScriptedPeer(scripts: [
            proof + [.expectRequests(3), .waitFor(all), .respond("a"), .close],
            proof + [
                .expectRequests(3), .waitFor(all), .repeated(3, [.respond("a")]),
                .forever([.expectRequest, .respond("a")]),
            ],
            [.forever([.expectRequest, .respond("a")])],
        ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer, connections: 2)
        try await withTimeout {
            await loads.proveTwo(both)
            for index in 1...6 { loads.start("/\(index)") }
            await peer.requestCount(reaches: 8)
            all.fire()
            let outcomes = await loads.outcomes(6)
            #expect(outcomes.values.allSatisfy { $0 == .ok("a") })
        }
    }
}
