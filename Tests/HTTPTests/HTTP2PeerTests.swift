import Foundation
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// HTTP/2 servers that misbehave, scripted frame by frame, in cleartext: each gives an error of the right code or is asked
/// again, and the session's next task is unharmed.
@Suite struct HTTP2PeerTests {
    private static func frames(_ write: (inout [UInt8]) -> Void) -> [UInt8] {
        var output: [UInt8] = []
        write(&output)
        return output
    }

    private static let settings = frames { HTTP2FrameEncoder.settings([], to: &$0) }

    private static func headers(_ stream: UInt32, _ block: [UInt8], endStream: Bool) -> [UInt8] {
        frames { output in
            block.withUnsafeBytes {
                HTTP2FrameEncoder.headers(
                    $0, stream: HTTP2StreamID(rawValue: stream), endStream: endStream, to: &output)
            }
        }
    }

    /// `:status: 200` is number 8 of HPACK's static table.
    private static func answer(_ stream: UInt32, _ body: String, _ block: [UInt8] = [0x88]) -> [UInt8] {
        headers(stream, block, endStream: false)
            + frames {
                HTTP2FrameEncoder.dataHeader(
                    length: body.utf8.count, stream: HTTP2StreamID(rawValue: stream), endStream: true, to: &$0)
                $0 += Array(body.utf8)
            }
    }

    private static func reset(_ stream: UInt32, _ code: HTTP2ErrorCode) -> [UInt8] {
        frames { HTTP2FrameEncoder.resetStream(HTTP2StreamID(rawValue: stream), code, to: &$0) }
    }

