import Foundation
import LoadingKitLoopbackServer
import LoadingKitWebSocket
import TestSupport
import Testing

@testable import loadkit

/// Conversations of the tool with a WebSocket server.
@Suite(.timeLimit(.minutes(5))) struct ConversationTests {
    private static func server(
        _ body: @escaping @Sendable (ServerWebSocket) throws -> Void
    ) throws -> (LoopbackServer, url: String) {
        let server = try LoopbackServer { request in
            request.path == "/chat" ? .webSocket(request, body) : .text("nothing here\n", status: 404)
        }
        return (server, server.url("/chat").replacing("http:", with: "ws:"))
    }

    /// Lines are messages. The end of standard input closes the connection, after the answers.
    @Test func lines() async throws {
        let events = Recorder<String>()
        let (server, url) = try Self.server { socket in
            while let event = try socket.receive() {
                switch event {
                case .text(let text):
                    events.append(text)
                    try socket.send("<\(text)>")
                case .close(let code, _): return events.append("\(code.rawValue)")
                case .binary, .ping, .pong: break
                }
            }
        }
        defer { server.stop() }
        let run = try await ToolRun([url], input: "one\n\ntwo é")
        #expect(run.status == 0 && run.text == "<one>\n<>\n<two é>\n" && run.errors.isEmpty, "\(run.errors)")
        #expect(await events.count(reaches: 4) == ["one", "", "two é", "1000"])
        let folder = try TemporaryFolder()
        let file = try await ToolRun(["-v", "-o", "x", url], input: "one\n", folder: folder)
        #expect(file.status == 0 && file.errors.contains("< HTTP/1.1 101 Switching Protocols\n"))
        #expect(try String(contentsOf: folder.file("x"), encoding: .utf8) == "<one>\n")
    }

    /// The server's close, and the exit code. Standard input stays open.
    static let closes: [(WebSocketCloseCode, String, Int32, String)] = [
        (.normalClosure, "bye\u{1b}", 0, "* the server closed the connection: 1000 bye\\u001b\n"),
        (.goingAway, "", 0, "* the server closed the connection: 1001\n"),
        (.internalServerError, "broken", 56, "loadkit: (56) the server closed the connection: 1011 broken\n"),
        (.policyViolation, "", 56, "loadkit: (56) the server closed the connection: 1008\n"),
    ]

    @Test(arguments: closes)
    func close(_ code: WebSocketCloseCode, _ reason: String, _ status: Int32, _ errors: String) async throws {
        let (server, url) = try Self.server { socket in
            try socket.send("hello")
            try socket.send([0, 1, 0x1b])
            try socket.close(code, reason)
            while try socket.receive() != nil {}
        }
        defer { server.stop() }
        let pipe = Pipe()
        let run = try await ToolRun([url], standardInput: pipe.fileHandleForReading)
        try pipe.fileHandleForWriting.close()
        #expect(run.status == status && run.errors == errors)
        #expect(run.output == Data("hello\n\0\u{1}\u{1b}".utf8))
    }

    /// A connection that is lost is a failure.
    @Test func loss() async throws {
        let (server, url) = try Self.server { socket in try socket.send("hello") }
        defer { server.stop() }
        let pipe = Pipe()
        let run = try await ToolRun([url], standardInput: pipe.fileHandleForReading)
        try pipe.fileHandleForWriting.close()
        #expect(run.status != 0 && run.text == "hello\n" && run.errors.hasPrefix("loadkit: ("))
    }

    /// Its lines cannot be read again.
    @Test func lossIsNotRepeated() async throws {
        let openings = Recorder<String>()
        let (server, url) = try Self.server { socket in
            openings.append(socket.request.path)
            if openings.count > 1 { try socket.close(.normalClosure) }
            _ = try socket.receive()
        }
        defer { server.stop() }
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("one\ntwo\nthree\n".utf8))
        let run = try await ToolRun(
            ["--retry", "1", "--retry-all-errors", "--retry-delay", "0.01", url],
            standardInput: pipe.fileHandleForReading)
        try pipe.fileHandleForWriting.close()
        #expect(run.status == 18 && run.errors.hasPrefix("loadkit: (18) "), "\(run.errors)")
        #expect(openings.count == 1)
    }

    /// A directory can be opened, and not read.
    @Test func inputThatCannotBeRead() async throws {
        let (server, url) = try Self.server { socket in while try socket.receive() != nil {} }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(descriptor >= 0)
        let directory = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let run = try await ToolRun([url], standardInput: directory)
        let reason = "loadkit: (26) standard input cannot be read: Is a directory\n"
        #expect(run.status == 26 && run.errors == reason, "\(run.errors)")
    }

    /// Nothing was read from standard input.
    @Test func refusalIsRepeated() async throws {
        let run = try await ToolRun(
            ["-s", "--retry", "1", "--retry-connrefused", "--retry-delay", "0.01", "-w", "%{num_retries}"]
                + ["ws://127.0.0.1:1/chat"], input: "one\n")
        #expect(run.status == 7 && run.text == "1", "\(run.errors)")
    }

    @Test(.enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing)) func terminal() async throws {
        let (server, url) = try Self.server { socket in
            try socket.send("a\u{1b}[31m\u{202e}")
            try socket.send([0, 1, 2])
            while try socket.receive() != nil {}
        }
        defer { server.stop() }
        let (run, shown) = try await TerminalTests.run([url])
        #expect(run.status == 0 && shown == "a\\u001b[31m\\u202e\n(a binary message of 3 bytes)\n", "\(run.errors)")
    }

    @Test func interruption() async throws {
        let (opened, events) = (Signal(), Recorder<Int>())
        let (server, url) = try Self.server { socket in
            while let event = try socket.receive() {
                if case .close(let code, _) = event { return events.append(Int(code.rawValue)) }
                opened.fire()
            }
        }
        defer { server.stop() }
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("hello\n".utf8))
        let process = try ChildProcess(
            try ProgramRun.executable("loadkit"), [url], streams: .init(input: pipe.fileHandleForReading.fileDescriptor)
        )
        await opened.wait()
        process.interrupt()
        #expect(try await onThread { process.waitForExit() } == 0)
        #expect(await events.count(reaches: 1) == [1001])
        try pipe.fileHandleForWriting.close()
    }

    @Test func refusals() async throws {
        let (server, url) = try Self.server { _ in }
        defer { server.stop() }
        let refused = try await ToolRun([url.replacing("/chat", with: "/none")])
        #expect(refused.status == 22 && refused.errors.contains("opens no WebSocket: 404 Not Found"))
        for arguments in [[url, url], [url, "--next", url], ["-d", "x", url]] {
            let run = try await ToolRun(arguments)
            #expect(run.status == 2 && run.output.isEmpty, "\(arguments)")
        }
    }
}
