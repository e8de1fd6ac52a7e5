import Foundation
import LoadingKit
import LoadingKitHTTP2
import LoadingKitLoopbackServer
import LoadingKitPrimitives
import LoadingKitTransport
import TestSupport
import Testing

/// Streams that end before their responses are complete, while their exchanges hold something back: nothing that arrived is
/// lost, and a response that is not the final one still leads to the next request.
@Suite struct HTTP2StreamEndTests {
    /// How the server ends a stream, or the connection with it.
    enum Ending: CaseIterable, Sendable {
        case reset, refusal, goAway, malformedFrame

        var error: URLError.Code { self == .malformedFrame ? .cannotParseResponse : .networkConnectionLost }
    }

    /// Begins to respond to its first request, and ends the stream then. All other requests get the body "next".
    private final class Server: Sendable {
        /// The beginning of the response.
        struct Beginning: Sendable {
            let status: Int
            let fields: HTTPFields
            var body: [UInt8] = []
        }

        let isAsked = Signal()
        /// The server waits for it before it ends the stream.
        let mayEnd = Signal()
        /// The client has processed the end.
        let isEnded = Signal()
        let count = Box(0)
        private let beginning: Beginning?
        private let ending: Ending?
        private let acceptor = Box<ConnectionAcceptor?>(nil)

        /// - Parameters:
        ///   - beginning: nil if the stream ends without a response.
        ///   - ending: nil if the stream does not end.
        init(_ beginning: Beginning?, _ ending: Ending?) throws {
            self.beginning = beginning
            self.ending = ending
            acceptor.value = try ConnectionAcceptor(.ipv4()) { [weak self] socket, number in
                try? self?.serve(socket)
                if number == 0 { self?.isEnded.fire() }
            }
        }

        func stop() {
            mayEnd.fire()
            acceptor.value?.stop()
        }

        func request() throws -> URLRequest {
            URLRequest(url: try #require(acceptor.value).url)
        }

        private func serve(_ socket: StreamSocket) throws {
            try socket.serveHTTP2 { event, machine, output in
                switch event {
                case .headers(let stream, _, _): try respond(on: stream, by: &machine, to: &output)
                case .pingAcknowledged: isEnded.fire()
                default: break
                }
            }
        }

        private func respond(
            on stream: HTTP2StreamID, by machine: inout HTTP2ConnectionStateMachine, to output: inout [UInt8]
        ) throws {
            let isFirst = count.update { count in
                count += 1
                return count == 1
            }
            guard isFirst else {
                return try send(
                    Beginning(status: 200, fields: HTTPFields(), body: Array("next".utf8)), on: stream, isEnd: true,
                    by: &machine, to: &output)
            }
            isAsked.fire()
            mayEnd.waitBlocking()
            if let beginning { try send(beginning, on: stream, isEnd: false, by: &machine, to: &output) }
            switch ending {
            case .reset?: machine.sendReset(stream, .internalError, to: &output)
            case .refusal?: machine.sendReset(stream, .refusedStream, to: &output)
            // The client closes the connection then.
            case .goAway?: return HTTP2FrameEncoder.goAway(lastStream: 0, .noError, to: &output)
            case .malformedFrame?: return HTTP2FrameEncoder.windowUpdate(0, increment: 0x7FFF_FFFF, to: &output)
            case nil: break
            }
            machine.sendPing(1, to: &output)
        }

        private func send(
            _ response: Beginning, on stream: HTTP2StreamID, isEnd: Bool, by machine: inout HTTP2ConnectionStateMachine,
            to output: inout [UInt8]
        ) throws {
            try machine.sendResponse(response.status, response.fields, on: stream, endStream: false, to: &output)
            guard !response.body.isEmpty else { return }
            try machine.sendDataHeader(response.body.count, on: stream, endStream: isEnd, to: &output)
            output += response.body
        }
    }

    /// Records what its task is told. Redirects and challenges wait for the test's decision.
    private final class Decider: NSObject, URLSessionDataDelegate {
        let events = Recorder<String>()
        /// Called with true if the request is to be followed by another one.
        let decisions = Recorder<@Sendable (Bool) -> Void>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            decisions.append { completionHandler($0 ? request : nil) }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            decisions.append {
                let credential = $0 ? URLCredential(user: "user", password: "password", persistence: .none) : nil
                completionHandler(.useCredential, credential)
            }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            events.append("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.append("complete \((error as? URLError)?.code.rawValue ?? 0)")
        }
    }

