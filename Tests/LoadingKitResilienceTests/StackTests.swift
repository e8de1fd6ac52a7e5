import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitResilience
import Testing

@Suite(.timeLimit(.minutes(5))) struct StackTests {
    @Test func theFirstIsTheOutermost() async throws {
        let server = try LoopbackServer { request in .text(request.fields[name: "X-Order"] ?? "") }
        defer { server.stop() }
        let order = { (name: String) in
            ClosureInterceptor { load in
                var request = load.request
                request.addValue(name, forHTTPHeaderField: "X-Order")
                try await load.receive(load.next.load(request))
            }
        }
        let session = URLSession.with(order("a"), order("b"), order("c"))
        #expect(try await session.text(server.url()) == "a,b,c")
    }

    /// Adds its name where the path, or a name that an earlier interceptor has added, contains a letter.
    private struct Concerned: LoadInterceptor {
        let name: String
        let letter: String

        func canIntercept(_ request: URLRequest) -> Bool {
            (request.url?.path ?? "").contains(letter)
                || (request.value(forHTTPHeaderField: "X-Order") ?? "").contains(letter)
        }

        func load(_ load: LoadContext) async throws {
            var request = load.request
            request.addValue(name, forHTTPHeaderField: "X-Order")
            try await load.receive(load.next.load(request))
        }
    }

    /// A request that concerns no interceptor goes to the handler directly.
    @Test(arguments: [("/", ""), ("/a", "a,d"), ("/b", "b"), ("/c", "c"), ("/ac", "a,c,d"), ("/cab", "a,b,c,d")])
    func thoseThatAreNotConcernedArePassedOver(_ path: String, _ expected: String) async throws {
        let server = try LoopbackServer { request in .text(request.fields[name: "X-Order"] ?? "") }
        defer { server.stop() }
        let session = URLSession.with(
            Concerned(name: "a", letter: "a"), Concerned(name: "b", letter: "b"), Concerned(name: "c", letter: "c"),
            Concerned(name: "d", letter: "a"))
        #expect(try await session.text(server.url(path)) == expected)
        let isHandledDirectly = session.registry.explain(try server.request(path)).handler == "HTTPProtocolHandler"
        #expect(isHandledDirectly == expected.isEmpty)
    }

    /// The plugin's interceptors handle only requests that concern them.
    @Test func whichRequestsConcernThem() throws {
        func request(_ url: String, _ method: String = "GET", authorization: String? = nil) throws -> URLRequest {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.httpMethod = method
            request.setValue(authorization, forHTTPHeaderField: "Authorization")
            return request
        }
        let origin = try #require(RequestOrigin("https://api.example.org"))
        let tokens = BearerTokens(origins: [origin], token: BearerToken("t")) { _ in BearerToken("u") }
        #expect(tokens.canIntercept(try request("https://api.example.org/x")))
        #expect(!tokens.canIntercept(try request("http://api.example.org/x")))
        #expect(!tokens.canIntercept(try request("https://api.example.org/x", authorization: "Basic eDp5")))
        let hedging = Hedging()
        #expect(hedging.canIntercept(try request("https://api.example.org/x")))
        #expect(!hedging.canIntercept(try request("https://api.example.org/x", "POST")))
        #expect(Retries().canIntercept(try request("HTTPS://api.example.org/x", "POST")))
        #expect(!Retries().canIntercept(try request("file:///x")))
    }

    @Test func anInterceptorMayAnswerItself() async throws {
        let session = URLSession.with(
            ClosureInterceptor { load in
                let response = try #require(
                    HTTPURLResponse(url: load.url, statusCode: 299, httpVersion: nil, headerFields: nil))
                try await load.receive(response)
                try await load.receive(Data("own".utf8))
            })
        #expect(try await session.text("http://127.0.0.1:1/") == "own")
        #expect(try await session.status("http://127.0.0.1:1/") == 299)
    }

    @Test func aDelegateSeesOneLoad() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors += [Forwarder(), Retries(), Forwarder()]
        let delegate = Collector()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: try server.request()).resume()
        await delegate.completed.wait()
        #expect(delegate.events.snapshot == ["response 200", "data hello", "completed"])
    }

    @Test func aDelegateThatCancelsEndsTheLoad() async throws {
        let server = try LoopbackServer { _ in
            .stream(.length(1 << 30)) { writer in
                while true { try writer.write([UInt8](repeating: 1, count: 1 << 16)) }
            }
        }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors += [Forwarder(), Forwarder()]
        let delegate = Collector(cancelsAtData: true)
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        session.dataTask(with: try server.request()).resume()
        await delegate.completed.wait()
        #expect(delegate.events.last == "failed \(URLError.Code.cancelled.rawValue)")
        _ = await server.endings.count(reaches: 1)
    }

    @Test func downloadsPassThrough() async throws {
        let server = try LoopbackServer { _ in .bytes([UInt8](repeating: 7, count: 1 << 20)) }
        defer { server.stop() }
        let session = URLSession.with(Forwarder(), Forwarder(), Forwarder())
        let (file, _) = try await session.download(from: try #require(URL(string: server.url())))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file).count == 1 << 20)
    }

    /// The server counts the bytes that it could send while nothing is read.
    @Test func backpressurePassesThroughThreeInterceptors() async throws {
        let size = 64 << 20
        let sent = Box(0)
        let server = try LoopbackServer { _ in
            .stream(.length(UInt64(size))) { writer in
                let piece = [UInt8](repeating: 1, count: 1 << 16)
                for _ in 0..<size >> 16 {
                    try writer.write(piece)
                    sent.update { $0 += 1 << 16 }
                }
            }
        }
        defer { server.stop() }
        let session = URLSession.with(
            Forwarder(), Retries(), CircuitBreaker())
        let (bytes, _) = try await session.bytes(from: try #require(URL(string: server.url())))
        var iterator = bytes.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        // Bytes that the server has sent and the program has not read are in buffers: the system's, and the interceptors'.
        var (count, ahead) = (1, 0)
        while try await iterator.next() != nil {
            count += 1
            if count % (1 << 20) == 0 { ahead = max(ahead, sent.value - count) }
        }
        #expect(count == size)
        #expect(ahead < size / 4)
    }

    @Test func interceptorsThatAreAddedLaterAreBehind() async throws {
        let server = try LoopbackServer { request in .text(request.fields[name: "X-Stack"] ?? "") }
        defer { server.stop() }
        let mark = { (name: String) in
            ClosureInterceptor { load in
                var request = load.request
                request.addValue(name, forHTTPHeaderField: "X-Stack")
                try await load.receive(load.next.load(request))
            }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.interceptors += [mark("one")]
        configuration.interceptors += [mark("two")]
        #expect(try await URLSession(configuration: configuration).text(server.url()) == "one,two")
    }

    @Test(arguments: [
        ("http://Example.ORG/a", "http://example.org:80"), ("https://example.org./", "https://example.org:443"),
        ("https://[::1]:8443/", "https://[::1]:8443"), ("HTTP://a:80/", "http://a:80"),
        ("https://B%C3%BCcher.example./", "https://xn--bcher-kva.example:443"),
    ])
    func origins(_ url: String, _ origin: String) {
        #expect(RequestOrigin(url)?.description == origin)
    }

    @Test(arguments: ["", "/path", "mailto:a@example.org", "data:,x"])
    func urlsWithoutAnOrigin(_ url: String) { #expect(RequestOrigin(url) == nil) }
}

private final class Collector: NSObject, URLSessionDataDelegate, Sendable {
    let events = Recorder<String>()
    let completed = Signal()
    private let cancelsAtData: Bool

    init(cancelsAtData: Bool = false) { self.cancelsAtData = cancelsAtData }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        events.append("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if cancelsAtData { return dataTask.cancel() }
        events.append("data \(String(decoding: data, as: UTF8.self))")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        events.append(error.map { "failed \(($0 as? URLError)?.code.rawValue ?? 0)" } ?? "completed")
        completed.fire()
    }
}
