import Foundation
import LoadingKitHTTP2
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore
@testable import LoadingKitHTTP

/// After a change of the networks an HTTP/2 connection carries no further request before the server has answered a PING.
@Suite struct NetworkChangeTests {
    private static func frames(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        write(&output)
        return output
    }

    private static let settings = frames { HTTP2FrameEncoder.settings([], to: &$0) }

    /// `:status: 200` is number 8 of HPACK's static table.
    private static func answer(_ stream: UInt32, _ body: String) -> [UInt8] {
        frames { output in
            [0x88].withUnsafeBytes {
                HTTP2FrameEncoder.headers(
                    UnsafeRawBufferPointer(rebasing: $0.prefix(1)), stream: HTTP2StreamID(rawValue: stream),
                    endStream: false, to: &output)
            }
            HTTP2FrameEncoder.dataHeader(
                length: body.utf8.count, stream: HTTP2StreamID(rawValue: stream), endStream: true, to: &output)
            output += Array(body.utf8)
        }
    }

    private static func ping(_ number: UInt64, isAcknowledgement: Bool = false) -> [UInt8] {
        frames {
            HTTP2FrameEncoder.ping(
                KeepAlivePing.checkPing | number, isAcknowledgement: isAcknowledgement, to: &$0)
        }
    }

    private static func session(on loop: EventLoop) -> URLSession {
        makeSession(on: loop) { $0.assumesCleartextHTTP2 = true }
    }

    private static func changeNetworks(of session: URLSession) async {
        await withCheckedContinuation { continuation in
            session.core.loop.execute {
                HTTPSession.of(session.core).networkDidChange()
                continuation.resume()
            }
        }
    }

    /// A request that may not be sent twice.
    private static func post(_ peer: ScriptedPeer) -> URLRequest {
        var request = peer.request(method: "POST")
        request.httpBody = Data("x".utf8)
        return request
    }

    @Test func anAnswerEndsTheCheck() async throws {
        let (pinged, isAnswered) = (Signal(), Signal())
        let peer = try ScriptedPeer([
            .expectAnything, .send(Self.settings + Self.answer(1, "a")), .expectThrough(Self.ping(2)), .fire(pinged),
            .waitFor(isAnswered), .send(Self.ping(1, isAcknowledgement: true)),
            .send(Self.ping(2, isAcknowledgement: true)), .expectAnything, .send(Self.answer(3, "b")), .hold,
        ])
        defer { peer.stop() }
        let loop = EventLoop.still()
        defer { loop.stop() }
        let session = Self.session(on: loop)
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("a"))
            await Self.changeNetworks(of: session)
            await Self.changeNetworks(of: session)
            await pinged.wait()
            async let second = session.outcome(Self.post(peer))
            try await waitUntil { await !session.allTasks.isEmpty }
            isAnswered.fire()
            #expect(await second == .ok("b"))
            #expect(peer.connections.count == 1)
        }
    }

    /// It was sent nothing meanwhile, so a request that may not be sent twice goes to another connection.
    @Test func withoutAnAnswerTheConnectionIsLeft() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectAnything, .send(Self.settings + Self.answer(1, "a")), .readUntilClose],
            [.expectAnything, .send(Self.settings + Self.answer(1, "b")), .hold],
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        let session = Self.session(on: loop)
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("a"))
            await Self.changeNetworks(of: session)
            async let second = session.outcome(Self.post(peer))
            try await waitUntil { await !session.allTasks.isEmpty }
            for _ in 0..<4 {
                time.advance(by: .seconds(3))
                _ = await session.allTasks
            }
            #expect(await second == .ok("b"))
        }
    }

    /// Resets the session as soon as no connection has a stream, before the pools know. Gives whether a pool is kept.
    private static func reset(
        _ session: URLSession, _ record: OriginRecord, turns: Int = 10_000, _ done: @escaping @Sendable (Bool?) -> Void
    ) {
        let http = HTTPSession.of(session.core)
        var snapshot = SessionSnapshot(listsStreams: false)
        http.addState(to: &snapshot)
        guard snapshot.connections.allSatisfy({ ($0.http2?.openStreams ?? 0) == 0 }) else {
            guard turns > 0 else { return done(nil) }
            return session.core.loop.executeLater { reset(session, record, turns: turns - 1, done) }
        }
        http.reset()
        session.core.loop.executeLater { done(record.isInUse) }
    }

    /// A connection takes no further request, and the end of its last stream has not been reported yet.
    @Test func aConnectionThatIsLeftAtTheEndOfItsLastStreamIsReleased() async throws {
        let peer = try ScriptedPeer([.expectAnything, .send(Self.settings), .hold])
        defer { peer.stop() }
        let loop = EventLoop.still()
        defer { loop.stop() }
        let session = Self.session(on: loop)
        try await withTimeout {
            let request = peer.request()
            let url = try #require(request.url)
            let task = session.dataTask(with: request)
            task.resume()
            try await waitUntil { await session.statistics.connections.openStreams == 1 }
            let isKept: Bool? = await withCheckedContinuation { continuation in
                loop.execute {
                    let record = try? HTTPSession.of(session.core).find(url).record
                    task.cancel()
                    guard let record else { return continuation.resume(returning: nil) }
                    Self.reset(session, record) { continuation.resume(returning: $0) }
                }
            }
            #expect(isKept == false)
        }
    }

    /// Nothing is wrong with connections whose route is the same.
    @Test(arguments: BothVersions.all) func connectionsOnTheSameRouteStay(version: String) async throws {
        try await BothVersions.withServer(version, { .text("\($0.connection)") }) { session, server in
            let request = try BothVersions.request(server, "/")
            for _ in 0..<3 {
                #expect(await session.outcome(request) == .ok("0"))
                await Self.changeNetworks(of: session)
            }
        }
    }
}
