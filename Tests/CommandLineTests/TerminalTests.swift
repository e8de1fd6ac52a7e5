import Foundation
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import loadkit

/// Runs the tool with a terminal as its standard output.
@Suite(.timeLimit(.minutes(5)), .enabled(if: PseudoTerminal.isAvailable, PseudoTerminal.missing))
struct TerminalTests {
    private static let hostile = "a\u{1b}[31m\u{7}\u{9b}b\rc\u{202e}d\r\n\tend\n"
    private static let shownHostile = "a\\u001b[31m\\u0007\\u009bb\\u000dc\\u202ed\n\tend\n"
    private static let json = #"{"b":1.0,"a":["x",null]}"#
    private static let laidOutJSON = "{\n  \"b\": 1.0,\n  \"a\": [\n    \"x\",\n    null\n  ]\n}\n"
    private static let colouredJSON =
        "{\n  \u{1b}[36m\"b\"\u{1b}[0m: \u{1b}[33m1.0\u{1b}[0m,\n  \u{1b}[36m\"a\"\u{1b}[0m: [\n"
        + "    \u{1b}[32m\"x\"\u{1b}[0m,\n    \u{1b}[35mnull\u{1b}[0m\n  ]\n}\n"
    private static let binary: [UInt8] = [0x61, 0, 0x62]
    private static let image: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 7, 0, 0, 0, 9]

    @Sendable private static func answer(_ request: ServerRequest) throws -> ServerResponse {
        switch request.path {
        case "/json": .bytes(Array(json.utf8), type: "application/json")
        case "/invalid": .bytes(Array("{\"a\":\u{7}}".utf8), type: "application/json")
        case "/xml": .bytes(Array("<a><b c=\"d\">e</b></a>".utf8), type: "application/xml")
        case "/html": .bytes(Array("<p>x</p>\n".utf8), type: "text/html")
        case "/hostile": .text(hostile)
        case "/head": .text("x\n").adding("X-Hostile", "a\u{9b}b\u{202e}c")
        case "/binary": .bytes(binary)
        case "/image": .bytes(image, type: "image/png")
        case _: .text("nothing here\n", status: 404)
        }
    }

    /// Arguments (URLs begin with `/`), and what the terminal shows.
    struct Case: Sendable {
        var arguments: [String]
        var environment: [String: String] = [:]
        /// Line breaks are LF; nil for any.
        var shown: String?
        var parts: [String] = []
        var status: Int32 = 0
        /// A part of standard error; nil where it is empty.
        var errors: String?
    }

    static let cases: [Case] = [
        Case(arguments: ["/json"], shown: colouredJSON),
        Case(arguments: ["/json"], environment: ["NO_COLOR": "1"], shown: laidOutJSON),
        Case(arguments: ["/json"], environment: ["TERM": "dumb"], shown: laidOutJSON),
        Case(arguments: ["--color", "never", "/json"], shown: laidOutJSON),
        Case(arguments: ["--color=always", "/json"], environment: ["NO_COLOR": "1"], shown: colouredJSON),
        Case(arguments: ["-N", "/json"], shown: json),
        Case(arguments: ["/invalid"], shown: "{\"a\":\\u0007}"),
        Case(
            arguments: ["/xml"],
            shown: "\u{1b}[36m<a\u{1b}[0m\u{1b}[36m>\u{1b}[0m\n  \u{1b}[36m<b\u{1b}[0m \u{1b}[33mc\u{1b}[0m="
                + "\u{1b}[32m\"d\"\u{1b}[0m\u{1b}[36m>\u{1b}[0me\u{1b}[36m</b\u{1b}[0m\u{1b}[36m>\u{1b}[0m\n"
                + "\u{1b}[36m</a\u{1b}[0m\u{1b}[36m>\u{1b}[0m\n"),
        Case(arguments: ["--color", "never", "/html"], shown: "<p>x</p>\n"),
        Case(arguments: ["/html"], parts: ["\u{1b}[36m<p\u{1b}[0m"]),
        Case(arguments: ["/hostile"], shown: shownHostile),
        Case(arguments: ["-j2", "/hostile", "/hostile"], shown: shownHostile + shownHostile),
        Case(arguments: ["-i", "/head"], parts: ["HTTP/1.1 \u{1b}[32m200 OK\u{1b}[0m\n", "b\\u202ec\n", "\n\nx\n"]),
        Case(arguments: ["-D-", "--color=never", "/head"], parts: ["HTTP/1.1 200 OK\n", "\\u009bb\\u202ec\n"]),
        Case(
            arguments: ["-w", "%header{x-hostile}%{header_json}\u{1b}[0m", "/head"], parts: ["b\\u202ec{", "\u{1b}[0m"]),
        Case(arguments: ["data:,a%1b%5b31mb%E2%80%AE"], shown: "a\\u001b[31mb\\u202e"),
        // Binary bodies.
        Case(
            arguments: ["/binary"], shown: "", status: 23,
            errors: "(23) the body is binary (application/octet-stream, 3 bytes)"),
        Case(arguments: ["/image"], shown: "", status: 23, errors: "a PNG image of 7 × 9 pixels, 24 bytes"),
        Case(arguments: ["-s", "/image"], shown: "", status: 23),
        Case(arguments: ["/image", "/json", "--color=never"], shown: laidOutJSON, status: 23, errors: "(23)"),
        Case(arguments: ["-o", "-", "/binary"], shown: "a\0b"),
        Case(arguments: ["--output", "-", "/json"], shown: json),
        Case(arguments: ["-o", "/dev/null", "/binary"], shown: ""),
    ]

    @Test(arguments: cases) func run(_ expected: Case) async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let arguments = expected.arguments.map { $0.hasPrefix("/") && $0 != "/dev/null" ? server.url($0) : $0 }
        let (run, shown) = try await Self.run(arguments, expected.environment)
        #expect(run.status == expected.status, "\(run.errors)")
        if let text = expected.shown { #expect(shown == text) }
        for part in expected.parts { #expect(shown.contains(part), "\(part): \(shown)") }
        if let errors = expected.errors { #expect(run.errors.contains(errors)) } else { #expect(run.errors.isEmpty) }
    }

    /// The run, and what its terminal was sent, with LF for the terminal's line breaks.
    static func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> (ToolRun, String) {
        let terminal = try PseudoTerminal()
        let end = "<the end>"
        async let shown = onThread { try terminal.read(until: end) }
        let run = try await ToolRun(
            arguments, standardOutput: terminal.far,
            environment: ["TERM": "xterm", "NO_COLOR": ""].merging(environment) { $1 })
        try terminal.far.write(contentsOf: Data(end.utf8))
        // The terminal makes CR LF of LF.
        let text = try await shown.replacing("\r\r\n", with: "\n").replacing("\r\n", with: "\n")
        return (run, text.replacing(end, with: ""))
    }

    /// A file or a pipe gets the bytes that the server sent, unless colours are forced.
    @Test func otherOutputsAreUntouched() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let bodies: [(String, [UInt8])] = [
            ("/json", Array(Self.json.utf8)), ("/hostile", Array(Self.hostile.utf8)), ("/binary", Self.binary),
            ("/image", Self.image), ("/html", Array("<p>x</p>\n".utf8)),
        ]
        for (path, body) in bodies {
            let run = try await ToolRun([server.url(path)])
            #expect(run.status == 0 && Array(run.output) == body && run.errors.isEmpty, "\(path)")
        }
        let forced = try await ToolRun(["--color=always", server.url("/json"), server.url("/binary")])
        #expect(forced.status == 0 && forced.text == Self.colouredJSON + "a\0b")
        let head = try await ToolRun(["-i", server.url("/head")])
        #expect(head.text.contains("\u{202e}") && !head.text.contains("\\u202e"))
    }

    /// `-v` on a terminal, and an error that names a hostile file.
    @Test func errorsOnATerminal() async throws {
        let server = try LoopbackServer(route: Self.answer)
        defer { server.stop() }
        let terminal = try PseudoTerminal()
        async let shown = onThread { try terminal.read(until: "cannot be written") }
        let run = try await ToolRun(
            ["-v", server.url("/head"), "-o", "missing/\u{1b}[31m\u{202e}"], errorOutput: terminal.far,
            environment: ["TERM": "xterm", "NO_COLOR": ""])
        let text = try await shown.replacing("\r\n", with: "\n")
        #expect(run.status == 23)
        for part in [
            "> \u{1b}[1mGET /head HTTP/1.1\u{1b}[0m\n> \u{1b}[36mHost\u{1b}[0m: ",
            "< HTTP/1.1 \u{1b}[32m200 OK\u{1b}[0m\n",
            "b\\u202ec\n", "missing/\\u001b[31m\\u202e cannot",
        ] {
            #expect(text.contains(part), "\(part): \(text)")
        }
    }
}
