import Foundation
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// Tasks that are cancelled, suspended or late while others share their connection.
@Suite struct PipelineCancellationTests {
    /// The answer that nobody wants is read, and the others get theirs.
    @Test(arguments: [["/1"], ["/2"], ["/3"], ["/1", "/2"], ["/2", "/3"], ["/1", "/3"]])
    func othersGetTheirAnswers(cancelled: [String]) async throws {
        let go = Signal()
        let peer = try ScriptedPeer(
            ScriptedPeer.Step.prove + [
                .expectRequests(4), .waitFor(go), .respond("1"), .respond("2"), .respond("3"), .respond("4"),
                .readUntilClose,
            ])
        defer { peer.stop() }
        let (loads, loop) = Self.loads(peer, ManualTime())
        defer { loop.stop() }
        try await withTimeout {
            let tasks = await loads.startAhead(4)
            for path in cancelled { tasks[(Int(path.dropFirst()) ?? 1) - 1].cancel() }
            _ = await loads.outcomes(cancelled.count)
            go.fire()
            let outcomes = await loads.outcomes(4)
            for number in 1...4 {
                let isCancelled = cancelled.contains("/\(number)")
                #expect(outcomes["/\(number)"] == (isCancelled ? .failed(.cancelled) : .ok("\(number)")))
            }
            #expect(peer.connections.count == 1)
        }
    }

    /// An answer that is too long to be read for nothing costs the connection.
    @Test func aLongAnswerThatNobodyWantsEndsTheConnection() async throws {
        let go = Signal()
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [
                .expectRequests(3), .waitFor(go), .send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nx"),
                .readUntilClose,
            ],
            [.forever([.expectRequest, .respond("again")])],
        ])
        defer { peer.stop() }
        let (loads, loop) = Self.loads(peer, ManualTime())
        defer { loop.stop() }
        try await withTimeout {
            let tasks = await loads.startAhead(3)
            tasks[0].cancel()
            _ = await loads.outcomes(1)
            go.fire()
            #expect(
                await loads.outcomes(3) == ["/1": .failed(.cancelled), "/2": .ok("again"), "/3": .ok("again")])
        }
    }

    @Test func whenAllAreCancelledTheConnectionIsClosed() async throws {
        let peer = try ScriptedPeer(ScriptedPeer.Step.prove + [.expectRequests(4), .readUntilClose])
        defer { peer.stop() }
        let (loads, loop) = Self.loads(peer, ManualTime())
        defer { loop.stop() }
        try await withTimeout {
            let tasks = await loads.startAhead(4)
            for task in tasks { task.cancel() }
            let outcomes = await loads.outcomes(4)
            #expect(outcomes.values.allSatisfy { $0 == .failed(.cancelled) })
            await peer.endedCount(reaches: 1)
        }
    }

    /// Those behind a suspended task wait for it.
    @Test func aSuspendedTaskHoldsBackThoseBehind() async throws {
        let go = Signal()
        let long = String(repeating: "x", count: 300_000)
        let peer = try ScriptedPeer(
            ScriptedPeer.Step.prove + [
                .expectRequests(3), .waitFor(go), .respond(long), .respond("2"), .respond("3"), .readUntilClose,
            ])
        defer { peer.stop() }
        let loads = PipelinedLoads(peer)
        try await withTimeout {
            let tasks = await loads.startAhead(3)
            tasks[0].suspend()
            tasks[1].suspend()
            await loads.settle()
            go.fire()
            await loads.settle()
            #expect(loads.ended.count == 0)
            tasks[1].resume()
            tasks[0].resume()
            #expect(await loads.outcomes(3) == ["/1": .ok(long), "/2": .ok("2"), "/3": .ok("3")])
            #expect(peer.connections.count == 1)
        }
    }

    /// The received part of its answer and of the others' is kept for them.
    @Test func aSuspendedTaskIsCancelled() async throws {
        let go = Signal()
        let peer = try ScriptedPeer(
            ScriptedPeer.Step.prove + [
                .expectRequests(3), .waitFor(go), .respond(String(repeating: "x", count: 9000)), .respond("2"),
                .respond("3"), .readUntilClose,
            ])
        defer { peer.stop() }
        let (loads, loop) = Self.loads(peer, ManualTime())
        defer { loop.stop() }
        try await withTimeout {
            let tasks = await loads.startAhead(3)
            tasks[0].suspend()
            await loads.settle()
            go.fire()
            for _ in 0..<10 { await loads.settle() }
            tasks[0].cancel()
            #expect(await loads.outcomes(3) == ["/1": .failed(.cancelled), "/2": .ok("2"), "/3": .ok("3")])
            #expect(peer.connections.count == 1)
        }
    }

    // MARK: Time, which the test moves

    private final class Interim: NSObject, URLSessionTaskDelegate {
        let received = Signal()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
        ) {
            received.fire()
        }
    }

    private static func loads(
        _ peer: ScriptedPeer, _ time: ManualTime, delegate: (any URLSessionDelegate)? = nil
    ) -> (PipelinedLoads, EventLoop) {
        let loop = EventLoop(name: "test", time: .manual(time))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        configuration.httpMaximumConnectionsPerHost = 1
        configuration.httpShouldUsePipelining = true
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil, loop: loop)
        return (PipelinedLoads(peer, on: session), loop)
    }

    /// The time of a request that was sent ahead runs when it is its turn.
    @Test func timeRunsFromARequestsTurn() async throws {
        let (go, answer) = (Signal(), Signal())
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [
                .expectRequests(2), .waitFor(go), .send("HTTP/1.1 102 Processing\r\n\r\n"), .waitFor(answer),
                .respond("1"), .readUntilClose,
            ]
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let interim = Interim()
        let (loads, loop) = Self.loads(peer, time, delegate: interim)
        defer { loop.stop() }
        try await withTimeout {
            await loads.prove()
            loads.start("/1")
            loads.start("/2")
            await peer.requestCount(reaches: 3)
            await loads.settle()
            time.advance(by: .seconds(8))
            await loads.settle()
            go.fire()
            await interim.received.wait()
            time.advance(by: .seconds(8))
            await loads.settle()
            answer.fire()
            _ = await loads.outcomes(1)
            time.advance(by: .seconds(8))
            await loads.settle()
            #expect(loads.ended.snapshot.map(\.path) == ["/1"])
            time.advance(by: .seconds(3))
            #expect(await loads.outcomes(2) == ["/1": .ok("1"), "/2": .failed(.timedOut)])
        }
    }

    /// A server that is silent when the first has been cancelled: the others go elsewhere, and one at a time from then on.
    @Test func aSilentServerIsLeft() async throws {
        let peer = try ScriptedPeer(scripts: [
            ScriptedPeer.Step.prove + [.expectRequests(3), .readUntilClose],
            [.forever([.expectRequest, .respond("again")])],
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let (loads, loop) = Self.loads(peer, time)
        defer { loop.stop() }
        try await withTimeout {
            let tasks = await loads.startAhead(3)
            tasks[0].cancel()
            _ = await loads.outcomes(1)
            await loads.settle()
            time.advance(by: .seconds(3))
            #expect(
                await loads.outcomes(3) == ["/1": .failed(.cancelled), "/2": .ok("again"), "/3": .ok("again")])
        }
    }
}