    private static func goAway(_ last: UInt32, _ code: HTTP2ErrorCode = .noError) -> [UInt8] {
        frames { HTTP2FrameEncoder.goAway(lastStream: HTTP2StreamID(rawValue: last), code, to: &$0) }
    }

    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The server's bytes after it has read something.
        var answer: [UInt8]
        var outcome: Outcome
        var ending = ScriptedPeer.Step.close
    }

    private static let head = headers(1, [0x88], endStream: false)
    /// With `content-length: 5`, whose name is number 28 of HPACK's static table.
    private static let fiveBytes: [UInt8] = [0x88, 0x0F, 0x0D, 0x01, 0x35]
    private static let lost = Outcome.failed(.networkConnectionLost)
    private static let malformed = Outcome.failed(.cannotParseResponse)

    private static let cases = [
        Case(testDescription: "an answer", answer: settings + answer(1, "a"), outcome: .ok("a")),
        Case(testDescription: "an end", answer: [], outcome: lost),
        Case(testDescription: "an end after SETTINGS", answer: settings, outcome: lost),
        Case(testDescription: "a reset connection", answer: settings + head, outcome: lost, ending: .reset),
        Case(testDescription: "an end in the body", answer: settings + head, outcome: lost),
        Case(testDescription: "HTTP/1.1", answer: Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), outcome: malformed),
        Case(testDescription: "no SETTINGS", answer: answer(1, "a"), outcome: malformed),
        Case(testDescription: "a reset stream", answer: settings + reset(1, .internalError), outcome: lost),
        Case(
            testDescription: "a block that is no HPACK",
            answer: settings
                + headers(1, [0xFE], endStream: true),
            outcome: malformed),
        Case(
            testDescription: "a response without a status",
            answer: settings + headers(1, [], endStream: true),
            outcome: malformed),
        Case(
            testDescription: "a body of its length", answer: settings + answer(1, "abcde", fiveBytes),
            outcome: .ok("abcde")),
        Case(
            testDescription: "a body that is too short", answer: settings + answer(1, "abc", fiveBytes),
            outcome: lost),
        Case(
            testDescription: "no body of five bytes", answer: settings + headers(1, fiveBytes, endStream: true),
            outcome: lost),
        Case(
            testDescription: "a body that is too long", answer: settings + answer(1, "abcdef", fiveBytes),
            outcome: malformed),
        Case(
            testDescription: "a flood of PINGs",
            answer: settings + (0..<2000).flatMap { _ in frames { HTTP2FrameEncoder.ping(1, to: &$0) } },
            outcome: malformed, ending: .readUntilClose),
        Case(
            testDescription: "a window too large",
            answer: settings + frames { HTTP2FrameEncoder.windowUpdate(0, increment: 0x7FFF_FFFF, to: &$0) },
            outcome: malformed, ending: .readUntilClose),
    ]

    private func session(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        makeSession {
            $0.assumesCleartextHTTP2 = true
            configure($0)
        }
    }

    @Test(arguments: cases) private func theTaskEndsInTheRightWayAndTheNextSucceeds(_ test: Case) async throws {
        let good: [ScriptedPeer.Step] = [.expectAnything, .send(Self.settings + Self.answer(1, "unharmed")), .hold]
        let peer = try ScriptedPeer(scripts: [[.expectAnything, .send(test.answer), test.ending], good])
        defer { peer.stop() }
        let session = session()
        try await withTimeout(test.testDescription) {
            #expect(await session.outcome(peer.request()) == test.outcome)
            // The end of the first connection may be on its way still.
            await peer.endedCount(reaches: 1)
            #expect(await session.outcome(peer.request()) == .ok("unharmed"))
        }
    }

    /// A request that the server reports as not processed is sent again on another connection, whatever its method.
    @Test(arguments: [reset(1, .refusedStream) + goAway(1), goAway(0)])
    private func whatWasNotLookedAtIsSentAgain(refusal: [UInt8]) async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectAnything, .send(Self.settings + refusal), .readUntilClose],
            [.expectAnything, .send(Self.settings + Self.answer(1, "again")), .hold],
        ])
        defer { peer.stop() }
        try await withTimeout {
            var request = peer.request(method: "POST")
            request.httpBody = Data("x".utf8)
            let session = session()
            #expect(await session.outcome(request) == .ok("again"))
        }
    }

    /// The server refuses one stream, or the whole connection.
    @Test(arguments: [reset(1, .http11Required), goAway(0, .http11Required)])
    private func aServerThatRequiresHTTP1IsAskedOverHTTP1(refusal: [UInt8]) async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"])
        let peer = try ScriptedPeer(
            scripts: [
                [.expectAnything, .send(Self.settings + refusal), .readUntilClose],
                [.expectRequest, .respond("one"), .expectRequest, .respond("two")],
            ], tls: tls)
        defer { peer.stop() }
        try await withTimeout {
            let session = makeSession { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
            defer { session.invalidateAndCancel() }
            var request = URLRequest(url: try #require(URL(string: peer.url(host: "localhost"))))
            request.httpMethod = "POST"
            request.httpBody = Data("x".utf8)
            for answer in ["one", "two"] { #expect(await session.outcome(request) == .ok(answer)) }
        }
    }

    /// A server that refuses each connection is asked five times, with growing pauses; one that takes the fifth is asked again.
    @Test(arguments: [4, 5])
    private func whoRefusesEachConnectionIsAskedAFewTimes(refusals: Int) async throws {
        let refusing: [ScriptedPeer.Step] = [
            .expectAnything, .send(Self.settings + Self.goAway(0)), .readUntilClose,
        ]
        let answering: [ScriptedPeer.Step] = [
            .expectAnything, .send(Self.settings + Self.answer(1, "a")), .hold,
        ]
        let peer = try ScriptedPeer(scripts: Array(repeating: refusing, count: refusals) + [answering])
        defer { peer.stop() }
        try await withTimeout {
            let session = session()
            #expect(await session.outcome(peer.request()) == (refusals == 4 ? .ok("a") : Self.lost))
            #expect(peer.connections.count == 5)
        }
    }

    /// A server that has begun to act on a POST is not asked again.
    @Test func whatMayHaveBeenDoneIsNotSentAgain() async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectAnything, .send(Self.settings + Self.goAway(1)), .close],
            [.expectAnything, .send(Self.settings + Self.answer(1, "again")), .hold],
        ])
        defer { peer.stop() }
        try await withTimeout {
            var request = peer.request(method: "POST")
            request.httpBody = Data("x".utf8)
            let session = session()
            #expect(await session.outcome(request) == Self.lost)
            #expect(peer.connections.count == 1)
        }
    }

    /// A POST on a connection that has served before is sent again if the server may have closed it as idle: not if the server
    /// has sent anything since.
    @Test(arguments: [false, true])
    func aPOSTIsNotSentAgainToAServerThatWasAwake(wasAwake: Bool) async throws {
        let update = Self.frames { HTTP2FrameEncoder.windowUpdate(0, increment: 1000, to: &$0) }
        let peer = try ScriptedPeer(scripts: [
            [
                .expectAnything, .send(Self.settings + Self.answer(1, "a")), .expectThrough(Array("posted".utf8)),
                .send(wasAwake ? update : []), .close,
            ],
            [.expectAnything, .send(Self.settings + Self.answer(1, "again")), .hold],
        ])
        defer { peer.stop() }
        try await withTimeout {
            let session = session()
            #expect(await session.outcome(peer.request()) == .ok("a"))
            var request = peer.request(method: "POST")
            request.httpBody = Data("posted".utf8)
            #expect(await session.outcome(request) == (wasAwake ? Self.lost : .ok("again")))
        }
    }

    /// Nor is one that has begun to answer, whatever it says of the stream afterwards: the body would begin twice.
    @Test(arguments: [reset(1, .refusedStream), reset(1, .http11Required), goAway(0)])
    private func whatIsBeingAnsweredIsNotSentAgain(refusal: [UInt8]) async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectAnything, .send(Self.settings + Self.head + refusal), .readUntilClose],
            [.expectAnything, .send(Self.settings + Self.answer(1, "again")), .hold],
        ])
        defer { peer.stop() }
        try await withTimeout {
            let session = session()
            #expect(await session.outcome(peer.request()) == Self.lost)
            #expect(peer.connections.count == 1)
        }
    }

    /// Frames of the connection, and those of a stream that the client has reset, count for no task.
    @Test func aTaskCountsTheBytesOfItsOwnFrames() async throws {
        let others = Self.frames { output in
            HTTP2FrameEncoder.ping(1, to: &output)
            HTTP2FrameEncoder.priority(HTTP2Priority(dependency: 0), stream: 1, to: &output)
            // Of an unknown type.
            output += [0, 0, 1, 0xEE, 0, 0, 0, 0, 0, 7]
        }
        let late = Self.frames { output in
            HTTP2FrameEncoder.dataHeader(length: 16_384, stream: 1, endStream: false, to: &output)
            output += [UInt8](repeating: 1, count: 16_384)
        }
        let peer = try ScriptedPeer([
            .expectAnything, .send(Self.settings + others + Self.head),
            .expectThrough(Array("second".utf8)), .send(others + late + Self.answer(3, "hi")), .hold,
        ])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder) { $0.assumesCleartextHTTP2 = true }
            let first = session.dataTask(with: peer.request())
            first.resume()
            _ = await recorder.events.contents { $0.contains("response") }
            first.cancel()
            _ = await recorder.all()
            var request = peer.request(method: "POST")
            request.httpBody = Data("second".utf8)
            session.dataTask(with: request).resume()
            for (number, body) in [(0, 0), (1, 9 + 2)] {
                let metrics = try #require(await recorder.metrics.element(at: number))
                let transaction = try #require(metrics.transactionMetrics.first)
                #expect(transaction.countOfResponseHeaderBytesReceived == 9 + 1)
                #expect(transaction.countOfResponseBodyBytesReceived == Int64(body))
            }
        }
    }

    /// The DATA frames that a server sends in a response to HEAD are dropped, and are the task's all the same.
    @Test func aTaskCountsTheBytesOfAWrongBody() async throws {
        let body = Self.frames { output in
            for isLast in [false, false, true] {
                HTTP2FrameEncoder.dataHeader(length: 3, stream: 1, endStream: isLast, to: &output)
                output += [1, 2, 3]
            }
        }
        let peer = try ScriptedPeer([.expectAnything, .send(Self.settings + Self.head + body), .hold])
        defer { peer.stop() }
        try await withTimeout {
            let recorder = TransferRecorder()
            let session = makeSession(delegate: recorder) { $0.assumesCleartextHTTP2 = true }
            session.dataTask(with: peer.request(method: "HEAD")).resume()
            let metrics = try #require(await recorder.metrics.element(at: 0))
            let transaction = try #require(metrics.transactionMetrics.first)
            #expect(transaction.countOfResponseHeaderBytesReceived == 9 + 1)
            #expect(transaction.countOfResponseBodyBytesReceived == 3 * (9 + 3))
            #expect(transaction.countOfResponseBodyBytesAfterDecoding == 0)
        }
    }

    /// A body that the windows have room for is sent without a word from the server in between: if the connection slept,
    /// the server's silence would end it. (Its first bytes come before the answer to SETTINGS.)
    @Test func aLongBodyIsSentInOneGo() async throws {
        let windows = Self.frames {
            HTTP2FrameEncoder.settings([HTTP2Setting(.initialWindowSize, 16 << 20)], to: &$0)
            HTTP2FrameEncoder.windowUpdate(0, increment: 16 << 20, to: &$0)
        }
        let peer = try ScriptedPeer([
            .expectAnything, .send(windows), .expectBytes(2_900_000), .send(Self.answer(1, "all")), .hold,
        ])
        defer { peer.stop() }
        try await withTimeout {
            var request = peer.request(method: "POST")
            request.httpBody = Data(count: 3_000_000)
            let session = session()
            #expect(await session.outcome(request) == .ok("all"))
        }
    }

    /// A connection that is lost while a body waits for the server's window is held by nobody, and neither is its session.
    @Test func whatIsLostAmidABodyIsLetGo() async throws {
        let peer = try ScriptedPeer([.expectAnything, .send(Self.settings), .expectBytes(65_000), .close])
        defer { peer.stop() }
        let watch = Watch()
        try await withTimeout {
            await loseAmidABody(peer, watch)
            try await watch.allGone()
        }
    }

    private func loseAmidABody(_ peer: ScriptedPeer, _ watch: Watch) async {
        let watched = watch.object("the session's settings")
        let session = session { $0.register(scheme: "watched") { _ in withExtendedLifetime(watched) {} } }
        var request = peer.request(method: "POST")
        request.httpBody = Data(count: 3_000_000)
        #expect(await session.outcome(request) == Self.lost)
    }

    /// A PING is answered while all that the server sends is held back, because nobody reads it.
    @Test func aPINGIsAnsweredThoughNobodyReads() async throws {
        let answered = Signal()
        let body = [UInt8](repeating: 1, count: 16_384)
        let frame = Self.frames { output in
            body.withUnsafeBytes { HTTP2FrameEncoder.data($0, stream: 1, endStream: false, to: &output) }
        }
        let peer = try ConnectionAcceptor(.ipv4()) { socket, _ in
            var bytes = Self.settings + Self.frames { HTTP2FrameEncoder.settingsAcknowledgement(to: &$0) } + Self.head
            for _ in 0..<200 { bytes += frame }
            let ping = Self.frames { HTTP2FrameEncoder.ping(7, to: &$0) }
            let pong = Self.frames { HTTP2FrameEncoder.ping(7, isAcknowledgement: true, to: &$0) }
            try? socket.write(bytes + ping)
            var received: [UInt8] = []
            while let more = try? socket.read(), !more.isEmpty {
                received += more
                if received.firstRange(of: pong) != nil { answered.fire() }
            }
        }
        defer { peer.stop() }
        try await withTimeout {
            let session = session()
            let url = try peer.url
            let (bytes, _) = try await session.bytes(from: url)
            await answered.wait()
            #expect(bytes.task.countOfBytesReceived < 200 * 16_384)
            var iterator = bytes.makeAsyncIterator()
            // The bytes that were held back are still there. Reading all of them singly would take longer than the connection waits
            // for a word of a server that answers no PING itself.
            for _ in 0..<100_000 {
                let byte = try await iterator.next()
                guard byte == 1 else { throw POSIXError(.EBADMSG) }
            }
            bytes.task.cancel()
        }
    }

    /// Who is silent may have acted: a POST is not sent again. The peer's system acknowledges the PING, so that half a
    /// minute passes.
    @Test(arguments: [("GET", Outcome.ok("b")), ("POST", lost)])
    private func aConnectionThatDiesInSilenceIsFound(method: String, outcome: Outcome) async throws {
        let peer = try ScriptedPeer(scripts: [
            [.expectAnything, .send(Self.settings + Self.answer(1, "a")), .readUntilClose],
            [.expectAnything, .send(Self.settings + Self.answer(1, "b")), .hold],
        ])
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        loop.acknowledgeAtOnce()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.assumesCleartextHTTP2 = true
        let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
        try await withTimeout {
            #expect(await session.outcome(peer.request()) == .ok("a"))
            // Quiet for a while: the next request takes a PING along, and nothing answers either.
            time.advance(by: .seconds(6))
            _ = await session.allTasks
            async let second = session.outcome(peer.request(method: method))
            try await waitUntil { await !session.allTasks.isEmpty }
            for _ in 0..<16 {
                time.advance(by: .seconds(3))
                _ = await session.allTasks
            }
            #expect(await second == outcome)
        }
    }
}
