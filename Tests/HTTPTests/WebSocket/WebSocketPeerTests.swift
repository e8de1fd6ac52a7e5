import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import LoadingKitWebSocket
import TestSupport
import Testing

/// WebSocket tasks with servers that break the rules, or close the connection.
@Suite(.timeLimit(.minutes(5))) struct WebSocketPeerTests {
    struct Violation: CustomTestStringConvertible, Sendable {
        let name: String
        let bytes: [UInt8]
        let error: URLError.Code
        /// The code of the close frame that the server gets.
        let code: UInt16

        var testDescription: String { name }
    }

    static let violations = [
        Violation(name: "an unknown opcode", bytes: [0x83, 0x00], error: .cannotParseResponse, code: 1002),
        Violation(name: "a masked frame", bytes: [0x81, 0x81, 1, 2, 3, 4, 5], error: .cannotParseResponse, code: 1002),
        Violation(name: "text that is none", bytes: [0x81, 0x01, 0xff], error: .cannotDecodeContentData, code: 1007),
        Violation(
            name: "a message of 2⁶² bytes", bytes: [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0],
            error: .dataLengthExceedsMaximum, code: 1009),
        Violation(
            name: "endless fragments",
            bytes: [0x02, 0x00] + Array(repeating: [0x00, 0x00], count: 2000).flatMap { $0 },
            error: .cannotParseResponse, code: 1008),
        Violation(
            name: "compression that was not agreed on", bytes: [0xc1, 0x01, 0x00], error: .cannotParseResponse,
            code: 1002),
    ]

    @Test(arguments: violations, WebSocketServing.versions)
    func violation(_ violation: Violation, _ version: String) async throws {
        let told = Recorder<String>()
        try await WebSocketServing.withTask(
            version,
            { socket in
                try socket.tunnel.write(violation.bytes)
                while let event = try socket.receive() {
                    if case .close(let code, let reason) = event { return told.append("\(code.rawValue) \(reason)") }
                }
                told.append("lost")
            }
        ) { task, recorder, _ in
            task.resume()
            let error = await #expect(throws: URLError.self) { try await task.receive() }
            #expect(error?.code == violation.error)
            let words = (error?.userInfo[NSUnderlyingErrorKey] as? WebSocketError)?.description ?? "?"
            #expect(await told.element(at: 0) == "\(violation.code) \(words)")
            let events = await recorder.whole()
            #expect(events.first == "open -" && events.last == "end \(violation.error.rawValue)")
            #expect(events.allSatisfy { !$0.hasPrefix("close") })
            #expect(task.closeCode.rawValue == Int(violation.code))
        }
    }

    @Test(arguments: WebSocketServing.versions)
    func aBomb(_ version: String) async throws {
        try await WebSocketServing.withTask(
            version, compresses: true,
            { socket in
                try socket.send([UInt8](repeating: 0, count: 64 << 20))
                while try socket.receive() != nil {}
            }
        ) { task, _, _ in
            task.resume()
            let code = await URLSessionWebSocketTask.code { _ = try await task.receive() }
            #expect(code == .dataLengthExceedsMaximum && task.closeCode == .messageTooBig)
        }
    }

    /// The connection ends without a close frame: between messages, and in the middle of one.
    @Test(arguments: [[], [0x82], [0x82, 0x05, 1, 2]] as [[UInt8]], WebSocketServing.versions)
    func theConnectionIsLost(_ bytes: [UInt8], _ version: String) async throws {
        try await WebSocketServing.withTask(
            version,
            { socket in
                try socket.send("last")
                try socket.tunnel.write(bytes)
                if version == "http/1.1" { try socket.request.exchange.closeAbruptly() }
            }
        ) { task, recorder, _ in
            task.resume()
            try await expect(task, "last")
            await expectFailure(.networkConnectionLost) { try await task.sendPing() }
            #expect(await recorder.whole().last == "end -1005")
            #expect(task.closeCode == .abnormalClosure)
        }
    }

    /// More messages than wait for a program, and a close, before the connection fails.
    @Test(arguments: WebSocketServing.versions)
    func messagesBeforeAFailureAreKept(_ version: String) async throws {
        let count = 1500
        let messages = (0..<count).flatMap { [0x82, 0x01, UInt8(truncatingIfNeeded: $0)] as [UInt8] }
        let route: LoopbackServer.Route = { request in
            .webSocket(request) { socket in
                try socket.tunnel.write(messages + [0x88, 0x02, 0x03, 0xe9])
                try socket.request.exchange.reset()
            }
        }
        try await WebSocketServing.withSession(version, route) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            // All have come together with the first one.
            _ = try await task.receive()
            await server.endings.count(reaches: 1)
            // A connection whose messages wait is not read: over HTTP/1.1, its failure shows when it is written to.
            task.send(.string("more")) { _ in }
            // The loop has seen it once it has answered these.
            for _ in 0..<3 { _ = await session.allTasks }
            var received = 1
            while case .data? = try? await task.receive() { received += 1 }
            #expect(received == count)
            await expectNotConnected { _ = try await task.receive() }
            #expect(task.closeCode == .goingAway)
        }
    }

    /// A server that does not answer the close frame.
    @Test(arguments: WebSocketServing.versions)
    func noAnswerToClose(_ version: String) async throws {
        let done = Signal()
        try await WebSocketServing.withTask(
            version,
            { socket in
                try socket.send("open")
                try socket.request.exchange.wait(for: done)
            }
        ) { task, recorder, _ in
            task.resume()
            try await expect(task, "open")
            task.cancel(with: .normalClosure, reason: nil)
            let events = await recorder.whole()
            #expect(events.last == "end \(URLError.timedOut.rawValue)" && task.closeCode == .abnormalClosure)
            done.fire()
        }
    }

    /// A server that waits whenever it has taken a further part of the client's bytes.
    private struct SlowServer: Sendable {
        let part = 4_000_000
        let waits = [(reached: Signal(), isOver: Signal()), (reached: Signal(), isOver: Signal())]
        let message: Data
        let seen = Recorder<String>()

        func take(_ socket: ServerWebSocket) throws {
            let offers = socket.request.fields.values(of: .secWebSocketExtensions)
            var codec = WebSocketStateMachine(
                role: .server, deflate: PermessageDeflate(offers: offers),
                limits: WebSocketLimits(messageBytes: 1 << 26))
            var count = 0
            var rest = waits[...]
            while !codec.isOver {
                let bytes = try socket.tunnel.read()
                if bytes.isEmpty { return seen.append("lost") }
                try bytes.withUnsafeBytes { bytes in
                    var position = 0
                    while let event = try codec.receive(bytes, &position) { note(event) }
                }
                count += bytes.count
                guard count >= part * (waits.count - rest.count + 1), let wait = rest.popFirst() else { continue }
                wait.reached.fire()
                try socket.request.exchange.wait(for: wait.isOver)
            }
            var answer: [UInt8] = []
            codec.drainControlBytes(into: &answer)
            try socket.tunnel.write(answer)
        }

        private func note(_ event: WebSocketEvent) {
            switch event {
            case .binary(let payload): seen.append(payload.withUnsafeBytes { Data($0) == message } ? "whole" : "other")
            case .close(let code, _): seen.append("close \(code.rawValue)")
            case .text, .ping, .pong: seen.append("other")
            }
        }
    }

    /// A long message, and a close behind it, to a server that takes bytes slowly. Whenever it takes some, the wait for
    /// its answer begins anew. On a clock that the test moves, and on a socket that holds little.
    @Test(arguments: WebSocketServing.versions)
    func slowReaderAndClose(_ version: String) async throws {
        var random = SeededGenerator(seed: 5)
        // It repeats itself at a distance that deflate does not see.
        let piece = (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &random) }
        let slow = SlowServer(message: Data((0..<192).flatMap { _ in piece }))
        let (authority, folder) = (try CertificateAuthority(), try TemporaryFolder())
        let path = folder.path + "/socket"
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: [version])
        let server = try LoopbackServer(LoopbackServer.Options(.unix(path: path), tls: tls)) { request in
            guard request.path != "/first" else { return .text("first") }
            return .webSocket(request, compresses: true) { socket in
                try socket.send("open")
                try slow.take(socket)
            }
        }
        let time = ManualTime()
        let (loop, recorder) = (EventLoop(name: "test", time: .manual(time)), WebSocketRecorder())
        let session = makeSession(delegate: recorder, on: loop) {
            $0.tlsTrustRoots = .pem(authority.certificatePEM)
            $0.unixSocket = { _ in UnixSocket(path: path) }
        }
        defer {
            session.invalidateAndCancel()
            server.stop()
            loop.stop()
            folder.remove()
        }
        try await withTimeout(version) {
            if version == "h2" { _ = try await session.data(for: BothVersions.request(server, "/first")) }
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            try await expect(task, "open")
            task.send(.data(slow.message)) { _ in }
            task.cancel(with: .normalClosure, reason: nil)
            for wait in slow.waits {
                await wait.reached.wait()
                time.advance(by: .seconds(4))
                // The loop has seen the new time once it answers this.
                _ = await session.allTasks
                wait.isOver.fire()
            }
            let events = await recorder.whole()
            #expect(events.last == "end -" && task.closeCode == .normalClosure)
            #expect(slow.seen.snapshot == ["whole", "close 1000"])
        }
    }

    /// Compressing a long message would keep the loop from all other work. The messages behind it are compressed as if
    /// it had not been sent.
    @Test(arguments: WebSocketServing.versions)
    func longMessagesAreNotCompressed(_ version: String) async throws {
        let sizes = [1 << 20, (1 << 20) + 1, 1000]
        let seen = Recorder<String>()
        try await WebSocketServing.withTask(
            version, compresses: true,
            { socket in
                let offers = socket.request.fields.values(of: .secWebSocketExtensions)
                var codec = WebSocketStateMachine(
                    role: .server, deflate: PermessageDeflate(offers: offers),
                    limits: WebSocketLimits(messageBytes: 1 << 26))
                var count = 0
                while seen.count < sizes.count {
                    let bytes = try socket.tunnel.read()
                    if bytes.isEmpty { return seen.append("lost") }
                    count += bytes.count
                    try bytes.withUnsafeBytes { bytes in
                        var position = 0
                        while let event = try codec.receive(bytes, &position) {
                            guard case .binary(let payload) = event else { continue }
                            seen.append("\(payload.count) \(count < payload.count ? "compressed" : "plain")")
                            count = 0
                        }
                    }
                }
            }
        ) { task, _, _ in
            task.resume()
            for (number, size) in sizes.enumerated() {
                try await task.send(.data(Data(count: size)))
                await seen.count(reaches: number + 1)
            }
            #expect(seen.snapshot == ["1048576 compressed", "1048577 plain", "1000 compressed"])
        }
    }

    /// While the program does not receive, the server has to wait. While the server does not read, the program's sends
    /// wait.
    @Test(arguments: WebSocketServing.versions)
    func backpressureBothWays(_ version: String) async throws {
        // More than sockets and windows hold. These grow with the delay, and so are large on a busy machine.
        let (tooMany, count) = (4000, 1000)
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        let progress = Recorder<Int>()
        let (enough, go) = (Signal(), Signal())
        let bystander = try LoopbackServer { _ in .text("") }
        defer { bystander.stop() }
        let route: LoopbackServer.Route = { request in
            .webSocket(request, compresses: false) { socket in
                while !enough.hasFired, progress.count < tooMany {
                    try socket.send(piece)
                    progress.append(0)
                }
                try socket.send("that was all")
                try socket.request.exchange.wait(for: go)
                try socket.echo()
            }
        }
        try await WebSocketServing.withSession(version, route) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            _ = try await task.receive()
            // Only this ends the server's messages.
            try await session.settles(beside: bystander) { progress.count }
            #expect(progress.count < tooMany)
            enough.fire()
            var received = 1
            while case .data = try await task.receive() { received += 1 }
            #expect(received == progress.count)
            // The other way: the server does not read yet.
            let sent = Recorder<Int>()
            let all = Data(piece)
            for number in 0..<count { task.send(.data(all)) { _ in sent.append(number) } }
            try await session.settles(beside: bystander) { sent.count }
            #expect(sent.count < count)
            go.fire()
            for _ in 0..<count { _ = try await task.receive() }
            #expect(await sent.count(reaches: count) == Array(0..<count))
            task.cancel()
        }
    }

    /// A server that reads as fast as a client can send does not keep the client's loop from its sockets and timers.
    @Test func aLongMessageIsSentInTurns() async throws {
        let loop = EventLoop(name: "tunnel", idleConnections: IdleConnections(limit: 8))
        defer { loop.stop() }
        try await WebSocketServing.withTask(
            "http/1.1", on: loop,
            { socket in
                try socket.send("open")
                _ = try socket.receive()
            }
        ) { task, _, _ in
            task.resume()
            try await expect(task, "open")
            // The socket takes everything at once.
            let plan = FaultPlan(.send, .from(1), .skip)
            loop.attach(plan)
            let watch = SendWatch(plan, loop)
            loop.execute { watch.turnDidEnd() }
            // A turn sends at most one of the 16 pieces. The number of calls may differ by one from piece to piece.
            let sent: Result<Void, any Error>
            do { sent = .success(try await task.send(.data(Data(count: 16 * ByteStream.bytesInARow)))) } catch {
                sent = .failure(error)
            }
            // Also after an error: the watch would otherwise never stop.
            let most = await watch.end()
            try sent.get()
            #expect(most * 8 <= plan.count(of: .send), "\(most) of \(plan.count(of: .send))")
        }
    }

    /// The close frame of a cancelled task follows the bytes that the server has not taken yet.
    @Test func cancellingBeforeTheServerReads() async throws {
        let count = 1000
        let (go, told, sent) = (Signal(), Recorder<String>(), Recorder<Int>())
        let bystander = try LoopbackServer { _ in .text("") }
        defer { bystander.stop() }
        // The time to take the last bytes is never over.
        let loop = EventLoop.still()
        defer { loop.stop() }
        let route: LoopbackServer.Route = { request in
            .webSocket(request) { socket in
                try socket.request.exchange.wait(for: go)
                while let event = try socket.receive() {
                    if case .close(let code, _) = event { return told.append("\(code.rawValue)") }
                }
                told.append("lost")
            }
        }
        try await WebSocketServing.withSession("http/1.1", route, on: loop) { session, server in
            let task = session.webSocketTask(with: try WebSocketServing.url(server))
            task.resume()
            let piece = Data(count: 64 * 1024)
            for number in 0..<count { task.send(.data(piece)) { if $0 == nil { sent.append(number) } } }
            try await session.settles(beside: bystander) { sent.count }
            #expect(sent.count < count)
            task.cancel()
            // The loop has cancelled it once it answers this.
            _ = await session.allTasks
            go.fire()
            #expect(await told.element(at: 0) == "1001")
        }
    }

    /// A suspended task reads nothing.
    @Test(arguments: WebSocketServing.versions)
    func suspending(_ version: String) async throws {
        try await WebSocketServing.withTask(version, { try $0.echo() }) { task, recorder, _ in
            task.resume()
            try await task.send(.string("1"))
            try await expect(task, "1")
            task.suspend()
            task.resume()
            try await task.send(.string("2"))
            try await expect(task, "2")
            task.suspend()
            task.cancel(with: .normalClosure, reason: nil)
            #expect(await recorder.whole().last == "end -999")
        }
    }

    @Test func responsesThatGrantNothing() async throws {
        let accept = { @Sendable (request: ServerRequest) in
            WebSocketHandshake.accept(request.fields[.secWebSocketKey] ?? "")
        }
        let route: LoopbackServer.Route = { request in
            var response = ServerResponse(101, body: .tunnel { _ = try $0.read() })
            if request.path != "/upgrade" { response.fields.append(.upgrade, "websocket") }
            if request.path != "/connection" { response.fields.append(.connection, "upgrade") }
            if request.path != "/accept" { response.fields.append(.secWebSocketAccept, accept(request)) }
            if request.path == "/extension" { response.fields.append(.secWebSocketExtensions, "x-other") }
            return request.path == "/200" ? .text("hello") : response
        }
        try await WebSocketServing.withSession("http/1.1", route) { session, server in
            for path in ["/upgrade", "/connection", "/accept", "/extension", "/200"] {
                let task = session.webSocketTask(with: try WebSocketServing.url(server, path))
                task.resume()
                let code = await URLSessionWebSocketTask.code { _ = try await task.receive() }
                #expect(code == .badServerResponse, "\(path)")
                #expect(task.closeCode == .invalid)
            }
        }
    }

    /// Messages in the same packet as the response.
    @Test func messagesRightBehindTheHandshake() async throws {
        let acceptor = try ConnectionAcceptor(.ipv4(), stopping: Signal()) { socket, _ in
            var head = ""
            while !head.hasSuffix("\r\n\r\n"), let bytes = try? socket.read(), !bytes.isEmpty {
                head += String(decoding: bytes, as: UTF8.self)
            }
            let key = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("sec-websocket-key: ") }
            let accept = WebSocketHandshake.accept(String(key?.dropFirst(19) ?? ""))
            let response =
                [
                    "HTTP/1.1 101 Switching", "Upgrade: websocket", "Connection: upgrade",
                    "Sec-WebSocket-Accept: \(accept)",
                ].map { $0 + "\r\n" }.joined() + "\r\n"
            try? socket.write(Array(response.utf8) + [0x81, 0x02] + Array("hi".utf8) + [0x88, 0x00])
            try? socket.waitUntilPeerCloses()
            socket.close()
        }
        defer { acceptor.stop() }
        let session = makeSession()
        let port = try #require(acceptor.address.port)
        let task = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1:\(port)/")))
        task.resume()
        try await expect(task, "hi")
        await expectNotConnected { _ = try await task.receive() }
        #expect(task.closeCode == .noStatusReceived && task.error == nil)
    }
}

/// Counts the calls that send bytes in each turn of a loop.
private final class SendWatch: @unchecked Sendable {  // confined to the loop
    private let plan: FaultPlan
    private let loop: EventLoop
    private var (last, most) = (0, 0)
    private var isOver = false

    init(_ plan: FaultPlan, _ loop: EventLoop) {
        self.plan = plan
        self.loop = loop
    }

    func turnDidEnd() {
        let count = plan.count(of: .send)
        (last, most) = (count, max(most, count - last))
        if !isOver { loop.executeAtEndOfTurn { self.turnDidEnd() } }
    }

    /// Returns the largest number of calls in a turn.
    func end() async -> Int {
        await withCheckedContinuation { continuation in
            loop.execute {
                self.isOver = true
                // The count of this turn is noted before.
                self.loop.executeAtEndOfTurn { continuation.resume(returning: self.most) }
            }
        }
    }
}
