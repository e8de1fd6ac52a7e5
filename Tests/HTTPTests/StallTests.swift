import Foundation
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// The events that restart a timeout, and the awaited event that its error names. On a clock that the tests move.
@Suite struct StallTests {
    private static func session(
        _ time: ManualTime, _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> (URLSession, EventLoop) {
        let loop = EventLoop(name: "test", time: .manual(time))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        configuration.connectionProxyDictionary = [:]
        configure(configuration)
        return (URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop), loop)
    }

    /// Asks another server twice: what had arrived before, on other connections of the loop, has been read by then.
    private static func readAll(on loop: EventLoop, _ other: LoopbackServer) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
        defer { session.invalidateAndCancel() }
        for _ in 0..<2 {
            let url = try #require(URL(string: other.url("/")))
            #expect(await session.outcome(URLRequest(url: url)) == .ok("other"))
        }
    }

    private static func head(_ fields: String) -> ScriptedPeer.Step {
        .send("HTTP/1.1 200 OK\r\nContent-Encoding: \(fields)\r\n\r\n")
    }

    #if Zstd
        /// A block of zstd is decoded when it is there as a whole: until then nothing comes out, while the server sends.
        @Test func aBlockThatComesSlowlyIsASignOfLife() async throws {
            // Digits that nothing can be left out of: one block of about 50,000 bytes.
            var generator = SeededGenerator(seed: 7)
            let content = (0..<100_000).map { _ in UInt8.random(in: 48...63, using: &generator) }
            let coded = ZstdEncoder.compress(content)
            let pieces = 5
            let (sent, go) = ((0..<pieces).map { _ in Signal() }, (0..<pieces).map { _ in Signal() })
            var steps: [ScriptedPeer.Step] = [.expectRequest, Self.head("zstd")]
            for index in 0..<pieces {
                let piece = coded[coded.count * index / pieces..<coded.count * (index + 1) / pieces]
                steps += [.send(Array(piece)), .fire(sent[index]), .waitFor(go[index])]
            }
            let peer = try ScriptedPeer(steps + [.close])
            let other = try LoopbackServer { _ in ServerResponse(200, body: .bytes(Array("other".utf8))) }
            defer {
                peer.stop()
                other.stop()
            }
            let time = ManualTime()
            let (session, loop) = Self.session(time)
            defer { loop.stop() }
            try await withTimeout {
                async let body = session.data(for: peer.request()).0
                for index in 0..<pieces {
                    await sent[index].wait()
                    try await Self.readAll(on: loop, other)
                    time.advance(by: .seconds(8))
                    _ = await session.allTasks
                    go[index].fire()
                }
                #expect(try await body == Data(content))
            }
        }
    #endif

    /// Bytes that decode to nothing, without an end, do not restart it.
    @Test func whatDecodesToNothingIsNone() async throws {
        // Blocks of deflate without a byte, stored.
        let nothing = (0..<60_000).flatMap { _ in [0, 0, 0, 0xff, 0xff] as [UInt8] }
        let sent = Signal()
        let peer = try ScriptedPeer([
            .expectRequest, Self.head("deflate"), .send([0x78, 0x9c]), .send(nothing), .fire(sent), .hold,
        ])
        let other = try LoopbackServer { _ in ServerResponse(200, body: .bytes(Array("other".utf8))) }
        defer {
            peer.stop()
            other.stop()
        }
        let time = ManualTime()
        let (session, loop) = Self.session(time)
        defer { loop.stop() }
        try await withTimeout {
            async let text = Self.failure(session, peer.request())
            await sent.wait()
            try await Self.readAll(on: loop, other)
            time.advance(by: .seconds(11))
            let words = await text
            #expect(
                words.contains(
                    "nothing came of the response's body that decodes to anything (300002 bytes have come) for 10.0 seconds"
                ),
                "\(words)")
        }
    }

    private static func failure(_ session: URLSession, _ request: URLRequest) async -> String {
        do {
            _ = try await session.data(for: request)
            return "loaded"
        } catch {
            return "\((error as? URLError)?.code.rawValue ?? 0) \(error.localizedDescription)"
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let steps: [ScriptedPeer.Step]
        let words: String
        var isHTTP2 = false
        var proxy: Bool = false
    }

    private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

    static let cases = [
        Case(testDescription: "silence", steps: [.expectRequest], words: "no response came for 10.0 seconds"),
        Case(
            testDescription: "a part of a head", steps: [.expectRequest, .send("HTTP/1.1 200 OK\r\nA: b\r\nC")],
            words: "the response's head did not come to its end (24 bytes have come) for 10.0 seconds"),
        Case(
            testDescription: "a part of a body",
            steps: [.expectRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na")],
            words: "nothing came of the response's body for 10.0 seconds"),
        Case(
            testDescription: "silence over HTTP/2", steps: [.expectAnything, .send(settings)],
            words: "no response came for 10.0 seconds", isHTTP2: true),
        // HEADERS without END_HEADERS, and a part of what continues it.
        Case(
            testDescription: "a part of a head over HTTP/2",
            steps: [
                .expectAnything,
                .send(settings + [0, 0, 1, 1, 0, 0, 0, 0, 1, 0x88] + [0, 0, 9, 9, 0, 0, 0, 0, 1, 0x40]),
            ],
            words: "the response's head did not come to its end (20 bytes have come) for 10.0 seconds", isHTTP2: true),
        Case(
            testDescription: "a part of a SOCKS proxy's answer", steps: [.expectAnything, .send([5])],
            words: " was made through socks5h://127.0.0.1:", proxy: true),
    ]

    private struct Forwarding: LoadInterceptor {
        /// What has arrived is passed on before the loop's next connection is read.
        let runsOnSessionExecutor = true

        func load(_ load: LoadContext) async throws { try await load.receive(load.next.load(load.request)) }
    }

    @Test(arguments: cases, [false, true])
    func theErrorSaysWhatWasWaitedFor(_ test: Case, _ isForwarded: Bool) async throws {
        let sent = Signal()
        let peer = try ScriptedPeer(test.steps + [.fire(sent), .hold])
        let other = try LoopbackServer { _ in ServerResponse(200, body: .bytes(Array("other".utf8))) }
        defer {
            peer.stop()
            other.stop()
        }
        let time = ManualTime()
        let (session, loop) = Self.session(time) {
            $0.assumesCleartextHTTP2 = test.isHTTP2
            if isForwarded { $0.interceptors = [Forwarding()] }
            if test.proxy {
                $0.connectionProxyDictionary = [
                    kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                    kCFNetworkProxiesSOCKSPort: peer.address.port ?? 0,
                    kCFNetworkProxiesExceptionsList: ["localhost"],
                ]
            }
        }
        defer { loop.stop() }
        try await withTimeout(test.testDescription) {
            async let text = Self.failure(session, peer.request())
            await sent.wait()
            try await Self.readAll(on: loop, other)
            time.advance(by: .seconds(11))
            let words = await text
            #expect(words.hasPrefix("-1001 ") && words.contains(test.words), "\(words)")
        }
    }
}
