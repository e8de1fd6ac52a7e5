import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import loadkit

/// Runs the tool as a process that loads from a server.
@Suite(.timeLimit(.minutes(5))) struct ToolTests {
    private static let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &>> 3) })

    @Sendable private static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/hello": .text("hello\n")
        case "/empty": .text("")
        case "/large": .bytes(Array(large))
        case "/chunked": .stream { body in for piece in ["one ", "two\n"] { try body.write(piece) } }
        case "/gzip": try .gzip(Array("unfolded\n".utf8))
        case "/bad-gzip": .text("this is no gzip").adding("Content-Encoding", "gzip")
        case "/echo": .text("\(request.method) \(request.fields[name: "X-Test"] ?? "-") \(request.bodyText)\n")
        case "/agent": .text(request.fields[name: "User-Agent"] ?? "-")
        case "/old": .redirect(to: "/hello")
        case "/loop": .redirect(to: "/loop")
        case "/callback": .redirect(to: "myapp://callback?code=1")
        case "/elsewhere": .redirect(to: "ftp://localhost/")
        case "/short": .stream(.length(10)) { body in try body.write("12345") }
        case "/nothing": try request.exchange.closeAbruptly()
        case "/never": .stream { body in try body.waitUntilClientCloses() }
        case _: .text("nothing here\n", status: 404)
        }
    }

    /// Arguments (URLs begin with `/`), and the expected result.
    struct Case: Sendable {
        var arguments: [String]
        var input = ""
        var status: Int32 = 0
        var output: String?
        /// A part of standard error; nil where it is empty.
        var errors: String?
    }

    private static let helloHead =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 6\r\n\r\n"
    private static let redirectHead = "HTTP/1.1 302 Found\r\nLocation: /hello\r\nContent-Length: 0\r\n\r\n"

    static let cases: [Case] = [
        Case(arguments: ["/hello"], output: "hello\n"),
        Case(arguments: ["load", "/hello"], output: "hello\n"),
        Case(arguments: ["/hello", "/chunked", "data:,three"], output: "hello\none two\nthree"),
        Case(arguments: ["-j", "3", "/hello", "/chunked", "data:,three"], output: "hello\none two\nthree"),
        Case(arguments: ["/gzip"], output: "unfolded\n"),
        Case(arguments: ["-i", "/hello"], output: helloHead + "hello\n"),
        Case(arguments: ["-I", "/hello"], output: helloHead),
        Case(arguments: ["-i", "/old"], output: redirectHead + helloHead + "hello\n"),
        Case(arguments: ["-L", "/old"], output: "hello\n"),
        Case(arguments: ["-i", "--no-follow", "/old"], output: redirectHead),
        Case(
            arguments: ["-i", "--no-follow", "/callback"],
            output: redirectHead.replacingOccurrences(of: "/hello", with: "myapp://callback?code=1")),
        Case(arguments: ["/callback"], status: 1, output: "", errors: "loadkit: (1)"),
        Case(arguments: ["-d", "a=1", "-d", "b=2", "/echo"], output: "POST - a=1&b=2\n"),
        Case(arguments: ["-d", "@-", "/echo"], input: "typed\nin\n", output: "POST - typedin\n"),
        Case(arguments: ["-X", "PATCH", "-H", "X-Test: yes", "/echo"], output: "PATCH yes \n"),
        Case(arguments: ["-A", "me/2", "/agent"], output: "me/2"),
        Case(arguments: ["/404"], output: "nothing here\n"),
        Case(arguments: ["-f", "/404"], status: 22, output: "", errors: "(22) the server answered 404 Not Found\n"),
        Case(arguments: ["-f", "/404", "/hello"], status: 22, output: "hello\n", errors: "(22)"),
        Case(arguments: ["-s", "-f", "/404"], status: 22, output: ""),
        Case(arguments: ["-sSf", "/404"], status: 22, output: "", errors: "loadkit: (22)"),
        Case(arguments: ["/loop"], status: 47, output: "", errors: "loadkit: (47)"),
        Case(arguments: ["/elsewhere"], status: 1, output: "", errors: "loadkit: (1)"),
        Case(arguments: ["/short"], status: 18, output: "12345", errors: "loadkit: (18)"),
        Case(arguments: ["/nothing"], status: 52, output: "", errors: "loadkit: (52)"),
        Case(arguments: ["/bad-gzip"], status: 61, output: "", errors: "loadkit: (61)"),
        Case(arguments: ["--max-time", "0.2", "/never"], status: 28, output: "", errors: "loadkit: (28)"),
        Case(arguments: ["foo:bar"], status: 1, output: "", errors: "loadkit: (1)"),
        Case(arguments: ["http://"], status: 3, output: "", errors: "loadkit: (3)"),
        Case(arguments: ["file:///nonexistent/file"], status: 37, output: "", errors: "loadkit: (37)"),
        Case(
            arguments: ["-o", "missing/x", "/hello"], status: 23, output: "", errors: "(23) missing/x cannot be written"
        ),
        Case(arguments: ["--nonsense", "/hello"], status: 2, output: "", errors: "loadkit: (2) Unknown option"),
        Case(arguments: [], status: 2, output: "", errors: "loadkit: (2) there is no URL"),
        Case(arguments: ["--cacert", "missing", "/hello"], status: 77, output: "", errors: "loadkit: (77)"),
        Case(
            arguments: ["schemes"],
            output: """
                http+unix: https+unix: ws+unix: wss+unix:  interceptor UnixSocketURLs
                zip:                                       factory of zip:
                s3:                                        factory of s3:
                http: https:                               HTTPProtocolHandler
                file:                                      FileHandler
                data:                                      DataURLHandler
                ws: wss:                                   WebSocketHandler
                ftp: ftps:                                 FTPProtocolHandler

                """),
        Case(
            arguments: ["schemes", "data:,x"],
            output: """
                interceptor UnixSocketURLs: canIntercept(_:) is false
                factory of zip:: the scheme is not zip:
                factory of s3:: the scheme is not s3:
                HTTPProtocolHandler: canInit(with:) is false
                FileHandler: canInit(with:) is false
                DataURLHandler: loads it
                WebSocketHandler: not asked
                FTPProtocolHandler: not asked

                """),
        Case(arguments: ["--version"], output: "loadkit 0.1.0\n"),
    ]

    @Test(arguments: cases) func run(_ expected: Case) async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let arguments = expected.arguments.map { $0.hasPrefix("/") ? server.url($0) : $0 }
        let run = try await ToolRun(arguments, input: expected.input)
        #expect(run.status == expected.status)
        if let output = expected.output { #expect(run.text == output) }
        guard let errors = expected.errors else { return #expect(run.errors.isEmpty) }
        #expect(run.errors.contains(errors))
        // One plain line.
        #expect(run.errors.filter { $0 == "\n" }.count == 1 && run.errors.hasSuffix("\n"))
    }

    @Test func help() async throws {
        let run = try await ToolRun(["--help"])
        #expect(run.status == 0 && run.errors.isEmpty)
        for option in [
            "-o, --output", "-O, ", "-i, ", "-I, ", "-X, ", "-H, ", "-d, ", "--max-time", "--cacert", "-k, ",
            "--no-follow", "-v, ", "--timing", "-j, ", "-s, ", "-f, ", "-A, ", "loadkit schemes", "loadkit new-handler",
            "loadkit demo",
        ] {
            #expect(run.text.contains(option), "\(option)")
        }
    }

    @Test func refused() async throws {
        let run = try await ToolRun(["http://127.0.0.1:\(try RefusingPort.keepOne())/hello"])
        #expect(run.status == 7 && run.output.isEmpty && run.errors.contains("connection refused"))
    }

    // MARK: Files

    @Test func files() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write("what was there before, and is longer", to: "there")
        let run = try await ToolRun(
            ["-o", "there", server.url("/hello"), "-o", "empty", server.url("/empty"), server.url("/chunked")],
            folder: folder)
        #expect(run.status == 0 && run.text == "one two\n")
        #expect(try String(contentsOf: folder.file("there"), encoding: .utf8) == "hello\n")
        #expect(try Data(contentsOf: folder.file("empty")).isEmpty)
        let named = try await ToolRun(["-O", server.url("/large?a=/b"), server.url("/hello")], folder: folder)
        #expect(named.status == 0 && named.output.isEmpty)
        #expect(try Data(contentsOf: folder.file("large")) == Self.large)
        #expect(try folder.contents() == ["empty", "hello", "large", "there"])
        let mode =
            try FileManager.default.attributesOfItem(atPath: folder.file("large").path)[.posixPermissions] as? Int
        #expect(mode == 0o644 & ~Int(Self.currentMask()))
    }

    private static func currentMask() -> mode_t {
        let line = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?
            .split(separator: "\n").first { $0.hasPrefix("Umask:") }
        return line.flatMap { mode_t($0.dropFirst(6).trimmingCharacters(in: .whitespaces), radix: 8) } ?? 0
    }

    @Test func partialFileIsKept() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let run = try await ToolRun(["-O", server.url("/short")], folder: folder)
        #expect(run.status == 18)
        #expect(try String(contentsOf: folder.file("short"), encoding: .utf8) == "12345")
        // A load that fails before its body does not change the existing file.
        let refused = try await ToolRun(["-f", "-o", "short", server.url("/404")], folder: folder)
        #expect(refused.status == 22)
        #expect(try String(contentsOf: folder.file("short"), encoding: .utf8) == "12345")
    }

    // MARK: TLS

    @Test func trust() async throws {
        let authority = try CertificateAuthority()
        let server = try LoopbackServer(tls: try authority.issue(), route: Self.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        try folder.write(try CertificateAuthority().certificatePEM, to: "other.pem")
        let url = server.url("/hello", host: "localhost")
        let cases: [([String], Int32)] = [
            (["--cacert", "ca.pem"], 0), (["-k"], 0), ([], 60), (["--cacert", "other.pem"], 60),
        ]
        for (options, status) in cases {
            let run = try await ToolRun(options + [url], folder: folder)
            #expect(run.status == status && run.text == (status == 0 ? "hello\n" : ""), "\(options)")
        }
        let plain = try LoopbackServer(route: Self.answer)
        defer { plain.stop() }
        let run = try await ToolRun(["-k", plain.url("/hello").replacing("http:", with: "https:")])
        #expect(run.status == 35)
        let verbose = try await ToolRun(["-v", "--cacert", "ca.pem", url], folder: folder)
        let parts = [
            "> GET /hello HTTP/1.1\n> Host: localhost:", "< HTTP/1.1 200 OK\n", "* connected to 127.0.0.1 port ",
            "* TLSv1.3, cipher TLS_", ", http/1.1\n",
        ]
        for part in parts { #expect(verbose.errors.contains(part), "\(part)") }
        #expect(verbose.text == "hello\n")
    }

    /// `-v` shows the negotiated protocol; `-vv` also its frames.
    @Test func http2() async throws {
        let authority = try CertificateAuthority()
        let tls = TLSServerOptions(try authority.issue(), applicationProtocols: ["h2"])
        let server = try LoopbackServer(LoopbackServer.Options(tls: tls), route: Self.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        try folder.write(authority.certificatePEM, to: "ca.pem")
        let url = server.url("/hello", host: "localhost")
        let run = try await ToolRun(["-v", "--cacert", "ca.pem", url], folder: folder)
        #expect(
            run.text == "hello\n" && run.errors.contains(", h2\n") && run.errors.contains("< HTTP/2 200\n")
                && !run.errors.contains("HTTP/2 >"))
        let frames = try await ToolRun(["-vv", "--cacert", "ca.pem", url], folder: folder)
        let parts = [
            "* HTTP/2 > SETTINGS stream 0, ", "* HTTP/2 < SETTINGS stream 0, 0 bytes ACK\n",
            "* HTTP/2 > HEADERS stream 1, ", " bytes END_STREAM END_HEADERS\n", "* HTTP/2 < DATA stream 1, 6 bytes",
        ]
        for part in parts { #expect(frames.errors.contains(part), "\(part): \(frames.errors)") }
    }

    // MARK: Displays

    @Test func timing() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let run = try await ToolRun(["--timing", server.url("/old"), server.url("/hello")])
        #expect(run.text == "hello\nhello\n")
        let lines = run.errors.split(separator: "\n").map(String.init)
        let words = lines.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        // The first connection is made once; the redirect and the second URL reuse it.
        #expect(words.filter { $0 == "connect" }.count == 1 && words.filter { $0 == "GET" }.count == 3)
        #expect(lines.filter { $0.hasSuffix(", reused connection") }.count == 2)
        #expect(lines.allSatisfy { $0.count < 80 } && !run.errors.contains("\u{1b}"))
    }

    /// The members of `--timing-json`. Times are milliseconds since the start of the first load.
    private struct Timing: Decodable {
        struct Span: Decodable {
            let start: Double
            let duration: Double
        }
        struct Transaction: Decodable {
            let method: String
            let url: String
            let status: Int?
            let httpVersion: String?
            let address: String?
            let port: Int?
            let isReused: Bool
            let start: Double
            let duration: Double
            let phases: [String: Span]
        }
        let url: String
        let exitCode: Int32
        let start: Double
        let duration: Double
        let transactions: [Transaction]
    }

    @Test func timingAsJSON() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let run = try await ToolRun(
            ["--timing-json", "t.json", server.url("/old"), server.url("/nothing"), "data:,x"], folder: folder)
        #expect(run.status == 52 && run.text == "hello\nx")
        let loads = try JSONDecoder().decode([Timing].self, from: Data(contentsOf: folder.file("t.json")))
        #expect(loads.map(\.url) == [server.url("/old"), server.url("/nothing"), "data:,x"])
        #expect(loads.map(\.exitCode) == [0, 52, 0] && loads.first?.start == 0)
        // One load begins after the other.
        for (one, next) in zip(loads, loads.dropFirst()) { #expect(next.start >= one.start + one.duration) }
        let first = try #require(loads.first).transactions
        #expect(first.map(\.status) == [302, 200] && first.map(\.isReused) == [false, true])
        #expect(first.map(\.url) == [server.url("/old"), server.url("/hello")])
        for transaction in first {
            #expect(transaction.method == "GET" && transaction.httpVersion == "http/1.1")
            #expect(transaction.address == "127.0.0.1" && transaction.port.map { UInt16($0) } == server.address.port)
            let (wait, receive) = (
                try #require(transaction.phases["wait"]), try #require(transaction.phases["receive"])
            )
            #expect(receive.start >= wait.start && wait.start >= transaction.start && transaction.duration > 0)
        }
        #expect(first[0].phases["connect"] != nil && first[1].phases["connect"] == nil)
        // A failure that is known only after the body.
        let failed = try await ToolRun(
            ["--fail-with-body", "--timing-json", "f.json", server.url("/404"), "data:,x"], folder: folder)
        #expect(failed.status == 22 && failed.text == "nothing here\nx")
        let codes = try JSONDecoder().decode([Timing].self, from: Data(contentsOf: folder.file("f.json")))
        #expect(codes.map(\.exitCode) == [22, 0])
        // Standard output is a file, too.
        let output = try await ToolRun(["--timing-json", "-", "data:,x"])
        #expect(output.text.hasPrefix("x[{\"duration\":") && output.text.hasSuffix("]\n") && output.errors.isEmpty)
    }

    /// A server whose bodies stay at half of their length until the test has seen that.
    private static func halfway(_ seen: Signal) throws -> LoopbackServer {
        try LoopbackServer { _ in
            .stream(.length(10)) { body in
                try body.write("12345")
                try body.wait(for: seen)
                try body.write("67890")
            }
        }
    }

    /// Parallel loads have a line each, and one for all. `-#` displays only bars.
    @Test(.enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing), arguments: [false, true])
    func progressOfSeveral(_ isBar: Bool) async throws {
        let seen = Signal()
        let server = try Self.halfway(seen)
        defer { server.stop() }
        let terminal = try PseudoTerminal()
        terminal.setSize(columns: 70, lines: 24)
        let folder = try TemporaryFolder()
        async let run = ToolRun(
            ["-Z", "-O", server.url("/a"), server.url("/b")] + (isBar ? ["-#"] : []), folder: folder,
            errorOutput: terminal.far)
        // The terminal makes CR LF of LF.
        let bar = ProgressLine(label: "", received: 5, expected: 10, seconds: 1, isBar: true).text(width: 69)
        let bars = [bar, bar, bar].joined(separator: "\r\n")
        let (shown, next) = try await onThread {
            (
                try terminal.read(until: isBar ? bars : "10 B of 20 B"),
                // Each picture replaces the previous one.
                try terminal.read(until: "\r\u{1b}[2A\u{1b}[J\u{1b}[?7l")
            )
        }
        // The tool would wait for a terminal that nobody reads.
        let end = "<the end>"
        async let rest = onThread { try terminal.read(until: end) }
        seen.fire()
        #expect(try await run.status == 0 && !next.isEmpty)
        try terminal.far.write(contentsOf: Data(end.utf8))
        _ = try await rest
        if !isBar {
            let picture = shown.components(separatedBy: "\u{1b}[?7l").last ?? ""
            let lines = picture.components(separatedBy: "\r\n")
            #expect(lines.count == 3 && lines.filter { $0.contains("5 B of 10 B") }.count == 2, "\(lines)")
            #expect(lines.last?.hasPrefix("2 of 2 loads  ") == true && lines.allSatisfy { $0.contains("50 %") })
        }
        #expect(try folder.contents() == ["a", "b"])
    }

    /// A terminal displays the progress of a load that takes longer than half a second.
    @Test(.enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing)) func progress() async throws {
        let seen = Signal()
        let server = try Self.halfway(seen)
        defer { server.stop() }
        let terminal = try PseudoTerminal()
        let folder = try TemporaryFolder()
        async let run = ToolRun(["-o", "x", server.url("/body")], folder: folder, errorOutput: terminal.far)
        let shown = try await onThread { try terminal.read(until: "5 B of 10 B") }
        seen.fire()
        #expect(try await run.status == 0)
        #expect(shown.contains("50 %"))
        #expect(try String(contentsOf: folder.file("x"), encoding: .utf8) == "1234567890")
    }

    // MARK: Output

    @Test func readerThatGoesAway() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let run = try await ToolRun([server.url("/large")], standardOutput: pipe.fileHandleForWriting)
        #expect(run.status == 23 && run.errors.isEmpty)
        // The second body is larger than the limit for waiting bytes, and the first load's text cannot be written.
        let several = try await ToolRun(
            ["-w", "%{http_code}", "-o", "/dev/null", server.url("/hello"), server.url("/large")],
            standardOutput: pipe.fileHandleForWriting)
        #expect(several.status == 23 && several.errors.isEmpty)
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let other = try await ToolRun([server.url("/hello")], standardOutput: full)
        #expect(other.status == 23 && other.errors.contains("No space left on device"))
    }

    /// A closed pipe is no failure: its reader has what it wanted.
    @Test(arguments: [
        ["schemes"], ["schemes", "http://localhost/"], ["manual"], ["completions", "bash"], ["--help"], ["--version"],
    ])
    func textThatCannotBeWritten(_ arguments: [String]) async throws {
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let run = try await ToolRun(arguments, standardOutput: full)
        #expect(run.status == 23 && run.errors.contains("No space left on device"), "\(run.errors)")
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let other = try await ToolRun(arguments, standardOutput: pipe.fileHandleForWriting)
        #expect(other.status == 0 && other.errors.isEmpty, "\(other.errors)")
    }

    /// A stream that is closed is not the next descriptor that the tool opens.
    @Test func standardStreamsThatAreClosed() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let rows: [(arguments: [String], status: Int32)] = [([], 23), (["-o", "file"], 0), (["-d", "@-"], 26)]
        for (arguments, status) in rows {
            let process = try ChildProcess(
                "/bin/sh",
                ["-c", #"exec "$0" "$@" <&- >&- 2>&-"#, try ProgramRun.executable("loadkit"), server.url("/large")]
                    + arguments,
                folder: folder.path)
            #expect(try await onThread { process.waitForExit() } == status, "\(arguments)")
        }
        #expect(try Data(contentsOf: folder.file("file")) == Self.large)
    }

    /// The second response comes first, and is larger than the limit for waiting bytes: its load is suspended until its turn.
    @Test func severalAtOnce() async throws {
        let second = Signal()
        let server = try LoopbackServer { request in
            guard request.path == "/first" else {
                second.fire()
                return .bytes(Array(Self.large))
            }
            try request.exchange.wait(for: second)
            return .text("first\n")
        }
        defer { server.stop() }
        let run = try await ToolRun(["-j", "2", server.url("/first"), server.url("/second")])
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(run.output == Data("first\n".utf8) + Self.large)
    }

    // MARK: The demo

    /// The program's second run may get the download's end before it has asked for its tasks.
    @Test func aTaskOfTheDemoIsFoundByItsEnd() throws {
        let (folder, lines) = (try TemporaryFolder(), Recorder<String>())
        let file = try folder.write("whole", to: "part")
        let delegate = BackgroundDemoDelegate(folder: folder.url) { lines.append($0) }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        let task = session.downloadTask(with: try #require(URL(string: "http://127.0.0.1:1/large")))
        delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: file)
        delegate.find(task)
        #expect(lines.snapshot == ["found http://127.0.0.1:1/large", "done \(folder.url.path)/large"])
    }

    @Test func demo() async throws {
        let run = try await ToolRun(["demo"])
        #expect(run.status == 0 && run.errors.isEmpty)
        for name in [
            "data:", "file:", "http:", "http: keep-alive", "http: chunked", "http: gzip", "http: redirect",
            "http: an error page", "http: refused", "https:", "https: keep-alive", "https: not trusted",
            "a scheme of your own", "a background download",
        ] {
            #expect(run.text.contains("  \(name)\n"), "\(name)")
        }
        for part in [
            "resolve", "connect", "TLS", "wait", "receive", "15 loads over 5 schemes", "all went as they should",
            "a program begins it, and is killed when", "finds its task: http://", "2.1 MB, by one request",
        ] {
            #expect(run.text.contains(part), "\(part)")
        }
        #expect(
            !run.text.contains("\u{1b}")
                && run.text.split(separator: "\n").allSatisfy { !$0.contains("█") || $0.count < 80 })
    }
}
