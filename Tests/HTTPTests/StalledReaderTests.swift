import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import TestSupport
import Testing

/// Readers of HTTP/2 that stop: what is held for them is bounded, and the connection's other streams go on.
@Suite struct StalledReaderTests {
    /// Sends bodies without an end, as fast as the windows allow, and counts their bytes; a short one for `/a`, and one of
    /// 20 MB for `/long`.
    private final class EndlessServer: Sendable {
        static let long = 20_000_000
        private static let chunk = [UInt8](repeating: 7, count: 16384)

        /// How much of the endless bodies was sent.
        let sent = Box(0)
        private let acceptor: ConnectionAcceptor

        init() throws {
            acceptor = try ConnectionAcceptor(.ipv4()) { [sent] socket, _ in try? Self.serve(socket, sent) }
        }

        var base: String { "http://127.0.0.1:\(acceptor.address.port ?? 0)" }

        func stop() { acceptor.stop() }

        private static func serve(_ socket: StreamSocket, _ sent: Box<Int>) throws {
            /// The rest of each body.
            var bodies: [HTTP2StreamID: Int] = [:]
            try socket.serveHTTP2(streams: 1000) { event, machine, output in
                switch event {
                case .headers(let stream, .request(let head), _):
                    try machine.sendResponse(200, HTTPFields(), on: stream, endStream: false, to: &output)
                    bodies[stream] = size(of: head.path ?? "")
                case .streamReset(let stream, _): bodies[stream] = nil
                default: break
                }
            } didAnswer: { machine in
                try send(&bodies, &machine, socket, sent)
            }
        }

        private static func size(of path: String) -> Int {
            switch path {
            case "/a": 1
            case "/long": long
            default: .max
            }
        }

        private static func send(
            _ bodies: inout [HTTP2StreamID: Int], _ machine: inout HTTP2ConnectionStateMachine, _ socket: StreamSocket,
            _ sent: Box<Int>
        ) throws {
            var isMoving = true
            while isMoving {
                isMoving = false
                for (stream, rest) in bodies {
                    let count = min(machine.sendableBytes(on: stream), rest, chunk.count)
                    guard count > 0 else { continue }
                    let isEnd = rest == count
                    var output: [UInt8] = []
                    try machine.sendDataHeader(count, on: stream, endStream: isEnd, to: &output)
                    output += chunk.prefix(count)
                    try socket.write(output)
                    bodies[stream] = isEnd ? nil : rest - count
                    if rest > long { sent.update { $0 += count } }
                    isMoving = true
                }
            }
        }
    }

    /// The bytes that the first window and the feed of a `bytes(for:)` sequence may hold for each reader.
    private static let share = (128 + 512 + 64) << 10

    private static func run(
        limit: Int, _ body: @escaping @Sendable (URLSession, EndlessServer) async throws -> Void
    ) async throws {
        let server = try EndlessServer()
        defer { server.stop() }
        let session = makeSession {
            $0.assumesCleartextHTTP2 = true
            $0.maximumUnreadBodySize = limit
        }
        defer { session.invalidateAndCancel() }
        try await withTimeout { try await body(session, server) }
    }

    private static func request(_ server: EndlessServer, _ path: String) throws -> URLRequest {
        URLRequest(url: try #require(URL(string: server.base + path)))
    }

    /// Readers that take `count` bytes, and then stop.
    private static func readers(
        _ number: Int, of session: URLSession, _ server: EndlessServer, after count: Int
    ) async throws -> [URLSession.AsyncBytes.AsyncIterator] {
        var iterators: [URLSession.AsyncBytes.AsyncIterator] = []
        for _ in 0..<number {
            var iterator = try await session.bytes(for: try request(server, "/endless")).0.makeAsyncIterator()
            for _ in 0..<count { _ = try await iterator.next() }
            iterators.append(iterator)
        }
        return iterators
    }

    /// The server has heard all that the client said before it answers.
    private static func exchange(_ session: URLSession, _ server: EndlessServer) async throws {
        for _ in 0..<10 {
            let body = try await session.data(for: try request(server, "/a")).0
            #expect(body == Data([7]))
        }
    }

    @Test(arguments: [1, 100_000]) func whatIsHeldIsBounded(_ taken: Int) async throws {
        let limit = 4 << 20
        try await Self.run(limit: limit) { session, server in
            let number = 32
            var stalled = try await Self.readers(number, of: session, server, after: taken)
            try await Self.exchange(session, server)
            let bound = limit + number * (Self.share + taken)
            #expect(server.sent.value <= bound, "\(server.sent.value >> 10) KiB are more than \(bound >> 10)")
            // Another stream goes on.
            let long = try await session.data(for: try Self.request(server, "/long")).0
            #expect(long.count == EndlessServer.long)
            #expect(server.sent.value <= bound)
            // So does a reader that had stopped.
            var count = 0
            while count < 2_000_000, try await stalled[5].next() == 7 { count += 1 }
            #expect(count == 2_000_000)
            try await Self.exchange(session, server)
            #expect(server.sent.value <= bound + count)
        }
    }

    /// A reader that is behind gets small pieces: what it does with one takes its time, and memory. One may be larger, which
    /// was filled by a fast body when the reader fell behind.
    @Test func whatIsBehindComesInSmallPieces() async throws {
        try await Self.run(limit: 4 << 20) { session, server in
            let bytes = try await session.bytes(for: try Self.request(server, "/endless")).0
            var chunks = bytes.chunks.makeAsyncIterator()
            let first = try await chunks.next()?.count ?? 0
            // The windows are used up when more than the reader's 256 KiB have arrived.
            var sent = 0
            repeat {
                sent = server.sent.value
                try await Self.exchange(session, server)
            } while sent < first + (256 << 10) || server.sent.value != sent
            var count = 0
            var large: [Int] = []
            while count < 256 << 10, let chunk = try await chunks.next() {
                if chunk.count > 64 << 10 { large.append(chunk.count) }
                count += chunk.count
            }
            #expect(large.count <= 1 && count >= 256 << 10, "\(large)")
        }
    }

    /// Without anything beyond the first window each stream goes on all the same.
    @Test func aBoundOfNothing() async throws {
        try await Self.run(limit: 0) { session, server in
            let stalled = try await Self.readers(4, of: session, server, after: 1)
            let long = try await session.data(for: try Self.request(server, "/long")).0
            #expect(long.count == EndlessServer.long)
            #expect(server.sent.value <= 4 * (Self.share + 1))
            withExtendedLifetime(stalled) {}
        }
    }

    /// Whatever its window was when it stopped.
    @Test func aSuspendedTaskGoesOn() async throws {
        try await Self.run(limit: 0) { session, server in
            let request = try Self.request(server, "/long")
            let (isTold, counter) = (Signal(), Counter())
            counter.didReceiveFirst = { isTold.fire() }
            let task = session.dataTask(with: request)
            task.delegate = counter
            task.resume()
            await isTold.wait()
            task.suspend()
            try await Self.exchange(session, server)
            task.resume()
            await counter.ended.wait()
            #expect(counter.count.value == EndlessServer.long)
        }
    }

    private final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // set before the task begins
        var didReceiveFirst: () -> Void = {}
        let count = Box(0)
        let ended = Signal()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            count.update { $0 += data.count }
            didReceiveFirst()
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended.fire()
        }
    }
}
