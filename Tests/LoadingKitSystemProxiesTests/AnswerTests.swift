import Foundation
import LoadingKit
import LoadingKitLoopbackServer
import TestSupport
import Testing

@testable import LoadingKitSystemProxies

/// The results of scripts and of libproxy, without running either.
@Suite(.usesPeers) struct AnswerTests {
    private static let four = ProxyChoice(.http, host: "p", port: 80)

    @Test(arguments: [
        ("DIRECT", [ProxyChoice.direct]), ("", [.direct]), (" ; ", [.direct]),
        (
            "PROXY a:1; SOCKS5 B:2; DIRECT",
            [ProxyChoice(.http, host: "a", port: 1), ProxyChoice(.socks5, host: "b", port: 2), .direct]
        ),
        ("proxy p", [four]), ("HTTPS p", [ProxyChoice(.https, host: "p", port: 443)]),
        ("SOCKS [::1]:9;PROXY p:80", [ProxyChoice(.socks5, host: "::1", port: 9), four]),
        ("SOCKS4 s", [ProxyChoice(.socks4, host: "s", port: 1080)]),
        ("QUIC q:1; PROXY p:80", [four]), ("PROXY p:0; PROXY p:99999; PROXY p:x; PROXY [::1; PROXY p", [four]),
    ]) func scriptsNameWays(_ text: String, _ choices: [ProxyChoice]) throws {
        #expect(try ScriptAnswer.choices(text) == choices)
    }

    @Test(arguments: ["undefined", "PROXY", "QUIC q:1", "PROXY a b", "DIRECT 1"])
    func whatNamesNoWayIsAnError(_ text: String) {
        #expect(throws: SystemProxyError.unusableChoices(text)) { try ScriptAnswer.choices(text) }
    }

    /// Errors name addresses without user and password, also where these make the address invalid.
    @Test func errorsShowNoPasswords() throws {
        let url = try #require(URL(string: "http://h.example:80"))
        let coded = "!Error: http://u:s3@p".utf8.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
        func settings(_ output: CommandOutput) -> () throws -> Void { { _ = try LibproxySettings(output) } }
        let cases: [(String, () throws -> Void)] = [
            (
                "http://(redacted)@p:1, without the settings",
                settings(CommandOutput(text: "http://u:s3@p:1\n", status: 0))
            ),
            (
                "http://(redacted)@p:1, without the settings",
                settings(CommandOutput(text: "http://u:s3;s3@p:1\n", status: 0))
            ),
            ("(http://(redacted)@p:x)", settings(Version.four.output(["http://u:s3@p:x"], "http://u:s3@p:x\n"))),
            ("(http://(redacted)@p:1)", settings(Version.five.output([], "http://u:s3/s3#s3@s3@p:1\n"))),
            ("= http://(redacted)@p:1", settings(Version.five.output(["http://u:s3@p:1"], ""))),
            ("script //(redacted)@s/p.pac could", settings(Version.four.output(["pac+//u:s3@s/p.pac"], ""))),
            (
                "with the text: no way to http://(redacted)@\u{301}p",
                settings(CommandOutput(errors: "no way to http://u:s3@\u{301}p\n", status: 256))
            ),
            ("(QUIC (redacted)@q:1;QUIC r:1)", { _ = try ScriptAnswer.choices("QUIC u:s3@q:1;QUIC r:1") }),
            (
                "(Error: http://(redacted)@p)",
                {
                    let output = CommandOutput(text: "http://loadingkit\(coded):1\n", status: 0)
                    _ = try ScriptProgram("", for: url).answer(in: output)
                }
            ),
        ]
        for (words, fail) in cases {
            let thrown = #expect(throws: SystemProxyError.self) { try fail() }
            let error = thrown?.withoutUsers
            let text = error?.description ?? ""
            #expect(text.contains(words) && !"\(String(reflecting: error))\(text)".contains("s3"), "\(text)")
        }
    }

