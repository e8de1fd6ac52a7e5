import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Synchronization
import TestSupport
import Testing

/// What stands between a session and its handlers.
@Suite(.timeLimit(.minutes(5))) struct InterceptorTests {
    private struct Closure: LoadInterceptor {
        var isOnLoop = false
        var scheme: String?
        let body: @Sendable (LoadContext) async throws -> Void

        var runsOnSessionExecutor: Bool { isOnLoop }

        func canIntercept(_ request: URLRequest) -> Bool { scheme.map { $0 == request.url?.scheme } ?? true }

        func load(_ load: LoadContext) async throws { try await body(load) }
    }

    private static let forwarder = Closure { try await $0.receive($0.next.load($0.request)) }

    private static func session(
        _ interceptors: [any LoadInterceptor], delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = interceptors
        configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func url(_ server: LoopbackServer, _ path: String = "/") throws -> URL {
        try #require(URL(string: server.url(path)))
    }

    private static func marking(_ name: String, isOnLoop: Bool) -> Closure {
        Closure(isOnLoop: isOnLoop) { load in
            var request = load.request
            request.addValue(name, forHTTPHeaderField: "X-Order")
            try await load.receive(load.next.load(request))
        }
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/old": .redirect(to: "/new")
            case "/broken": .stream(.length(1 << 20)) { try $0.write([UInt8](repeating: 1, count: 1000)) }
            case "/large": .bytes([UInt8](repeating: 7, count: 8 << 20))
            default: .text(request.path + (request.fields[name: "X-Order"] ?? ""))
            }
        }
    }

    /// All of them are before `protocolClasses`, and each sees redirects and other schemes.
    @Test(arguments: [false, true])
    func theirOrderIsThatOfTheList(isOnLoop: Bool) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let session = Self.session(["a", "b", "c"].map { Self.marking($0, isOnLoop: isOnLoop) })
        defer { session.invalidateAndCancel() }
        for (path, text) in [("/", "/a,b,c"), ("/old", "/newa,b,c,a,b,c")] {
            let (data, _) = try await session.data(from: try url(server, path))
            #expect(String(decoding: data, as: UTF8.self) == text)
        }
        let url = try #require(URL(string: "data:,x"))
        #expect(try await session.data(from: url).0 == Data("x".utf8))
        #expect(session.configuration.interceptors.count == 3)
    }

    @Test func thoseThatAreNotConcernedArePassedOver() async throws {
        let session = Self.session([
            Closure(scheme: "own") { load in
                try await load.receive(
                    URLResponse(url: load.url, mimeType: nil, expectedContentLength: 1, textEncodingName: nil))
                try await load.receive(Data("1".utf8))
            }
        ])
        defer { session.invalidateAndCancel() }
        let (own, other) = (try #require(URL(string: "own:x")), try #require(URL(string: "data:,2")))
        #expect(try await session.data(from: own).0 == Data("1".utf8))
        #expect(try await session.data(from: other).0 == Data("2".utf8))
    }

    /// The whole body, in order, whatever was read of it before it was passed on, and in which kind of task.
    @Test(arguments: [0, 1, 3], [false, true])
    func theRestIsPassedOn(read: Int, isOnLoop: Bool) async throws {
        let server = try LoopbackServer { _ in
            .stream(.chunked) { writer in
                for number in 0..<4000 { try writer.write(Array("\(number) ".utf8)) }
            }
        }
        defer { server.stop() }
        let session = Self.session([
            Closure(isOnLoop: isOnLoop) { load in
                let loaded = try await load.next.load(load.request)
                guard read > 0 else { return try await load.receive(loaded) }
                try await load.receive(loaded.response)
                var iterator = loaded.body.makeAsyncIterator()
                for _ in 0..<read { if let piece = try await iterator.next() { try await load.receive(piece) } }
                try await load.receive(loaded)
            }
        ])
        defer { session.invalidateAndCancel() }
        let expected = Data((0..<4000).map { "\($0) " }.joined().utf8)
        #expect(try await session.data(from: try url(server)).0 == expected)
        let (file, _) = try await session.download(from: try url(server))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == expected)
        var bytes = Data()
        for try await byte in try await session.bytes(from: try url(server)).0 { bytes.append(byte) }
        #expect(bytes == expected)
    }

    @Test func theHeadMayBeAnother() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let session = Self.session([
            Closure { load in
                let loaded = try await load.next.load(load.request)
                let head = HTTPURLResponse(url: load.url, statusCode: 299, httpVersion: nil, headerFields: nil)
                try await load.receive(loaded, as: head)
            }
        ])
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(from: try url(server, "/x"))
        #expect((response as? HTTPURLResponse)?.statusCode == 299 && data == Data("/x".utf8))
    }

    @Test func theLoadsErrorIsTheInterceptors() async throws {
        struct Own: Error {}
        let server = try Self.server()
        defer { server.stop() }
        let seen = Mutex<URLError.Code?>(nil)
        let session = Self.session([
            Closure { load in
                do {
                    try await load.receive(load.next.load(load.request))
                } catch let error as URLError {
                    seen.withLock { $0 = error.code }
                    throw Own()
                }
            }
        ])
        defer { session.invalidateAndCancel() }
        await #expect(throws: Own.self) { try await session.data(from: try url(server, "/broken")) }
        #expect(seen.withLock { $0 } == .networkConnectionLost)
    }

    @Test func aLoadWithoutAResponseIsAURLError() async throws {
        let seen = Mutex<URLError.Code?>(nil)
        let interceptor = Closure { load in
            do {
                try await load.receive(load.next.load(load.request))
            } catch let error as URLError {
                seen.withLock { $0 = error.code }
                throw error
            }
        }
        let session = Self.session([interceptor]) { $0.register(scheme: "nothing", loading: { _ in }) }
        defer { session.invalidateAndCancel() }
        let url = try #require(URL(string: "nothing:x"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .badServerResponse && error?.failingURL == url)
        #expect(seen.withLock { $0 } == .badServerResponse)
    }

    /// A handler behind the interceptor sends two responses. The later one replaces the first, unless the interceptor gives
    /// the first one's head itself.
    @Test(arguments: [0, 1])
    func aSecondResponseHoldsNothingUp(read: Int) async throws {
        let interceptor = Closure { load in
            let loaded = try await load.next.load(load.request)
            guard read > 0 else { return try await load.receive(loaded) }
            try await load.receive(loaded.response)
            for try await piece in loaded.body { try await load.receive(piece) }
        }
        let session = Self.session([interceptor]) {
            $0.register(
                scheme: "twice",
                loading: { load in
                    for type in ["text/plain", "text/html"] {
                        try await load.receive(
                            URLResponse(
                                url: load.url, mimeType: type, expectedContentLength: -1, textEncodingName: nil))
                    }
                    try await load.receive(Data("body".utf8))
                })
        }
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(from: try #require(URL(string: "twice:x")))
        #expect(data == Data("body".utf8) && response.mimeType == (read == 0 ? "text/html" : "text/plain"))
    }

    /// An interceptor passes on the response of another session's load, whose handler sends a second one when the first
    /// one's body has arrived.
    @Test(arguments: ["", "body"], [false, true])
    func aSecondResponseOfAnotherLoad(body: String, givesHead: Bool) async throws {
        let (given, tasks, ended) = (Recorder<LoadedResponse>(), Recorder<URLSessionTask>(), Signal())
        let giver = Self.session([
            Closure { load in
                given.append(try await load.next.load(load.request))
                await ended.wait()
            }
        ]) {
            $0.register(
                scheme: "twice",
                loading: { load in
                    for (type, text) in [("text/plain", "first"), ("text/html", body)] {
                        try await load.receive(
                            URLResponse(
                                url: load.url, mimeType: type, expectedContentLength: -1, textEncodingName: nil))
                        if !text.isEmpty { try await load.receive(Data(text.utf8)) }
                        let task = await tasks.element(at: 0)
                        try await waitUntil { (task?.countOfBytesReceived ?? 5) >= 5 }
                    }
                })
        }
        let taker = Self.session([
            Closure { load in
                tasks.append(load.task)
                guard let loaded = await given.element(at: 0) else { return }
                let own = URLResponse(
                    url: load.url, mimeType: "text/css", expectedContentLength: -1, textEncodingName: nil)
                try await load.receive(loaded, as: givesHead ? own : nil)
            }
        ]) { $0.register(scheme: "twice", loading: { _ in }) }
        defer {
            ended.fire()
            for session in [giver, taker] { session.invalidateAndCancel() }
        }
        let url = try #require(URL(string: "twice:x"))
        try await withTimeout {
            giver.dataTask(with: url) { _, _, _ in }.resume()
            let (data, response) = try await taker.data(from: url)
            #expect(data == Data(body.utf8) && response.mimeType == (givesHead ? "text/css" : "text/html"))
        }
    }

    // MARK: Redirects

    private final class Redirects: NSObject, URLSessionTaskDelegate, Sendable {
        let follows: Bool
        let metrics = Recorder<URLSessionTaskMetrics>()

        init(follows: Bool) { self.follows = follows }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? { follows ? request : nil }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self.metrics.append(metrics)
        }
    }

    /// Passes responses on, and notes their status and where they redirect to.
    ///
    /// - Parameter givesHead: whether it gives the head by itself before it passes the response.
    private static func noting(
        in seen: Recorder<String>, _ redirects: NextHandlers.Redirects, givesHead: Bool = false
    ) -> Closure {
        Closure { load in
            let loaded = try await load.next.load(load.request, redirects: redirects)
            let status = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
            seen.append("\(status) \(loaded.redirection?.url?.path ?? "-")")
            if givesHead { try await load.receive(loaded.response) }
            try await load.receive(loaded)
        }
    }

    /// Returned to the interceptor or not, a redirect is put to the delegate, and is in the metrics.
    @Test(arguments: [NextHandlers.Redirects.followed, .returned], [true, false])
    func redirects(_ redirects: NextHandlers.Redirects, follows: Bool) async throws {
        for givesHead in [false, true] { try await check(redirects, follows: follows, givesHead: givesHead) }
    }

    private func check(_ redirects: NextHandlers.Redirects, follows: Bool, givesHead: Bool) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let seen = Recorder<String>()
        let delegate = Redirects(follows: follows)
        let session = Self.session([Self.noting(in: seen, redirects, givesHead: givesHead)], delegate: delegate)
        defer { session.invalidateAndCancel() }
        let url = try url(server, "/old")
        let (_, response) = try await withTimeout { try await session.data(from: url) }
        #expect((response as? HTTPURLResponse)?.statusCode == (follows ? 200 : 302))
        let expected: [String] =
            switch (redirects, follows) {
            case (.followed, true): ["200 -"]
            case (.followed, false): ["302 -"]
            case (.returned, true): ["302 /new", "200 -"]
            case (.returned, false): ["302 /new"]
            }
        #expect(seen.snapshot == expected)
        let metrics = await delegate.metrics.element(at: 0)
        #expect(metrics?.redirectCount == 1)
        let statuses = metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
        #expect(statuses == (follows ? [302, 200] : [302]))
    }

    /// A redirect that an interceptor behind gets as a response is followed if that passes it on, also with other
    /// fields. A response that it gives in its place is one like any other.
    @Test(arguments: [
        ("same", ["302 /new", "200 -"], "/new"), ("changed", ["302 /new", "200 -"], "/new"),
        ("other", ["200 -"], "instead"),
    ])
    func redirectsBehindAnInterceptor(answer: String, heads: [String], body: String) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let seen = Recorder<String>()
        let session = Self.session([
            Self.noting(in: seen, .returned),
            Closure { load in
                let loaded = try await load.next.load(load.request)
                guard let old = loaded.response as? HTTPURLResponse, old.statusCode == 302, answer != "same" else {
                    return try await load.receive(loaded)
                }
                let fields = answer == "changed" ? ["Location": "/new", "X-Added": "yes"] : [:]
                let head = HTTPURLResponse(
                    url: load.url, statusCode: answer == "changed" ? 302 : 200, httpVersion: nil, headerFields: fields)
                guard let head else { throw URLError(.badServerResponse) }
                if answer == "changed" { return try await load.receive(loaded, as: head) }
                try await load.receive(head)
                try await load.receive(Data("instead".utf8))
            },
        ])
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url(server, "/old"))
        #expect(String(decoding: data, as: UTF8.self) == body)
        #expect(seen.snapshot == heads)
    }

    /// A head that an interceptor gives in place of a redirect's is one like any other, unless it gives the target.
    @Test(arguments: [(200, false, ["302"]), (200, true, ["302", "200"]), (302, false, ["302", "200"])])
    func headsInPlaceOfRedirects(status: Int, givesTarget: Bool, heads: [String]) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let seen = Mutex<[String]>([])
        let session = Self.session([
            Closure { load in
                let loaded = try await load.next.load(load.request, redirects: .returned)
                let old = (loaded.response as? HTTPURLResponse)?.statusCode ?? 0
                seen.withLock { $0.append("\(old)") }
                guard old == 302 else { return try await load.receive(loaded) }
                let fields = status == 302 ? ["Location": "/new"] : [:]
                let head = HTTPURLResponse(url: load.url, statusCode: status, httpVersion: nil, headerFields: fields)
                guard let head else { throw URLError(.badServerResponse) }
                try await load.receive(loaded, as: head, redirectingTo: givesTarget ? loaded.redirection : nil)
            }
        ])
        defer { session.invalidateAndCancel() }
        let (data, response) = try await session.data(from: try url(server, "/old"))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(String(decoding: data, as: UTF8.self) == (heads.count == 1 ? "" : "/new"))
        #expect(seen.withLock { $0 } == heads)
    }

    /// Answers redirects when the test says so.
    private final class SlowDecider: NSObject, URLSessionTaskDelegate, Sendable {
        let answers = Recorder<@Sendable () -> Void>()

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            answers.append { completionHandler(request) }
        }
    }

    /// Sends two bytes of a body, and the rest later.
    private static func halves(_ first: String, _ second: String, _ go: Signal) -> ServerResponse {
        .stream(.length(UInt64(first.utf8.count + second.utf8.count))) { writer in
            try writer.write(first)
            try writer.wait(for: go)
            try writer.write(second)
        }
    }

    /// Two loads of a task are redirected. The second answer comes when the target's body has begun.
    @Test func oneOfTwoRedirectsIsFollowed() async throws {
        let go = Signal()
        let server = try LoopbackServer { $0.path == "/old" ? .redirect(to: "/new") : Self.halves("ne", "w!", go) }
        defer {
            go.fire()
            server.stop()
        }
        let decider = SlowDecider()
        let session = Self.session(
            [
                Closure { load in
                    let forward = { @Sendable in try await load.next.load(load.request) }
                    guard load.url.path == "/old" else { return try await load.receive(forward()) }
                    async let other = forward()
                    try await load.receive(forward())
                    _ = try await other
                }
            ], delegate: decider)
        defer { session.invalidateAndCancel() }
        let url = try url(server, "/old")
        try await withTimeout {
            async let loaded = session.bytes(from: url).0
            let answers = await decider.answers.count(reaches: 2)
            answers[0]()
            var iterator = try await loaded.makeAsyncIterator()
            var body: [UInt8] = []
            while body.count < 2, let byte = try await iterator.next() { body.append(byte) }
            answers[1]()
            // The session has taken the answer when it returns this.
            _ = await session.allTasks
            go.fire()
            while let byte = try await iterator.next() { body.append(byte) }
            #expect(String(decoding: body, as: UTF8.self) == "new!")
            #expect(server.requests.snapshot.map(\.path) == ["/old", "/old", "/new"])
        }
    }

    /// One of a task's two loads is redirected, and cancelled before the delegate has answered, as the other one has
    /// its response. The answer comes when that response's body has begun.
    @Test func theRedirectOfACancelledLoadIsNotFollowed() async throws {
        let go = Signal()
        let count = Mutex(0)
        let server = try LoopbackServer { _ in
            let number = count.withLock { count -> Int in
                count += 1
                return count
            }
            return number == 1 ? .redirect(to: "/new") : Self.halves("ol", "d!", go)
        }
        defer {
            go.fire()
            server.stop()
        }
        let decider = SlowDecider()
        let session = Self.session(
            [
                Closure { load in
                    let redirected = Task { try await load.next.load(load.request) }
                    await decider.answers.count(reaches: 1)
                    let loaded = try await load.next.load(load.request)
                    redirected.cancel()
                    try await load.receive(loaded)
                }
            ], delegate: decider)
        defer { session.invalidateAndCancel() }
        let url = try url(server, "/old")
        try await withTimeout {
            let (bytes, _) = try await session.bytes(from: url)
            var iterator = bytes.makeAsyncIterator()
            var body: [UInt8] = []
            while body.count < 2, let byte = try await iterator.next() { body.append(byte) }
            decider.answers[0]?()
            _ = await session.allTasks
            go.fire()
            while let byte = try await iterator.next() { body.append(byte) }
            #expect(String(decoding: body, as: UTF8.self) == "old!")
            #expect(server.requests.snapshot.map(\.path) == ["/old", "/old"])
        }
    }

    /// What an interceptor takes out of a redirect's request is not sent, also where the URL stays.
    @Test func aRedirectsFieldsMayBeChanged() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let session = Self.session([
            Closure { load in
                var request = load.request
                if load.url.path == "/old" { request.setValue("secret", forHTTPHeaderField: "X-Order") }
                let loaded = try await load.next.load(request, redirects: .returned)
                var target = loaded.redirection
                target?.setValue(nil, forHTTPHeaderField: "X-Order")
                try await load.receive(loaded, redirectingTo: target)
            }
        ])
        defer { session.invalidateAndCancel() }
        let (data, _) = try await session.data(from: try url(server, "/old"))
        #expect(String(decoding: data, as: UTF8.self) == "/new")
    }

    /// What a server may not redirect to is refused, whichever way the redirect takes.
    @Test(arguments: [NextHandlers.Redirects.followed, .returned])
    func refusedRedirects(_ redirects: NextHandlers.Redirects) async throws {
        let server = try LoopbackServer { _ in .redirect(to: "file:///etc/passwd") }
        defer { server.stop() }
        let session = Self.session([
            Closure { try await $0.receive($0.next.load($0.request, redirects: redirects)) }
        ])
        defer { session.invalidateAndCancel() }
        let error = await #expect(throws: URLError.self) { try await session.data(from: try url(server)) }
        #expect(error?.code == .redirectToNonExistentLocation)
    }

    // MARK: The executor

    /// The session's own executor, also after a wait; and Swift's without it.
    @Test(arguments: [false, true])
    func theExecutor(isOnLoop: Bool) async throws {
        let executors = Mutex<[Bool]>([])
        let expected = Mutex<UnownedTaskExecutor?>(nil)
        let note: @Sendable () -> Void = {
            let current = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
            executors.withLock { $0.append(current != nil && current == expected.withLock { $0 }) }
        }
        let session = Self.session([
            Closure(isOnLoop: isOnLoop) { load in
                note()
                await Task.yield()
                note()
                try await load.receive(load.next.load(load.request))
                note()
            }
        ])
        defer { session.invalidateAndCancel() }
        expected.withLock { $0 = session.executor.asUnownedTaskExecutor() }
        _ = try await session.data(from: try #require(URL(string: "data:,x")))
        #expect(executors.withLock { $0 } == [isOnLoop, isOnLoop, isOnLoop])
    }

    // MARK: Cancelled and suspended

    @Test(arguments: [false, true])
    func aCancelledTaskEndsTheForwardedLoad(isOnLoop: Bool) async throws {
        let server = try LoopbackServer { _ in
            .stream(.length(1 << 30)) { writer in
                while true { try writer.write([UInt8](repeating: 1, count: 1 << 16)) }
            }
        }
        defer { server.stop() }
        let ended = Signal()
        let session = Self.session([
            Closure(isOnLoop: isOnLoop) { load in
                defer { ended.fire() }
                try await load.receive(load.next.load(load.request))
            }
        ])
        defer { session.invalidateAndCancel() }
        let (bytes, _) = try await session.bytes(from: try url(server))
        var count = 0
        for try await _ in bytes {
            count += 1
            if count == 100_000 { break }
        }
        bytes.task.cancel()
        await ended.wait()
        _ = await server.endings.count(reaches: 1)
    }

    /// What the server has sent ahead of the reader is in the system's buffers, and some pieces.
    @Test func backpressureReachesTheConnection() async throws {
        let size = 64 << 20
        let sent = Atomic<Int>(0)
        let server = try LoopbackServer { _ in
            .stream(.length(UInt64(size))) { writer in
                let piece = [UInt8](repeating: 1, count: 1 << 16)
                for _ in 0..<size >> 16 {
                    try writer.write(piece)
                    sent.add(1 << 16, ordering: .relaxed)
                }
            }
        }
        defer { server.stop() }
        let session = Self.session([Self.forwarder, Self.forwarder, Self.forwarder])
        defer { session.invalidateAndCancel() }
        let (bytes, _) = try await session.bytes(from: try url(server))
        var (count, ahead) = (0, 0)
        for try await _ in bytes {
            count += 1
            if count % (1 << 20) == 0 { ahead = max(ahead, sent.load(ordering: .relaxed) - count) }
        }
        #expect(count == size && ahead < size / 4)
    }

    /// A WebSocket's connection is taken through an interceptor.
    @Test func webSocketsPass() async throws {
        let server = try LoopbackServer { request in
            .webSocket(request) { try $0.echo() }
        }
        defer { server.stop() }
        let session = Self.session([Self.forwarder])
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(
            with: try #require(URL(string: server.url().replacing("http:", with: "ws:"))))
        task.resume()
        try await task.send(.string("hello"))
        guard case .string(let text) = try await task.receive() else { throw URLError(.badServerResponse) }
        #expect(text == "hello")
    }

    @Test func theRegistryNamesThem() throws {
        let session = Self.session([Closure(scheme: "http") { _ in }])
        defer { session.invalidateAndCancel() }
        let request = URLRequest(url: try #require(URL(string: "data:,x")))
        let explanation = session.registry.explain(request)
        #expect(explanation.steps.first?.handler == "interceptor Closure")
        #expect(explanation.steps.first?.verdict == .passes("canIntercept(_:) is false"))
        #expect(explanation.handler == "DataURLHandler")
    }
}