    private static func run(
        _ beginning: Server.Beginning?, _ ending: Ending?, on loop: EventLoop = .next(),
        _ body: @escaping @Sendable (URLSession, Server) async throws -> Void
    ) async throws {
        let server = try Server(beginning, ending)
        defer { server.stop() }
        let session = makeSession(on: loop) { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        try await withTimeout(ending.map { "\($0)" } ?? "silence") { try await body(session, server) }
    }

    /// The delegate decides about a response after its stream has ended: the next request is sent, or the response is
    /// delivered before the error.
    @Test(arguments: Ending.allCases, [(302, "location", "/new"), (401, "www-authenticate", "Basic realm=a")])
    func aResponseThatWaitsForADecision(
        _ ending: Ending, _ test: (status: Int, name: String, value: String)
    ) async throws {
        var fields = HTTPFields()
        fields.append(name: test.name, value: test.value)
        let beginning = Server.Beginning(status: test.status, fields: fields)
        for goesOn in [true, false] {
            try await Self.run(beginning, ending) { session, server in
                server.mayEnd.fire()
                let decider = Decider()
                let task = session.dataTask(with: try server.request())
                task.delegate = decider
                task.resume()
                await server.isEnded.wait()
                let decide = try #require(await decider.decisions.element(at: 0))
                decide(goesOn)
                let end = "complete \(ending.error.rawValue)"
                let expected = goesOn ? ["response 200", "complete 0"] : ["response \(test.status)", end]
                #expect(await decider.events.count(reaches: 2) == expected, "\(goesOn)")
            }
        }
    }

    /// The stored response that the server has validated is the answer, although the 304's stream is not ended.
    @Test(arguments: Ending.allCases) func aValidation(_ ending: Ending) async throws {
        try await Self.run(Server.Beginning(status: 304, fields: HTTPFields()), ending) { session, server in
            server.mayEnd.fire()
            let request = try server.request()
            try Self.store("stored", for: request, in: session)
            #expect(await session.outcome(request) == .ok("stored"))
        }
    }

    /// The server sends nothing more after the head of its 304, until the request's timeout.
    @Test func aValidationWithoutAnEnd() async throws {
        let time = ManualTime()
        let loop = EventLoop(name: "validation", time: .manual(time))
        defer { loop.stop() }
        let beginning = Server.Beginning(status: 304, fields: HTTPFields())
        try await Self.run(beginning, nil, on: loop) { session, server in
            server.mayEnd.fire()
            var limited = try server.request()
            limited.timeoutInterval = 10
            let request = limited
            try Self.store("stored", for: request, in: session)
            async let outcome = session.outcome(request)
            await server.isEnded.wait()
            time.advance(by: .seconds(11))
            #expect(await outcome == .ok("stored"))
        }
    }

    private static func store(_ text: String, for request: URLRequest, in session: URLSession) throws {
        let url = try #require(request.url)
        let response = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: nil,
                headerFields: ["Cache-Control": "no-cache", "ETag": "\"a\""]))
        let cache = try #require(session.configuration.urlCache)
        cache.storeCachedResponse(CachedURLResponse(response: response, data: Data(text.utf8)), for: request)
    }

    /// The coded bytes wait in the exchange, and none in the stream.
    @Test(arguments: Ending.allCases) func bytesThatAreNotDecodedYet(_ ending: Ending) async throws {
        // More than the reader takes at once, in a single frame.
        let count = 4 << 20
        var fields = HTTPFields()
        fields.append(name: "content-encoding", value: "gzip")
        let body = try Gzip.compress([UInt8](repeating: 7, count: count))
        try await Self.run(Server.Beginning(status: 200, fields: fields, body: body), ending) { session, server in
            server.mayEnd.fire()
            let (bytes, _) = try await session.bytes(for: try server.request())
            await server.isEnded.wait()
            var received = 0
            do {
                for try await chunk in bytes.chunks { received += chunk.count }
                Issue.record("the body has come to its end")
            } catch let error as URLError {
                #expect(error.code == ending.error)
            }
            #expect(received == count)
        }
    }

