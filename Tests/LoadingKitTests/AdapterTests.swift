import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import Synchronization
import TestSupport
import Testing

/// Interceptors that change requests and heads at once. Each row runs with adapters that the session calls itself, and with
/// interceptors that do the same by `load(_:)`: a program sees no difference.
@Suite(.timeLimit(.minutes(5))) struct AdapterTests {
    private struct Own: Error {}

    /// An adapter of closures.
    fileprivate struct Adapter: LoadAdapter {
        var request: @Sendable (inout URLRequest) throws -> Void = { _ in }
        var response: @Sendable (URLResponse, URLRequest) throws -> URLResponse = { response, _ in response }
        var redirection: @Sendable (inout URLRequest) throws -> Void = { _ in }

        func adapt(_ request: URLRequest) throws -> URLRequest {
            var adapted = request
            try self.request(&adapted)
            return adapted
        }

        func adapt(_ response: URLResponse, to request: URLRequest) throws -> URLResponse {
            try self.response(response, request)
        }

        func adapt(redirection: URLRequest, of request: URLRequest) throws -> URLRequest {
            var adapted = redirection
            try self.redirection(&adapted)
            return adapted
        }
    }

    /// The same by `load(_:)`.
    private struct Loading: LoadInterceptor {
        let adapter: Adapter
        var runsOnSessionExecutor = true

        func load(_ load: LoadContext) async throws { try await adapter.load(load) }
    }

    /// How an adapter stands among the interceptors.
    enum Form: CaseIterable {
        case adapters, interceptors, mixed

        fileprivate func entries(_ adapter: Adapter, count: Int) -> [any LoadInterceptor] {
            (0..<count).map { index in
                switch self {
                case .adapters: adapter
                case .interceptors: Loading(adapter: adapter)
                case .mixed:
                    index % 2 == 0 ? adapter : Loading(adapter: adapter, runsOnSessionExecutor: index % 4 == 1)
                }
            }
        }
    }

    private static func session(
        _ entries: [any LoadInterceptor], _ delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors = entries
        configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private static func server() throws -> LoopbackServer {
        try LoopbackServer { request in
            switch request.path {
            case "/old": .redirect(to: "/new")
            case "/file": .redirect(to: "file:///etc/passwd")
            case "/to-endless": .redirect(to: "/endless")
            case "/endless":
                .stream(.length(1 << 30)) { writer in
                    while true { try writer.write([UInt8](repeating: 1, count: 1 << 16)) }
                }
            case "/large": .bytes([UInt8](repeating: 7, count: 1 << 20))
            default:
                .text(
                    [request.path, request.fields[name: "X-A"], request.bodyText].compactMap { $0 }
                        .filter { !$0.isEmpty }.joined(separator: " "))
            }
        }
    }

    private static func url(_ server: LoopbackServer, _ path: String) throws -> URL {
        try #require(URL(string: server.url(path)))
    }

    // MARK: What a program gets

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let path: String
        fileprivate let adapter: Adapter
        /// What the program gets with so many of them: status, the URL's path and the body; or the error.
        let expected: @Sendable (_ count: Int) -> String

        var testDescription: String { name }
    }

    private static func list(_ count: Int) -> String { Array(repeating: "a", count: count).joined(separator: ",") }

    private static func head(of response: URLResponse, status: Int) -> URLResponse {
        response.url.flatMap { HTTPURLResponse(url: $0, statusCode: status, httpVersion: nil, headerFields: nil) }
            ?? response
    }

    private static let addsField = Adapter(request: { $0.addValue("a", forHTTPHeaderField: "X-A") })

    static let rows: [Row] = [
        Row(name: "nothing", path: "/x", adapter: Adapter()) { _ in "200 /x /x" },
        Row(name: "a field", path: "/x", adapter: addsField) { "200 /x /x \(list($0))" },
        Row(
            name: "another URL", path: "/x",
            adapter: Adapter(request: { $0.url = $0.url?.deletingLastPathComponent().appendingPathComponent("y") })
        ) { _ in "200 /y /y" },
        Row(
            name: "another URL, and back", path: "/x",
            adapter: Adapter(
                request: { $0.url = $0.url?.appendingPathComponent("y") },
                response: { response, request in
                    guard let url = request.url else { return response }
                    return (response as? HTTPURLResponse)?.replacingURL(by: url) ?? response
                })
        ) { "200 /x /x\(String(repeating: "/y", count: $0))" },
        Row(
            name: "another head", path: "/x",
            adapter: Adapter(response: { response, _ in
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                return Self.head(of: response, status: status + 1)
            })
        ) { "\(200 + $0) /x /x" },
        Row(name: "a request refused", path: "/x", adapter: Adapter(request: { _ in throw Own() })) { _ in "Own()" },
        Row(
            name: "a response refused", path: "/large",
            adapter: Adapter(response: { _, _ in throw URLError(.dataNotAllowed) })
        ) { _ in "URLError -1020" },
        Row(name: "a redirect", path: "/old", adapter: Adapter()) { _ in "200 /new /new" },
        Row(name: "a redirect with the field", path: "/old", adapter: addsField) { "200 /new /new \(list(2 * $0))" },
        Row(
            name: "a redirect without the field", path: "/old",
            adapter: Adapter(
                request: addsField.request, redirection: { $0.setValue(nil, forHTTPHeaderField: "X-A") })
        ) { "200 /new /new \(list($0))" },
        Row(name: "a redirect refused", path: "/old", adapter: Adapter(redirection: { _ in throw Own() })) { _ in
            "Own()"
        },
        Row(name: "a redirect to a file", path: "/file", adapter: Adapter()) { _ in "URLError -1010" },
        Row(
            name: "another target", path: "/old",
            adapter: Adapter(redirection: { $0.url = URL(string: "data:,here") })
        ) { _ in "0 ,here here" },
        Row(
            name: "another target than a refused one", path: "/file",
            adapter: Adapter(redirection: { $0.url = URL(string: "data:,here") })
        ) { _ in "URLError -1010" },
        Row(name: "another scheme", path: "/x", adapter: Adapter(request: { $0.url = URL(string: "none:x") })) { _ in
            "URLError -1002"
        },
    ]

    private static func outcome(_ load: () async throws -> (Data, URLResponse)) async -> String {
        do {
            let (data, response) = try await load()
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            let path = response.url.map { $0.scheme == "data" ? String($0.absoluteString.dropFirst(5)) : $0.path }
            return "\(status) \(path ?? "-") \(String(decoding: data, as: UTF8.self))"
        } catch let error as URLError {
            return "URLError \(error.errorCode)"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: rows, Form.allCases)
    func aProgramGets(_ row: Row, _ form: Form) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let url = try Self.url(server, row.path)
        for count in [1, 3] {
            let session = Self.session(form.entries(row.adapter, count: count))
            defer { session.invalidateAndCancel() }
            let expected = row.expected(count)
            #expect(await Self.outcome { try await session.data(from: url) } == expected, "\(count)")
            let downloaded = await Self.outcome {
                let (file, response) = try await session.download(from: url)
                defer { try? FileManager.default.removeItem(at: file) }
                return (try Data(contentsOf: file), response)
            }
            #expect(downloaded == expected, "\(count), download")
            let streamed = await Self.outcome {
                let (bytes, response) = try await session.bytes(from: url)
                return (try await bytes.reduce(into: Data()) { $0.append($1) }, response)
            }
            #expect(streamed == expected, "\(count), bytes")
        }
    }

    @Test(arguments: Form.allCases, [1, 3])
    func bodiesAndWebSocketsPass(_ form: Form, count: Int) async throws {
        let server = try LoopbackServer { request in
            request.path == "/chat" ? .webSocket(request) { try $0.echo() } : .text(request.bodyText)
        }
        defer { server.stop() }
        let session = Self.session(form.entries(Self.addsField, count: count))
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try Self.url(server, "/"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("streamed".utf8))
        #expect(try await session.data(for: request).0 == Data("streamed".utf8))
        let task = session.webSocketTask(with: try Self.url(server, "/chat"))
        task.resume()
        try await task.send(.string("hello"))
        guard case .string(let text) = try await task.receive() else { throw URLError(.badServerResponse) }
        #expect(text == "hello")
        task.cancel()
    }

    // MARK: What a delegate sees

    private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
        let follows: Bool
        let asked = Recorder<String>()
        let metrics = Recorder<URLSessionTaskMetrics>()

        init(follows: Bool) { self.follows = follows }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            asked.append("\(response.statusCode) \(request.url?.path ?? "-")")
            return follows ? request : nil
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
        ) {
            self.metrics.append(metrics)
        }
    }

    /// A redirect is put to the delegate with the adapted head and target, and its head is adapted once, whether or not it is
    /// followed.
    @Test(arguments: Form.allCases, [true, false])
    func redirects(_ form: Form, follows: Bool) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let adapted = Mutex<[Int]>([])
        let adapter = Adapter(
            response: { response, _ in
                let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                adapted.withLock { $0.append(status) }
                return Self.head(of: response, status: status + 10)
            }, redirection: { $0.url = $0.url?.appendingPathComponent("y") })
        let delegate = Delegate(follows: follows)
        let session = Self.session(form.entries(adapter, count: 2), delegate)
        defer { session.invalidateAndCancel() }
        let (_, response) = try await session.data(from: try Self.url(server, "/old"))
        #expect((response as? HTTPURLResponse)?.statusCode == (follows ? 220 : 322))
        #expect(adapted.withLock { $0 } == (follows ? [302, 312, 200, 210] : [302, 312]))
        #expect(delegate.asked.snapshot == ["322 /new/y/y"])
        let metrics = await delegate.metrics.element(at: 0)
        #expect(metrics?.redirectCount == 1)
        let statuses = metrics?.transactionMetrics.map { ($0.response as? HTTPURLResponse)?.statusCode }
        #expect(statuses == (follows ? [302, 200] : [302]))
    }

    /// Gives a response of its own in place of a redirect that the delegate has declined, or passes the redirect on.
    private struct Fallback: LoadInterceptor {
        let isUsed: Bool

        func load(_ load: LoadContext) async throws {
            let loaded = try await load.next.load(load.request)
            guard isUsed else { return try await load.receive(loaded) }
            try await load.receive(AdapterTests.head(of: loaded.response, status: 503))
            try await load.receive(Data("fallback".utf8))
        }
    }

    /// The adapter's change applies to the response that the program gets: the redirect or the interceptor's own.
    @Test(arguments: [(nil, "312 /old "), (false, "312 /old "), (true, "513 /old fallback")] as [(Bool?, String)])
    func declinedRedirects(isReplaced: Bool?, expected: String) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let adapter = Adapter(response: { response, _ in
            Self.head(of: response, status: ((response as? HTTPURLResponse)?.statusCode ?? 0) + 10)
        })
        let behind: [any LoadInterceptor] = isReplaced.map { [Fallback(isUsed: $0)] } ?? []
        let delegate = Delegate(follows: false)
        let session = Self.session([adapter] + behind, delegate)
        defer { session.invalidateAndCancel() }
        let url = try Self.url(server, "/old")
        #expect(await Self.outcome { try await session.data(from: url) } == expected)
        #expect(delegate.asked.snapshot == ["312 /new"])
    }

    /// What a session sends to the origin of a task's URL alone goes where an adapter leads the task, and not where a server
    /// does.
    @Test func theSessionsCredentials() async throws {
        let other = try LoopbackServer { .text($0.fields[.authorization] ?? "none") }
        let server = try LoopbackServer { request in
            request.path == "/away" ? .redirect(to: other.url("/")) : .text(request.fields[.authorization] ?? "none")
        }
        defer {
            server.stop()
            other.stop()
        }
        let base = server.url("/")
        let adapter = Adapter(request: { request in
            guard let url = request.url, url.scheme == "short" else { return }
            request.url = URL(string: base + url.absoluteString.dropFirst("short:".count))
        })
        let session = Self.session([adapter]) { $0.httpAdditionalHeaders = ["Authorization": "secret"] }
        defer { session.invalidateAndCancel() }
        for (text, expected) in [("short:a", "secret"), ("short:away", "none")] {
            let (data, _) = try await session.data(from: try #require(URL(string: text)))
            #expect(String(decoding: data, as: UTF8.self) == expected, "\(text)")
        }
    }

    // MARK: Cancelled, suspended, re-entered

    enum Stage: CaseIterable {
        case request, response, redirection
    }

    private static func adapter(_ stage: Stage, _ act: @escaping @Sendable () -> Void) -> Adapter {
        switch stage {
        case .request: Adapter(request: { _ in act() })
        case .response:
            Adapter(response: { response, _ in
                act()
                return response
            })
        case .redirection: Adapter(redirection: { _ in act() })
        }
    }

    /// The adapter itself cancels the task, or the session. The load would not end by itself: that it has ended by then is no
    /// fault.
    @Test(arguments: Stage.allCases, [false, true])
    func cancelledInside(_ stage: Stage, wholeSession: Bool) async throws {
        let server = try Self.server()
        defer { server.stop() }
        for count in [1, 3] {
            let ended = Recorder<URLError.Code?>()
            let task = Mutex<URLSessionTask?>(nil)
            let session = Mutex<URLSession?>(nil)
            let adapter = Self.adapter(stage) {
                if wholeSession {
                    session.withLock { $0 }?.invalidateAndCancel()
                } else {
                    task.withLock { $0 }?.cancel()
                }
            }
            let made = Self.session(Form.adapters.entries(adapter, count: count))
            session.withLock { $0 = made }
            defer { made.invalidateAndCancel() }
            let loading = made.dataTask(with: try Self.url(server, "/to-endless")) { _, _, error in
                ended.append((error as? URLError)?.code)
            }
            task.withLock { $0 = loading }
            loading.resume()
            #expect(await ended.element(at: 0) == .cancelled, "\(count)")
            session.withLock { $0 = nil }
        }
    }

    /// A load that is cancelled while its body comes lets go of its connection.
    @Test(arguments: Form.allCases, [1, 3])
    func cancelledFromOutside(_ form: Form, count: Int) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let session = Self.session(form.entries(Self.addsField, count: count))
        defer { session.invalidateAndCancel() }
        let (bytes, _) = try await session.bytes(from: try Self.url(server, "/endless"))
        var received = 0
        for try await _ in bytes {
            received += 1
            if received == 100_000 { break }
        }
        bytes.task.cancel()
        _ = await server.endings.count(reaches: 1)
    }

    /// An adapter suspends the task, which goes on when the program says so; and loads of the same session begin inside.
    @Test(arguments: Stage.allCases, [1, 3])
    func suspendedAndReentered(_ stage: Stage, count: Int) async throws {
        let server = try Self.server()
        defer { server.stop() }
        let (suspended, inner) = (Signal(), Recorder<Bool>())
        let task = Mutex<URLSessionTask?>(nil)
        let session = Mutex<URLSession?>(nil)
        let adapter = Self.adapter(stage) {
            // The loads that it begins pass through it, too.
            guard let loading = task.withLock({ $0.take() }) else { return }
            loading.suspend()
            session.withLock { $0 }?.dataTask(with: URL(fileURLWithPath: "/none")) { _, _, error in
                inner.append(error != nil)
            }.resume()
            suspended.fire()
        }
        let made = Self.session(Form.adapters.entries(adapter, count: count))
        session.withLock { $0 = made }
        defer { made.invalidateAndCancel() }
        let ended = Recorder<Data?>()
        let loading = made.dataTask(with: try Self.url(server, "/old")) { data, _, _ in ended.append(data) }
        task.withLock { $0 = loading }
        loading.resume()
        await suspended.wait()
        #expect(await inner.element(at: 0) == true)
        #expect(ended.snapshot.isEmpty)
        loading.resume()
        #expect(await ended.element(at: 0) == Data("/new".utf8))
        session.withLock { $0 = nil }
    }

    /// Two sessions have one adapter, and each one of its own.
    @Test func twoSessions() async throws {
        let server = try Self.server()
        defer { server.stop() }
        let url = try Self.url(server, "/x")
        let sessions = ["b", "c"].map { name in
            (name, Self.session([Self.addsField, Adapter(request: { $0.addValue(name, forHTTPHeaderField: "X-A") })]))
        }
        defer { for (_, session) in sessions { session.invalidateAndCancel() } }
        try await withThrowingTaskGroup(of: (String, String).self) { group in
            for _ in 0..<50 {
                for (name, session) in sessions {
                    group.addTask { (name, String(decoding: try await session.data(from: url).0, as: UTF8.self)) }
                }
            }
            for try await (name, text) in group { #expect(text == "/x a,\(name)") }
        }
    }

    @Test func theRegistryNamesThem() throws {
        let session = Self.session([Adapter()])
        defer { session.invalidateAndCancel() }
        let explanation = session.registry.explain(URLRequest(url: try #require(URL(string: "data:,x"))))
        #expect(explanation.handler == "interceptor Adapter")
    }
}
