import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import LoadingKitWebSocket
import TestSupport
import Testing

/// WebSocket tasks with a server that follows the rules, over both versions of HTTP.
@Suite(.timeLimit(.minutes(5))) struct WebSocketTaskTests {
    private static func protocolName(_ version: String) -> String { version == "h2" ? "h2" : "http/1.1" }

    @Test(arguments: WebSocketServing.versions, [false, true])
    func messagesBothWays(_ version: String, _ compresses: Bool) async throws {
        // The time to wait for the server's close frame is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        try await WebSocketServing.withTask(
            version, compresses: compresses, on: loop, { try $0.echo() }
        ) { task, recorder, _ in
            task.maximumMessageSize = 1 << 22
            // These are sent before the connection is open, and wait.
            async let early: Void = task.send(.string("early"))
            task.resume()
            try await early
            try await expect(task, "early")
            let piece = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })
            let long = (0..<1000).reduce(into: Data()) { data, _ in data.append(piece) }
            let text = String(repeating: "Ein längerer Text, der sich wiederholt. ", count: 5000)
            for message in [
                Message.string(""), .data(Data()), .string("é🙂"), .data(Data([0, 255])), .data(long), .string(text),
            ] {
                try await task.send(message)
                switch (message, try await task.receive()) {
                case (.string(let sent), .string(let received)):
                    let isSame = sent == received
                    #expect(isSame)
                case (.data(let sent), .data(let received)):
                    let isSame = sent == received
                    #expect(isSame)
                case _: Issue.record("another kind")
                }
            }
            try await task.sendPing()
            task.cancel(with: .normalClosure, reason: Data("done".utf8))
            let events = await recorder.whole()
            #expect(events == ["open -", "close 1000 -", "metrics \(Self.protocolName(version))", "end -"])
            #expect(task.state == .completed && task.error == nil && task.closeCode == .normalClosure)
            #expect((task.response as? HTTPURLResponse)?.statusCode == (version == "h2" ? 200 : 101))
            #expect(task.response?.url?.scheme == "wss")
        }
    }

    /// Drops the first response, as one that loads again after a failure might.
    private struct Twice: LoadInterceptor {
        func load(_ load: LoadContext) async throws {
            do { _ = try await load.next.load(load.request) }
            let second = try await load.next.load(load.request)
            try await load.receive(second.response)
            for try await piece in second.body { try await load.receive(piece) }
        }
    }

    /// The task waited for the messages of a connection that was gone.
    @Test(arguments: WebSocketServing.versions)
    func aHandshakeThatIsLoadedTwiceFails(_ version: String) async throws {
        try await WebSocketServing.withSession(
            version, { .webSocket($0) { try $0.echo() } }, { $0.interceptors = [Twice()] }
        ) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            do {
                _ = try await task.receive()
                Issue.record("a message")
            } catch let error as URLError {
                #expect(error.code == .badServerResponse && "\(error)".contains("twice"))
            }
        }
    }

    @Test(arguments: WebSocketServing.versions)
    func theServerCloses(_ version: String) async throws {
        try await WebSocketServing.withTask(
            version,
            { socket in
                try socket.send("last")
                try socket.close(WebSocketCloseCode(rawValue: 4004), "no such channel")
                // The client's close frame.
                guard case .close(let code, _)? = try socket.receive(), code.rawValue == 4004 else {
                    throw CancellationError()
                }
            }
        ) { task, recorder, server in
            task.resume()
            try await expect(task, "last")
            await expectNotConnected { _ = try await task.receive() }
            let events = await recorder.whole()
            #expect(events.filter { !$0.hasPrefix("metrics") } == ["open -", "close 4004 no such channel", "end -"])
            #expect(task.closeCode.rawValue == 4004 && task.closeCode != .invalid)
            #expect(task.closeReason == Data("no such channel".utf8) && task.error == nil)
            await expectNotConnected { try await task.send(.string("late")) }
            await expectNotConnected { try await task.sendPing() }
            #expect(server.failures.snapshot == [])
        }
    }

    /// Messages that arrived before the end can still be received.
    @Test(arguments: WebSocketServing.versions)
    func messagesWaitForTheProgram(_ version: String) async throws {
        try await WebSocketServing.withTask(
            version,
            { socket in
                for number in 0..<10 { try socket.send("\(number)") }
                try socket.close(.goingAway)
                _ = try socket.receive()
            }
        ) { task, recorder, _ in
            task.resume()
            _ = await recorder.whole()
            for number in 0..<10 { try await expect(task, "\(number)") }
            await expectNotConnected { _ = try await task.receive() }
            #expect(task.closeCode == .goingAway && task.closeReason == nil)
        }
    }

    @Test(arguments: WebSocketServing.versions)
    func cancelling(_ version: String) async throws {
        let told = Recorder<String>()
        try await WebSocketServing.withTask(
            version,
            { socket in
                try socket.send("hello")
                while let event = try socket.receive() {
                    if case .close(let code, _) = event { return told.append("\(code.rawValue)") }
                }
                told.append("lost")
            }
        ) { task, recorder, _ in
            task.resume()
            try await expect(task, "hello")
            async let code = URLSessionWebSocketTask.code { _ = try await task.receive() }
            task.cancel()
            #expect(await code == .cancelled)
            #expect(await recorder.whole().last == "end -999")
            #expect(await told.element(at: 0) == "1001")
            #expect((task.error as? URLError)?.code == .cancelled)
        }
    }

    /// The server is told also on a connection that takes no more requests, and its stream is not reset.
    @Test func cancellingOnAConnectionThatWasLeft() async throws {
        let told = Recorder<String>()
        let route: LoopbackServer.Route = { request in
            .webSocket(request) { socket in
                try socket.send("hello")
                let event = try socket.receive()
                if case .close(let code, _)? = event { told.append("\(code.rawValue)") } else { told.append("lost") }
                told.append((try? socket.tunnel.read())?.isEmpty == true ? "end" : "reset")
            }
        }
        try await WebSocketServing.withSession("h2", route) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            try await expect(task, "hello")
            await session.flush()
            task.cancel()
            #expect(await told.count(reaches: 2) == ["1001", "end"])
        }
    }

    @Test func cancellingBeforeItIsOpen() async throws {
        let recorder = WebSocketRecorder()
        try await WebSocketServing.withSession("http/1.1", { _ in .text("") }, delegate: recorder) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.cancel(with: .goingAway, reason: nil)
            #expect(await recorder.whole().last == "end -999")
            await expectFailure(.cancelled) { try await task.send(.string("a")) }
        }
    }

    @Test(arguments: WebSocketServing.versions)
    func completionHandlers(_ version: String) async throws {
        try await WebSocketServing.withTask(version, { try $0.echo() }) { task, _, _ in
            let told = Recorder<String>()
            task.sendPing { told.append("pong \($0 == nil)") }
            for number in 0..<5 {
                task.send(.string("\(number)")) { told.append("sent \(number) \($0 == nil)") }
                task.receive { result in
                    if case .success(.string(let text)) = result { told.append("received \(text)") }
                }
            }
            task.resume()
            let all = await told.count(reaches: 11)
            #expect(all.filter { $0.hasPrefix("received") } == (0..<5).map { "received \($0)" })
            #expect(all.filter { $0.hasPrefix("sent") } == (0..<5).map { "sent \($0) true" })
            #expect(all.contains("pong true"))
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    /// A receive that is cancelled takes no message.
    @Test func aReceiveThatIsCancelled() async throws {
        let go = Signal()
        try await WebSocketServing.withTask(
            "http/1.1",
            { socket in
                try socket.send("open")
                try socket.request.exchange.wait(for: go)
                try socket.send("message")
                try socket.echo()
            }
        ) { task, _, _ in
            task.resume()
            try await expect(task, "open")
            let waiting = Task { try await task.text() }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            go.fire()
            try await expect(task, "message")
            task.cancel()
        }
    }

    @Test(arguments: WebSocketServing.versions)
    func subprotocols(_ version: String) async throws {
        let recorder = WebSocketRecorder()
        let route: LoopbackServer.Route = { request in
            let offered = request.fields[.secWebSocketProtocol]
            return .webSocket(request, subprotocol: request.path == "/none" ? nil : "b") { socket in
                try socket.send(offered ?? "-")
                try socket.echo()
            }
        }
        try await WebSocketServing.withSession(version, route, delegate: recorder) { session, server in
            let both = session.webSocketTask(with: try WebSocketServing.url(server), protocols: ["a", "b"])
            both.resume()
            try await expect(both, "a, b")
            // The server serves one stream at a time.
            both.cancel(with: .normalClosure, reason: nil)
            let none = session.webSocketTask(with: try WebSocketServing.url(server, "/none"), protocols: ["a"])
            none.resume()
            try await expect(none, "a")
            // The close of the first may come in between.
            let events = await recorder.events.contents { $0.count { $0.hasPrefix("open") } == 2 }
            none.cancel(with: .normalClosure, reason: nil)
            let opened = events.filter { $0.hasPrefix("open") }
            #expect(opened == ["open b", "open -"])
            let wrong = session.webSocketTask(with: try WebSocketServing.url(server), protocols: ["c"])
            wrong.resume()
            let code = await URLSessionWebSocketTask.code { _ = try await wrong.receive() }
            #expect(code == .badServerResponse)
        }
    }

    /// The handshake has cookies, fields and credentials like other requests, and so has its response.
    @Test(arguments: WebSocketServing.versions)
    func theHandshakeIsARequestLikeOthers(_ version: String) async throws {
        let route: LoopbackServer.Route = { request in
            switch request.path {
            case "/old": return .redirect(to: "wss://\(request.fields[.host] ?? "")/new")
            case "/refused": return .text("no", status: 403)
            case _: break
            }
            guard request.fields[.authorization] == "Basic bWU6c2VjcmV0" else {
                return ServerResponse(401).adding("WWW-Authenticate", "Basic realm=\"here\"")
                    .adding("Set-Cookie", "a=b")
            }
            let seen = "\(request.fields[.cookie] ?? "-") \(request.fields[name: "X-Mine"] ?? "-")"
            return .webSocket(request) { socket in
                try socket.send(seen)
                try socket.echo()
            }
        }
        try await WebSocketServing.withSession(
            version, route, delegate: ChallengeAnswerer("me", "secret")
        ) { session, server in
            var request = URLRequest(url: try WebSocketServing.url(server, "/old", scheme: "https"))
            request.setValue("mine", forHTTPHeaderField: "X-Mine")
            request.setValue("forged", forHTTPHeaderField: "Sec-WebSocket-Key")
            let task = session.webSocketTask(with: request)
            task.resume()
            try await expect(task, "a=b mine")
            #expect(task.currentRequest?.url?.path == "/new")
            task.cancel()
            let refused = session.webSocketTask(with: try WebSocketServing.url(server, "/refused"))
            refused.resume()
            let error = await #expect(throws: URLError.self) { try await refused.receive() }
            #expect(error?.code == .badServerResponse)
            #expect((refused.response as? HTTPURLResponse)?.statusCode == 403)
            #expect(refused.closeCode == .invalid)
        }
    }

    @Test func aDataTaskFailsWithAHint() async throws {
        let session = makeSession()
        let outcome = await session.outcome(URLRequest(url: try #require(URL(string: "wss://localhost/"))))
        #expect(outcome == .failed(.unsupportedURL))
    }

    @Test func transportSecurityConcernsWebSocketsToo() async throws {
        let session = makeSession()
        let task = session.webSocketTask(with: try #require(URL(string: "ws://example.com/")))
        task.resume()
        let code = await URLSessionWebSocketTask.code { _ = try await task.receive() }
        #expect(code == .appTransportSecurityRequiresSecureConnection)
    }

    /// A server that does not allow the switch over HTTP/2 gets an HTTP/1.1 connection, if it supports that.
    @Test(arguments: [true, false])
    func theVersionIsTheServersChoice(_ allowsConnectProtocol: Bool) async throws {
        let authority = try CertificateAuthority()
        var options = LoopbackServer.Options(
            tls: TLSServerOptions(try authority.issue(), applicationProtocols: ["h2", "http/1.1"]))
        options.allowsConnectProtocol = allowsConnectProtocol
        let server = try LoopbackServer(options) { request in
            request.path == "/first" ? .text("first") : .webSocket(request) { try $0.echo() }
        }
        defer { server.stop() }
        let recorder = WebSocketRecorder()
        let session = makeSession(delegate: recorder) { $0.tlsTrustRoots = .pem(authority.certificatePEM) }
        defer { session.invalidateAndCancel() }
        _ = try await session.data(for: BothVersions.request(server, "/first"))
        let task = session.webSocketTask(with: try WebSocketServing.url(server))
        task.resume()
        try await task.send(.string("a"))
        try await expect(task, "a")
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await recorder.whole().contains("metrics \(allowsConnectProtocol ? "h2" : "http/1.1")"))
        #expect(server.openings.count == (allowsConnectProtocol ? 1 : 2))
    }

    /// Where the server is known to support HTTP/2 without TLS, that is tried first.
    @Test(arguments: [true, false])
    func cleartextHTTP2(_ allowsConnectProtocol: Bool) async throws {
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = true
        options.allowsConnectProtocol = allowsConnectProtocol
        let server = try LoopbackServer(options) { .webSocket($0) { try $0.echo() } }
        defer { server.stop() }
        let session = makeSession { $0.assumesCleartextHTTP2 = true }
        defer { session.invalidateAndCancel() }
        let task = session.webSocketTask(with: try WebSocketServing.url(server))
        task.resume()
        guard allowsConnectProtocol else {
            // It does not support HTTP/1.1 either, and answers with another error.
            await expectFailure(.cannotParseResponse) { _ = try await task.receive() }
            #expect(server.openings.count == 2)
            return
        }
        try await task.send(.string("a"))
        try await expect(task, "a")
        #expect(server.openings.count == 1)
        task.cancel(with: .normalClosure, reason: nil)
    }

    /// More connections than a host may have for requests at a time.
    @Test func manyAtATime() async throws {
        try await WebSocketServing.withSession(
            "http/1.1", { .webSocket($0) { try $0.echo() } }, { $0.httpMaximumConnectionsPerHost = 2 }
        ) { session, server in
            let tasks = try (0..<20).map { _ in session.webSocketTask(with: try WebSocketServing.url(server)) }
            for task in tasks { task.resume() }
            for (number, task) in tasks.enumerated() { try await task.send(.string("\(number)")) }
            for (number, task) in tasks.enumerated() { try await expect(task, "\(number)") }
            for task in tasks { task.cancel(with: .normalClosure, reason: nil) }
        }
    }

    /// Each ping gets its pong in order, among other frames, as long as the client reads (RFC 6455 §5.5.2).
    @Test(arguments: WebSocketServing.versions) func eachPingHasItsPong(_ version: String) async throws {
        let payloads = (0..<100).map { Array("ping \($0)".utf8) }
        try await WebSocketServing.withTask(version) { socket in
            try socket.tunnel.write(payloads.flatMap { [0x89, UInt8($0.count)] + $0 })
            var pongs: [[UInt8]] = []
            while pongs.count < payloads.count, case .pong(let payload)? = try socket.receive() {
                pongs.append(payload)
            }
            try socket.send(pongs == payloads ? "all" : "\(pongs.count)")
            _ = try socket.receive()
        } body: { task, _, _ in
            task.resume()
            try await expect(task, "all")
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    /// 5,000 compressed messages that arrive at once.
    @Test(arguments: WebSocketServing.versions) func manyShortMessages(_ version: String) async throws {
        let hello: [UInt8] = [0xc1, 7, 0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0]
        try await WebSocketServing.withTask(version, compresses: true) { socket in
            try socket.tunnel.write((0..<5_000).flatMap { _ in hello })
            _ = try socket.receive()
        } body: { task, _, _ in
            task.resume()
            for _ in 0..<5_000 { try await expect(task, "Hello") }
            task.cancel(with: .normalClosure, reason: nil)
        }
    }
}