    /// A suspended task hears of the end when it is resumed, and its request is sent again then if the server has not
    /// processed it.
    @Test(arguments: [Ending.reset, .refusal, .goAway]) func aSuspendedTask(_ ending: Ending) async throws {
        try await Self.run(nil, ending) { session, server in
            let decider = Decider()
            let task = session.dataTask(with: try server.request())
            task.delegate = decider
            task.resume()
            await server.isAsked.wait()
            task.suspend()
            // The loop knows of it when this has an answer.
            _ = await session.allTasks
            server.mayEnd.fire()
            await server.isEnded.wait()
            _ = await session.allTasks
            #expect(decider.events.snapshot.isEmpty && server.count.value == 1)
            task.resume()
            let expected =
                ending == .reset ? ["complete \(ending.error.rawValue)"] : ["response 200", "complete 0"]
            #expect(await decider.events.count(reaches: expected.count) == expected)
            #expect(server.count.value == (ending == .reset ? 1 : 2))
        }
    }

    /// Waiting requests: the server allows two streams, and has two requests to `/held`. It answers requests to `/`.
    private struct Waiting {
        let session: URLSession
        let tasks: [URLSessionDataTask]
        let time: ManualTime
        let url: URL
        /// The paths of the requests that the server has.
        let paths: Recorder<String>

        /// The loop has cancelled it afterwards.
        func cancel(_ task: URLSessionTask) async {
            task.cancel()
            _ = await session.allTasks
        }

        var isAnswered: Bool {
            get async { await session.outcome(URLRequest(url: url)) == .loaded(status: 204, body: "") }
        }
    }

    /// - Parameter resetsOthers: whether the server resets its other stream to `/held` when the client has reset one.
    private static func withWaiting(
        _ count: Int, resetsOthers: Bool = false, _ body: @escaping @Sendable (Waiting) async throws -> Void
    ) async throws {
        let paths = Recorder<String>()
        let peer = try ConnectionAcceptor(.ipv4()) { socket, _ in
            var held: [HTTP2StreamID] = []
            try? socket.serveHTTP2(streams: 2) { event, machine, output in
                if case .streamReset(let stream, _) = event, resetsOthers {
                    for other in held where other != stream { machine.sendReset(other, to: &output) }
                }
                guard case .headers(let stream, .request(let head), _) = event else { return }
                paths.append(head.path ?? "")
                guard head.path == "/" else { return held.append(stream) }
                try machine.sendResponse(204, HTTPFields(), on: stream, endStream: true, to: &output)
            }
        }
        defer { peer.stop() }
        let time = ManualTime()
        let loop = EventLoop(name: "cancellations", time: .manual(time))
        defer { loop.stop() }
        let session = makeSession(on: loop) {
            $0.assumesCleartextHTTP2 = true
            $0.httpMaximumConnectionsPerHost = 1
        }
        defer { session.invalidateAndCancel() }
        let url = try peer.url
        try await withTimeout {
            // Afterwards the client knows the number of streams that the server allows.
            #expect(await session.outcome(URLRequest(url: url)) == .loaded(status: 204, body: ""))
            var request = URLRequest(url: try #require(URL(string: "\(url)held")))
            request.httpMethod = "POST"
            request.httpBody = Data("body".utf8)
            var tasks: [URLSessionDataTask] = []
            for _ in 0..<count + 2 { tasks.append(session.dataTask(with: request)) }
            for task in tasks { task.resume() }
            await paths.count(reaches: 3)
            try await waitUntil { await session.statistics.requests.waiting == count }
            try await body(Waiting(session: session, tasks: tasks, time: time, url: url, paths: paths))
        }
    }

    /// A program cancels its tasks one by one: those that wait for a stream are not sent before they are cancelled.
    @Test func waitingRequestsTakeNoStreamsOfCancelledOnes() async throws {
        try await Self.withWaiting(4) { waiting in
            for task in waiting.tasks { await waiting.cancel(task) }
            waiting.time.advance(by: .seconds(1))
            #expect(await waiting.isAnswered)
            #expect(waiting.paths.snapshot == ["/", "/held", "/held", "/"])
        }
    }

    /// The pause after a cancelled request ends where the server ends another one: the clock stands.
    @Test func streamsThatTheServerEndsAreTakenAtOnce() async throws {
        try await Self.withWaiting(1, resetsOthers: true) { waiting in
            await waiting.cancel(waiting.tasks[0])
            #expect(await waiting.paths.count(reaches: 4) == ["/", "/held", "/held", "/held"])
        }
    }
}
