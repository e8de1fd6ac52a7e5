import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import LoadingKitTransport
import TestSupport
import Testing

/// Chat clients as programs have them: a loop that receives, a delegate that notes the close.
@Suite(.timeLimit(.minutes(5))) struct WebSocketOrderTests {
    static let rounds = 20
    static let messages = 5

    enum Ending: CaseIterable, Sendable { case server, program, lost }

    enum Receiver: CaseIterable, Sendable { case async, onMain, handler, several, slow, slowHandler, none }

    enum Queue: CaseIterable, Sendable {
        case own, serial, main, slow

        func make() -> OperationQueue? {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            return switch self {
            case .own: nil
            case .main: .main
            case .serial, .slow: queue
            }
        }
    }

    /// Gives other threads their turn.
    static func dawdle() { for _ in 0..<200 { sched_yield() } }

    final class Client: NSObject, URLSessionWebSocketDelegate {
        let events = Recorder<String>()
        let isSlow: Bool

        init(isSlow: Bool) { self.isSlow = isSlow }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            events.append("close \(closeCode.rawValue)")
            if isSlow { WebSocketOrderTests.dawdle() }
            events.append("told \(webSocketTask.closeCode.rawValue)")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.append("end \(error.map(WebSocketOrderTests.describe) ?? "-")")
        }

        func receive(_ task: URLSessionWebSocketTask, isSlow: Bool = false) async {
            do {
                while true {
                    note(try await task.receive(), of: task)
                    if isSlow { for _ in 0..<20 { await Task.yield() } }
                }
            } catch {
                events.append("failed \(WebSocketOrderTests.describe(error))")
            }
        }

        @MainActor func receiveOnMain(_ task: URLSessionWebSocketTask) async {
            do {
                while true { note(try await task.receive(), of: task) }
            } catch {
                events.append("failed \(WebSocketOrderTests.describe(error))")
            }
        }

        func receiveNext(_ task: URLSessionWebSocketTask, isSlow: Bool) {
            task.receive { [self] result in
                if isSlow { WebSocketOrderTests.dawdle() }
                switch result {
                case .success(let message):
                    note(message, of: task)
                    receiveNext(task, isSlow: isSlow)
                case .failure(let error): events.append("failed \(WebSocketOrderTests.describe(error))")
                }
            }
        }

        func note(_ message: URLSessionWebSocketTask.Message, of task: URLSessionWebSocketTask) {
            guard case .string(let text) = message else { return events.append("data") }
            if text == "ready" {
                return task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: 4002) ?? .goingAway, reason: nil)
            }
            events.append(text)
        }
    }

    /// As code does that runs on both systems.
    static func describe(_ error: any Error) -> String {
        let object = error as NSError
        guard object.domain == NSPOSIXErrorDomain else { return "\((error as? URLError)?.code.rawValue ?? 0)" }
        let isExpected = object.code == Int(ENOTCONN) && (error as? POSIXError)?.code == .ENOTCONN
        return isExpected ? "ENOTCONN" : "POSIX \(object.code)"
    }

    /// Frames in one write.
    private static func serve(_ ending: Ending, _ socket: ServerWebSocket) throws {
        var frames = (0..<messages).flatMap { [0x81, 1, UInt8(ascii: "0") &+ UInt8($0)] }
        switch ending {
        case .lost: try socket.tunnel.write(frames)
        case .server:
            try socket.tunnel.write(frames + [0x88, 2, 0x0f, 0xa1])
            _ = try socket.tunnel.read()
        case .program:
            frames += [0x88, 2, 0x0f, 0xa2]
            try socket.send("ready")
            // The close frame, which the messages come before the answer to.
            _ = try socket.tunnel.read()
            try socket.tunnel.write(frames)
        }
    }

    /// - Parameter goesOn: whether the program goes on receiving. Then the session's time stands still: it may take as long as
    ///   it likes.
    private static func withSession(
        isHTTP2: Bool = false, _ queue: OperationQueue? = nil, goesOn: Bool = true,
        server body: @escaping @Sendable (ServerWebSocket) throws -> Void,
        _ program: @escaping @Sendable (URLSession, URL) async throws -> Void
    ) async throws {
        var options = LoopbackServer.Options()
        options.speaksHTTP2 = isHTTP2
        let server = try LoopbackServer(options) { .webSocket($0, body) }
        defer { server.stop() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.assumesCleartextHTTP2 = isHTTP2
        let loop = EventLoop(name: "order", time: goesOn ? .manual(ManualTime()) : .system)
        defer { loop.stop() }
        let session = URLSession(configuration: configuration, delegate: nil, delegateQueue: queue, loop: loop)
        let url = try #require(URL(string: "ws" + server.url("/").drop { $0 != ":" }))
        try await withTimeout { try await program(session, url) }
    }

    private static func chat(
        _ session: URLSession, _ url: URL, _ ending: Ending, _ receiver: Receiver, isSlow: Bool
    ) async throws {
        let client = Client(isSlow: isSlow)
        let task = session.webSocketTask(with: url)
        task.delegate = client
        task.resume()
        switch receiver {
        case .async: await client.receive(task)
        case .onMain: await client.receiveOnMain(task)
        case .slow: await client.receive(task, isSlow: true)
        case .handler: client.receiveNext(task, isSlow: false)
        case .slowHandler: client.receiveNext(task, isSlow: true)
        case .several: for _ in 0..<messages + 2 { task.receive { client.finish($0, task) } }
        case .none: if ending == .program { client.note(try await task.receive(), of: task) }
        }
        let isEnd = { (event: String) in event.hasPrefix("end") }
        let failures = receiver == .none ? 0 : receiver == .several ? (ending == .program ? 1 : 2) : 1
        let events = await client.events.contents { events in
            events.contains(where: isEnd) && events.count { $0.hasPrefix("failed") } == failures
        }
        let texts = (0..<messages).map { "\($0)" }
        let (code, error) = (ending == .server ? 4001 : 4002, ending == .lost ? "-1005" : "ENOTCONN")
        var expected = receiver == .none ? [] : texts
        if ending != .lost { expected += ["close \(code)", "told \(code)"] }
        #expect(Array(events.prefix(expected.count)) == expected)
        // The other two tell of the end, each in its way.
        let end = ending == .lost ? "end -1005" : "end -"
        let rest = [end] + Array(repeating: "failed \(error)", count: failures)
        #expect(events.dropFirst(expected.count).sorted() == rest.sorted())
        guard receiver == .none else { return }
        await client.receive(task)
        #expect(client.events.snapshot.suffix(messages + 1) == texts + ["failed \(error)"])
    }

    @Test("messages, then the close, then the error", arguments: Ending.allCases, Receiver.allCases)
    func order(_ ending: Ending, _ receiver: Receiver) async throws {
        for queue in Queue.allCases {
            try await Self.withSession(
                queue.make(), goesOn: receiver != .none, server: { try Self.serve(ending, $0) }
            ) { session, url in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<Self.rounds {
                        group.addTask {
                            try await Self.chat(session, url, ending, receiver, isSlow: queue == .slow)
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// One at a time: the server serves one stream after the other.
    @Test("… also over HTTP/2", arguments: [Ending.server, .program], [Receiver.async, .handler, .slow])
    func orderOverHTTP2(_ ending: Ending, _ receiver: Receiver) async throws {
        try await Self.withSession(isHTTP2: true, server: { try Self.serve(ending, $0) }) { session, url in
            for _ in 0..<Self.rounds { try await Self.chat(session, url, ending, receiver, isSlow: false) }
        }
    }

    @Test("cancel() without a code fails a receive() with URLError.cancelled")
    func cancelling() async throws {
        try await Self.withSession(server: { try $0.echo() }) { session, url in
            let client = Client(isSlow: false)
            let task = session.webSocketTask(with: url)
            task.delegate = client
            task.resume()
            try await task.sendPing()
            async let received: Void = client.receive(task)
            task.cancel()
            await received
            let events = await client.events.contents { $0.count == 2 }
            #expect(events.sorted() == ["end -999", "failed -999"])
        }
    }

    @Test("a delegate that cancels the task in didCloseWith changes nothing", arguments: [false, true])
    func cancellingWhenClosed(_ hasCode: Bool) async throws {
        try await Self.withSession(server: { try Self.serve(.server, $0) }) { session, url in
            for _ in 0..<Self.rounds {
                let (client, delegate) = (Client(isSlow: false), CancellingDelegate(hasCode))
                let task = session.webSocketTask(with: url)
                task.delegate = delegate
                task.resume()
                await client.receive(task)
                #expect(delegate.events.snapshot.first == "close 4001")
                #expect(client.events.snapshot.last == "failed ENOTCONN")
                #expect(await delegate.events.count(reaches: 2) == ["close 4001", "end -"])
            }
        }
    }
}

extension WebSocketOrderTests {
    fileprivate final class CancellingDelegate: NSObject, URLSessionWebSocketDelegate {
        let hasCode: Bool
        let events = Recorder<String>()
        init(_ hasCode: Bool) { self.hasCode = hasCode }
        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            if hasCode { webSocketTask.cancel(with: .goingAway, reason: nil) } else { webSocketTask.cancel() }
            WebSocketOrderTests.dawdle()
            events.append("close \(closeCode.rawValue)")
        }
        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            events.append("end \(error.map(WebSocketOrderTests.describe) ?? "-")")
        }
    }
}

extension WebSocketOrderTests.Client {
    fileprivate func finish(
        _ result: Result<URLSessionWebSocketTask.Message, any Error>, _ task: URLSessionWebSocketTask
    ) {
        switch result {
        case .success(let message): note(message, of: task)
        case .failure(let error): events.append("failed \(WebSocketOrderTests.describe(error))")
        }
    }
}