    /// All errors leave by one function.
    @Test func errorsLeaveWithoutPasswords() async throws {
        let folder = try TemporaryFolder()
        try folder.writeProgram("#!/bin/sh\necho 'http://u:s3;s3@p:1'\n", to: "proxy")
        var options = SystemProxies.Options()
        options.environment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]
        options.timeLimit = 100
        options.commandPaths = [folder.file("proxy").path]
        let (proxies, query) = (SystemProxies(options), try Libproxy.query())
        let error = await #expect(throws: SystemProxyError.self) { try await proxies.proxies(for: query) }
        let text = error?.description ?? ""
        #expect(text.contains("http://(redacted)@p:1, without the settings"), "\(text)")
    }

    /// The errors of a script that cannot be loaded have its URL, or that of a redirect.
    @Test func errorsOfLoadingLeaveWithoutPasswords() async throws {
        let port = try RefusingPort()
        let gone = "http://u:secret@127.0.0.1:\(port.number)/p.pac"
        let server = try LoopbackServer { _ in .redirect(to: gone) }
        defer { server.stop() }
        for script in [gone, server.url("/moved")] {
            let query = try Libproxy.query("http://h.example:80", .url(try #require(URL(string: script))))
            try await withTimeout {
                let proxies = SystemProxies(SystemProxies.Options())
                let thrown = await #expect(throws: URLError.self) { try await proxies.proxies(for: query) }
                let error = try #require(thrown)
                #expect(error.userInfo[NSURLErrorFailingURLErrorKey] is URL)
                #expect(!"\(error.userInfo)\(error.localizedDescription)".contains("secret"), "\(error.userInfo)")
            }
        }
        withExtendedLifetime(port) {}
    }

    /// The output of libproxy's command for settings, by version.
    enum Version: String, CaseIterable, Sendable {
        case four = "0.4", five = "0.5"

        func output(_ entries: [String], _ answer: String) -> CommandOutput {
            switch self {
            case .four:
                CommandOutput(
                    text: answer, errors: "Config is: \n" + entries.map { "\t\($0)\n" }.joined(), status: 0)
            case .five:
                CommandOutput(
                    text: Self.debug(
                        ["url=http://h.example:80 online=1"] + entries.enumerated().map { "Config[\($0)] = \($1)" })
                        + answer, status: 0)
            }
        }

        static func debug(_ messages: [String]) -> String {
            messages.map { "(proxy:7): pxbackend-DEBUG: 10:00:00.000: px_manager_get_proxies_sync: \($0)\n" }.joined()
        }
    }

    @Test(arguments: Version.allCases) func libproxyNamesWays(_ version: Version) throws {
        let answer = "http://u:p%40@P:1 socks://[::1]:2 https://q socks4://r quic://s direct://\n"
        #expect(
            try LibproxySettings(version.output(["http://u:p%40@P:1"], answer))
                == .routes([
                    ProxyChoice(.http, host: "p", port: 1, user: "u", password: "p@"),
                    ProxyChoice(.socks5, host: "::1", port: 2), ProxyChoice(.https, host: "q", port: 443),
                    ProxyChoice(.socks4, host: "r", port: 1080), .direct,
                ]))
        #expect(try LibproxySettings(version.output([], "direct://\n")) == .routes([.direct]))
    }

    /// libproxy returns `direct://` where it cannot load or run a script: it is ended before it does.
    @Test(arguments: Version.allCases) func scriptsAreNotLeftToLibproxy(_ version: Version) throws {
        let url = try #require(URL(string: "http://s/p.pac"))
        #expect(try LibproxySettings(version.output(["pac+http://s/p.pac"], "direct://\n")) == .script(url))
        #expect(try LibproxySettings(version.output(["pac+http://s/p.pac"], "")) == .script(url))
        #expect(try LibproxySettings(version.output(["wpad://"], "http://evil:1\n")) == .autoDiscovery)
        #expect(try LibproxySettings(version.output(["wpad://"], "")) == .autoDiscovery)
    }

    /// Output without the settings is not used.
    @Test func whatIsNotKnownIsAnError() {
        let cases: [(CommandOutput, String)] = [
            (CommandOutput(text: "direct://\n", status: 0), "the version is not known"),
            (
                CommandOutput(text: "http://p:1\n", errors: "some other text\n", status: 0),
                "the version is not known"
            ),
            (CommandOutput(text: "\n", status: 0), "it ended with status 0"),
            (Version.four.output(["quic://s"], "quic://s\n"), "quic://s"),
            (Version.five.output(["quic://s"], "quic://s\n"), "quic://s"),
            (CommandOutput(text: Version.debug(["url=http://h online=0"]) + "direct://\n", status: 0), "unavailable"),
        ]
        for (output, words) in cases {
            do {
                let settings = try LibproxySettings(output)
                Issue.record("\(settings)")
            } catch {
                #expect("\(error)".contains(words), "\(error)")
            }
        }
    }

    /// Each line is decoded once, regardless of the pieces in which it arrives.
    @Test(arguments: [1, 2, 7, 1000]) func linesComeInPieces(_ count: Int) {
        var lines = WrittenLines()
        var found: [String] = []
        let bytes = Array("one\n\nthree\nfour".utf8)
        for start in stride(from: 0, to: bytes.count, by: count) {
            lines.bytes += bytes[start..<min(start + count, bytes.count)]
            while let line = lines.next() { found.append(line) }
        }
        #expect(found == ["one", "", "three"] && lines.all == "one\n\nthree\nfour")
    }

    /// A request's `Proxy` field does not become a proxy.
    @Test func aRequestDoesNotChooseTheProxy() {
        let served = LibproxyEnvironment.forSettings(["REQUEST_METHOD": "GET", "HTTP_PROXY": "evil", "http_proxy": "p"])
        #expect(served["HTTP_PROXY"] == nil && served["http_proxy"] == "p")
        #expect(LibproxyEnvironment.forSettings(["HTTP_PROXY": "mine"])["HTTP_PROXY"] == "mine")
        let script = LibproxyEnvironment.forScript(["https_proxy": "p", "no_proxy": "*", "SECRET": "s", "PATH": "/bin"])
        #expect(script["SECRET"] == nil && script["no_proxy"] == nil && script["https_proxy"] == nil)
        #expect(script["PATH"] == "/bin")
    }
}
