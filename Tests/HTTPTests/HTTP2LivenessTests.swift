import Foundation
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

@testable import LoadingKit
@testable import LoadingKitCore

/// Connections whose server answers one request, and then nothing: by the test's clock.
@Suite struct HTTP2LivenessTests {
    /// A socket also takes requests to a server that is gone.
    @Test func requestsDoNotHideADeadConnection() async throws {
        let arrived = (0..<4).map { _ in Signal() }
        try await run { client in
            while try client.receive({ arrived[client.requestCount - 1].fire() }) {}
        } _: { load, advance in
            var posts: [Task<Outcome, any Error>] = []
            // The first of them takes a PING along.
            for number in 1...3 {
                posts.append(Task { try await load("POST", Data("a".utf8)) })
                await arrived[number].wait()
                await advance(.seconds(2))
            }
            // The server's system may have acknowledged the PING.
            for _ in 0..<6 { await advance(.seconds(5)) }
            for post in posts {
                let outcome = try await post.value
                #expect(outcome == .failed(.networkConnectionLost))
            }
        }
    }

    /// A server that computes for a while answers nothing meanwhile, not even PINGs, but its system acknowledges them.
    @Test func aBusyServerKeepsItsConnection() async throws {
        let (arrived, mayAnswer) = (Signal(), Signal())
        try await run(acknowledgesAtOnce: true) { client in
            while client.bodyLength < 1, try client.receive({}) {}
            arrived.fire()
            mayAnswer.waitBlocking()
            try client.answer()
            while try client.receive({}) {}
        } _: { load, advance in
            defer { mayAnswer.fire() }
            let post = Task { try await load("POST", Data("a".utf8)) }
            await arrived.wait()
            // The PING is answered after 28 seconds.
            for _ in 0..<7 { await advance(.seconds(4)) }
            mayAnswer.fire()
            let outcome = try await post.value
            #expect(outcome == .loaded(status: 204, body: ""))
        }
    }

    /// A PING stands behind a body that the server reads slowly, without a word.
    @Test func aBodyThatIsReadSlowlyKeepsItsConnection() async throws {
        // More than two sockets' buffers have room for, and half of it.
        let (length, half) = (40_000_000, 20_000_000)
        let (began, mayRead, hasRead, mayEnd) = (Signal(), Signal(), Signal(), Signal())
        try await run { client in
            while try client.receive({
                guard client.requestCount == 2 else { return }
                began.fire()
                mayRead.waitBlocking()
            }), client.bodyLength < half {}
            hasRead.fire()
            mayEnd.waitBlocking()
            while client.bodyLength < length, try client.receive({}) {}
            try client.answer()
        } _: { load, advance in
            defer { for signal in [mayRead, mayEnd] { signal.fire() } }
            let post = Task { try await load("POST", Data(count: length)) }
            await began.wait()
            await advance(.seconds(3))
            mayRead.fire()
            await hasRead.wait()
            await advance(.seconds(3))
            mayEnd.fire()
            let outcome = try await post.value
            #expect(outcome == .loaded(status: 204, body: ""))
        }
    }

    // MARK: The server

    private typealias Load = @Sendable (_ method: String, _ body: Data) async throws -> Outcome
    /// Advances the clock, and returns when the session's loop has done what it could do before.
    private typealias Advance = @Sendable (Duration) async -> Void

    /// - Parameters:
    ///   - acknowledgesAtOnce: Whether the server's system has acknowledged all, whenever the session asks.
    ///   - serve: Serves the connection, after its first request. Called on a thread of the server.
    ///   - load: Loads over a connection that has been quiet, so that its first request takes a PING along.
    private func run(
        acknowledgesAtOnce: Bool = false,
        _ serve: @escaping @Sendable (Connection) throws -> Void,
        _ load: @escaping @Sendable (@escaping Load, Advance) async throws -> Void
    ) async throws {
        let server = try ConnectionAcceptor(.ipv4()) { socket, _ in
            do {
                let connection = try Connection(socket)
                while connection.requestCount == 0, try connection.receive({}) {}
                try connection.answer()
                try serve(connection)
            } catch {}
        }
        defer { server.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "test", time: .manual(time))
        defer { loop.stop() }
        if acknowledgesAtOnce { loop.acknowledgeAtOnce() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.assumesCleartextHTTP2 = true
        let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: nil, loop: loop)
        let url = try server.url
        try await withTimeout {
            #expect(await session.outcome(URLRequest(url: url)) == .loaded(status: 204, body: ""))
            let advance: Advance = { duration in
                time.advance(by: duration)
                _ = await session.allTasks
            }
            await advance(.seconds(6))
            try await load(
                { method, body in
                    var request = URLRequest(url: url)
                    request.httpMethod = method
                    request.httpBody = body
                    return await session.outcome(request)
                }, advance)
        }
    }

    /// A connection with windows so large that the client never waits for more.
    private final class Connection {
        private(set) var requestCount = 0
        private(set) var bodyLength = 0
        private let socket: StreamSocket
        private var machine: HTTP2ConnectionStateMachine
        private var output: [UInt8] = []
        private var last: HTTP2StreamID?

        init(_ socket: StreamSocket) throws {
            self.socket = socket
            var settings = HTTP2Settings()
            settings.initialWindowSize = 1 << 30
            machine = HTTP2ConnectionStateMachine(role: .server, settings: settings, connectionWindow: 1 << 30)
            machine.sendPreface(to: &output)
            try socket.write(output)
        }

        /// Reads once. False at the connection's end.
        func receive(_ onRequest: () -> Void) throws -> Bool {
            let input = try socket.read(atMost: 65_536)
            var position = 0
            while let event = try input.withUnsafeBytes({ bytes throws(HTTP2Error) in
                try machine.receive(bytes, &position)
            }) {
                switch event {
                case .headers(let stream, .request, _):
                    (requestCount, last) = (requestCount + 1, stream)
                    onRequest()
                case .data(_, let range, _, _): bodyLength += range.count
                case _: break
                }
            }
            return !input.isEmpty
        }

        /// Answers the last request. No other bytes are sent, not even answers to PINGs.
        func answer() throws {
            guard let last else { return }
            output = []
            try machine.sendResponse(204, HTTPFields(), on: last, endStream: true, to: &output)
            try socket.write(output)
        }
    }
}
