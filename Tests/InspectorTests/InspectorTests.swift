import Foundation
import LoadingKit
import LoadingKitHAR
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitCore
@testable import LoadingKitInspector

/// The inspector of a running program, as its page sees it. Each test has an inspector of its own sessions.
@Suite(.timeLimit(.minutes(5))) struct InspectorTests {
    private let inspector: Inspector
    private let page: PageClient
    private let server: LoopbackServer
    private let mark = UUID().uuidString

    init() throws {
        server = try LoopbackServer { request in
            switch request.path {
            case "/stored": .text("stored").adding("Cache-Control", "max-age=60").adding("Set-Cookie", "a=SECRET")
            case "/moved": .redirect(to: "/target")
            case "/echo": .bytes(request.body, type: request.fields[.contentType] ?? "text/plain")
            default: .text("hello")
            }
        }
        inspector = try Inspector(port: 0, allowsChanges: true, redacts: true) { [mark] in
            $0.settings.httpAdditionalHeaders?.contains { $0.1 == mark } == true
        }
        page = PageClient(inspector.address)
    }

    private func session(
        delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["X-Test": mark]
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: server.url(path))) }

    private func end() {
        inspector.stop()
        server.stop()
    }

    @Test func loadsAndTheirReasons() async throws {
        defer { end() }
        let session = session()
        for _ in 0..<2 { _ = try await session.data(from: url("/stored?token=SECRET&n=1")) }
        _ = try await session.data(from: url("/moved"))
        _ = try await page.message { $0["type"] == "options" && $0["allowsChanges"] == true && $0["redacts"] == true }
        let entry = try await page.entry(of: "/stored")
        #expect(entry["response"]?["status"] == 200 && entry["response"]?["content"]?["text"] == "stored")
        let connection = try #require(entry["_connectionId"]?.string)
        let expected: [(kind: String, text: String)] = [
            ("cache", "not in the cache"), ("cache", "stored"), ("cookie", "the cookie is stored (a)"),
            ("cache", "answered from the cache: the stored response is fresh"), ("redirect", "status 302"),
        ]
        for (kind, text) in expected {
            _ = try await page.message {
                $0["type"] == "decision" && $0["kind"]?.string == kind && $0["text"]?.string?.contains(text) == true
            }
        }
        _ = try await page.message { message in
            let found = message["connection"]
            return found?["id"]?.string == connection && found?["protocol"] == "http/1.1"
                && found?["remote"]?.string?.hasPrefix("127.0.0.1:") == true
        }
        _ = try await page.entry(of: "/target")
        #expect(!page.messages.snapshot.map { $0.text() }.joined().contains("SECRET"))
        session.invalidateAndCancel()
    }

    /// Secrets in each place that can have one are in no message, also where a load is held.
    @Test func secrets() async throws {
        defer { end() }
        try await hold("both", "/echo?held")
        let session = session()
        let address = try url("/echo").absoluteString
        let user = address.replacing("://", with: "://user:PLANTED@")
        let requests: [(url: String, fields: [String: String], body: String)] = [
            (user, [:], ""), (address + "?api_key=PLANTED", ["X-Api-Key": "PLANTED"], ""),
            (address + "?1", ["Authorization": "Bearer PLANTED", "Cookie": "session=PLANTED"], ""),
            (address + "?2", ["Content-Type": "application/json"], #"{"a":[{"password":"PLANTED"}]}"#),
            (address + "?3", ["Content-Type": "application/x-www-form-urlencoded"], "user=a&password=PLANTED"),
            (address + "?held&token=PLANTED", ["Proxy-Authorization": "Basic PLANTED"], "password=PLANTED"),
        ]
        for (url, fields, body) in requests {
            var request = URLRequest(url: try #require(URL(string: url)))
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
            request.allHTTPHeaderFields = ["Content-Type": "application/x-www-form-urlencoded"].merging(fields) { $1 }
            async let loaded = session.data(for: request)
            if url.contains("held") {
                for stage in ["request", "response"] {
                    let held = try await page.held("/echo?held", stage)
                    _ = try await page.act(["action": "release", "id": held["id"] ?? .null])
                }
            }
            let (data, _) = try await loaded
            #expect(data == Data(body.utf8))
        }
        _ = try await page.entry(of: "/echo?held")
        let messages = page.messages.snapshot.map { $0.text() }.filter { $0.contains(address.dropFirst(7).prefix(15)) }
        #expect(messages.count >= requests.count && !messages.contains { $0.contains("PLANTED") })
        #expect(messages.contains { $0.contains("redacted") })
        session.invalidateAndCancel()
    }

    /// A page that is opened later gets what was before.
    @Test func laterPage() async throws {
        defer { end() }
        let session = session()
        for number in 0..<300 { _ = try await session.data(from: url("/before?\(number)")) }
        let later = PageClient(inspector.address)
        for number in [0, 299] { #expect(try await later.entry(of: "/before?\(number)") != .null) }
        session.invalidateAndCancel()
    }

    // MARK: Changes

    private func hold(_ stage: String, _ words: String) async throws {
        let rules: JSONValue = [
            "action": "setRules",
            "rules": [["id": "1", "stage": .string(stage), "method": "", "words": .string(words), "isOn": true]],
        ]
        #expect(try await page.act(rules).status == "204")
        _ = try await page.message { $0["type"] == "rules" && $0["rules"]?[0]?["words"]?.string == words }
    }

    @Test func aRequestIsChanged() async throws {
        defer { end() }
        try await hold("request", "/echo?change")
        let session = session()
        var request = URLRequest(url: try url("/echo?change"))
        request.httpMethod = "POST"
        request.httpBody = Data("before".utf8)
        request.setValue("Bearer SECRET", forHTTPHeaderField: "Authorization")
        async let loaded = session.data(for: request)
        let held = try await page.held("/echo?change", "request")
        #expect(held["request"]?["body"]?["text"] == "before")
        let id = try #require(held["id"])
        let fields: JSONValue = [
            ["name": "Authorization", "value": "Bearer (redacted)"], ["name": "X-New", "value": "1"],
        ]
        let refused = try await page.act([
            "action": "release", "id": id,
            "request": ["headers": [["name": "Cookie", "value": "(redacted)"]], "body": .null],
        ])
        #expect(refused.status == "422" && refused.text == "the field Cookie has redacted values")
        for (url, words) in [("nowhere", "no scheme"), ("", "no scheme"), ("http://a/(redacted)", "redacted")] {
            let refused = try await page.act([
                "action": "release", "id": id, "request": ["url": .string(url), "headers": [], "body": .null],
            ])
            #expect(refused.status == "422" && refused.text.contains(words), "\(refused)")
        }
        let released = try await page.act([
            "action": "release", "id": id,
            "request": [
                "method": "PUT", "url": .string(try url("/echo?changed").absoluteString), "headers": fields,
                "body": ["text": "after"],
            ],
        ])
        #expect(released.status == "204")
        #expect(String(decoding: try await loaded.0, as: UTF8.self) == "after")
        let sent = try #require(server.requests.last)
        #expect(sent.method == "PUT" && sent.target == "/echo?changed" && sent.fields.contains(name: "X-New"))
        #expect(sent.fields[.authorization] == "Bearer SECRET")
        _ = try await page.message { $0["type"] == "released" && $0["id"] == id }
        session.invalidateAndCancel()
    }

    @Test func aResponseIsChanged() async throws {
        defer { end() }
        try await hold("response", "/hello?change -other")
        let session = session()
        async let other = session.data(from: url("/hello?change&other"))
        #expect(try await other.0 == Data("hello".utf8))
        async let loaded = session.data(from: url("/hello?change"))
        let held = try await page.held("/hello?change", "response")
        #expect(held["response"]?["status"] == 200 && held["response"]?["body"]?["text"] == "hello")
        let released = try await page.act([
            "action": "release", "id": held["id"] ?? .null,
            "response": ["status": 404, "headers": [["name": "X-A", "value": "b"]], "body": ["text": "changed body"]],
        ])
        #expect(released.status == "204", "\(released.text)")
        let (data, response) = try await loaded
        let head = try #require(response as? HTTPURLResponse)
        #expect(String(decoding: data, as: UTF8.self) == "changed body" && head.statusCode == 404)
        #expect(head.value(forHTTPHeaderField: "X-A") == "b" && head.expectedContentLength == 12)
        session.invalidateAndCancel()
    }

    /// What follows the response is the stream task's, not a body that the page could show.
    @Test(arguments: ["GET", "CONNECT"]) func aResponseThatGivesAConnectionIsNotHeld(_ method: String) async throws {
        let switching = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n"
        let grant = method == "CONNECT" ? "HTTP/1.1 200 OK\r\n\r\n" : switching
        let peer = try ScriptedPeer([.expectRequest, .send(grant), .expectBytes(4), .send("pong"), .hold])
        defer {
            peer.stop()
            end()
        }
        try await hold("response", "127.0.0.1")
        let streams = Recorder<URLSessionStreamTask>()
        let session = session(delegate: StreamTaker(streams))
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: peer.url("/"))))
        request.httpMethod = method
        if method == "GET" { request.setValue("echo", forHTTPHeaderField: "Upgrade") }
        session.dataTask(with: request).resume()
        let stream = try #require(await streams.element(at: 0))
        try await stream.write(Data("ping".utf8), timeout: 0)
        let (data, _) = try await stream.readData(ofMinLength: 4, maxLength: 4, timeout: 0)
        #expect(data == Data("pong".utf8))
    }

    @Test func aRequestIsAnsweredOrFailsWithoutBeingSent() async throws {
        defer { end() }
        try await hold("both", "/unsent")
        let session = session()
        async let answered = session.data(from: url("/unsent?1"))
        let first = try await page.held("/unsent?1", "request")
        _ = try await page.act([
            "action": "answer", "id": first["id"] ?? .null,
            "response": ["status": 201, "headers": [], "body": ["text": "bWFkZQ==", "encoding": "base64"]],
        ])
        #expect(try await answered.0 == Data("made".utf8))
        async let failed = session.data(from: url("/unsent?2"))
        let second = try await page.held("/unsent?2", "request")
        #expect(try await page.act(["action": "fail", "id": second["id"] ?? .null]).status == "204")
        do {
            _ = try await failed
            Issue.record("the load has not failed")
        } catch {
            #expect((error as? URLError)?.code == .networkConnectionLost)
        }
        #expect(try await page.act(["action": "fail", "id": second["id"] ?? .null]).status == "422")
        #expect(!server.requests.snapshot.contains { $0.path == "/unsent" })
        session.invalidateAndCancel()
    }

    /// A load that is cancelled while it is held is no longer held, and a stopped inspector holds nothing.
    @Test func heldLoadsEnd() async throws {
        defer { server.stop() }
        try await hold("request", "/kept")
        let session = session()
        let task = Task { try await session.data(from: url("/kept?1")) }
        let held = try await page.held("/kept?1", "request")
        task.cancel()
        _ = try await page.message { $0["type"] == "released" && $0["id"] == held["id"] }
        await #expect(throws: (any Error).self) { try await task.value }
        async let loaded = session.data(from: url("/kept?2"))
        _ = try await page.held("/kept?2", "request")
        inspector.stop()
        #expect(try await loaded.0 == Data("hello".utf8))
        try await page.waitForEnd()
        session.invalidateAndCancel()
    }

    /// A session that is made while the inspector is stopped is not recorded.
    @Test func aSessionThatIsMadeMeanwhileIsLeft() async throws {
        defer { end() }
        let other = "meanwhile \(mark)"
        let stopped = Box<Inspector?>(nil)
        stopped.value = try Inspector(port: 0, allowsChanges: true, redacts: true) { core in
            guard core.settings.httpAdditionalHeaders?.contains(where: { $0.1 == other }) == true else { return false }
            stopped.value?.stop()
            stopped.value = nil
            return true
        }
        let session = session { $0.httpAdditionalHeaders = ["X-Test": other] }
        let core = session.core
        let count = await withCheckedContinuation { continuation in
            core.loop.execute { continuation.resume(returning: core.recorders.count) }
        }
        #expect(count == 0)
        session.invalidateAndCancel()
    }

    // MARK: Strangers

    @Test func strangersGetNothing() async throws {
        defer { end() }
        let port = try #require(URLComponents(string: inspector.address)?.port)
        let host = "Host: 127.0.0.1:\(port)\r\n"
        let requests = [
            "GET / HTTP/1.1\r\n\(host)\r\n", "GET /events?token=guess HTTP/1.1\r\n\(host)\r\n", "nonsense\r\n\r\n",
            page.request("GET", "/").replacing(host, with: "Host: evil.example:\(port)\r\n"),
            page.request("GET", "/events", ["Origin: http://evil.example"]),
            page.request("POST", "/actions", ["Content-Type: text/plain"], body: #"{"action":"releaseAll"}"#),
            "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 100_000) + "\r\n",
        ]
        for request in requests {
            let answer = try await page.answer(to: request)
            #expect(["400", "403", "415", "431", ""].contains(answer.dropFirst(9).prefix(3)), "\(answer.prefix(200))")
            #expect(!answer.contains("<html") && !answer.contains("data:"))
        }
        let whole = try await page.answer(to: page.request("GET", "/"))
        #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.contains("connect-src 'self'"))
        for field in ["Cache-Control: no-store", "X-Frame-Options: DENY", "Referrer-Policy: no-referrer"] {
            #expect(whole.contains("\r\n\(field)\r\n"))
        }
        // Connections that say nothing keep nobody out.
        let silent = (0..<200).compactMap { _ in try? LoopbackClient(.ipv4(port: UInt16(port))) }
        #expect(try await page.answer(to: page.request("GET", "/")).hasPrefix("HTTP/1.1 200 "))
        #expect(silent.count == 200)
    }
}

/// Lets data tasks become stream tasks.
private final class StreamTaker: NSObject, URLSessionDataDelegate {
    private let streams: Recorder<URLSessionStreamTask>

    init(_ streams: Recorder<URLSessionStreamTask>) { self.streams = streams }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(.becomeStream) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) { streams.append(streamTask) }
}
