import Foundation
import LoadingKit
import TestSupport
import Testing

@testable import loadkit

/// Files that a user has written on another system.
@Suite struct TextLinesTests {
    static let texts: [(String, [String])] = [
        ("", [""]), ("a", ["a"]), ("a\n", ["a", ""]), ("a\nb\r\nc", ["a", "b", "c"]), ("\r\n\n", ["", "", ""]),
        ("a\r", ["a"]), ("a\rb\n\u{301}", ["a\rb", "\u{301}"]), ("a\u{2028}\u{85}b", ["a\u{2028}\u{85}b"]),
    ]

    @Test(arguments: texts) func lines(_ text: String, _ expected: [String]) {
        #expect(text.lines.map { String($0) } == expected)
    }

    /// Each kind of file says the same with each kind of line ends.
    @Test(arguments: ["\n", "\r\n"]) func files(_ end: String) throws {
        func text(_ lines: String...) -> String { lines.map { $0 + end }.joined() }
        let options = text("# options", "", "user-agent = \"me\"", "-s")
        #expect(try ConfigurationFile.arguments(in: options, of: "f") == ["--user-agent", "me", "-s"])
        let cookies = text("# cookies", "h\tFALSE\t/\tFALSE\t0\tone\t1", "", "h\tFALSE\t/\tFALSE\t0\ttwo\t2")
        #expect(CookieFile.cookies(in: cookies).map { "\($0.name)=\($0.value)" } == ["one=1", "two=2"])
        let fields = text("# fields", "X-A: 1", "", "X-B: 2")
        let read = try FieldArgument.all("@f") { _ in Data(fields.utf8) }
        #expect(read.map(\.name) == ["X-A", "X-B"] && read.map(\.value) == ["1", "2"])
        let folder = try TemporaryFolder()
        let hosts = text(
            "# hosts", "one.example \"20991231 00:00:00\"", ".two.example unlimited", "Bücher.example. unlimited")
        let policies = HSTSFile(try folder.write(hosts, to: "hosts").path).load()
        #expect(policies.keys.sorted() == ["one.example", "two.example", "xn--bcher-kva.example"])
        let logins = text(
            "# machine h login no password no", "machine h login ann", "password p1",
            "machine Bücher.example login e password p2", "machine q login \"b c\"",
            #"  password "my \"p\" \\w\n\r\t\x""#, "macdef init", "machine m login no password no", "# no", " ",
            "machine m login \"\" password macdef machine", "last login d password p\u{a0}\"#w", "machine")
        let netrc = try Self.netrc(logins)
        let expected: [String: Login?] = [
            "h": Login(user: "ann", password: "p1"), "q": Login(user: "b c", password: "my \"p\" \\w\n\r\tx"),
            "m": Login(user: "", password: "macdef"), "last": Login(user: "d", password: "p\u{a0}\"#w"), "init": nil,
            "http://b%C3%BCcher.example/": Login(user: "e", password: "p2"),
            "http://xn--bcher-kva.example/": Login(user: "e", password: "p2"),
        ]
        for (host, login) in expected { #expect(netrc?.login(for: try URLArgument(host).url) == login) }
    }

    private static func netrc(_ text: String) throws -> NetrcFile? {
        let command = try LoadCommand.parse(["--netrc-file", "f", "h"])
        return try NetrcFile(command.login) { _ in Data(text.utf8) }
    }

    @Test(arguments: ["\"p", "\"p\\\"", "\"p\\", "\"p\nw\""]) func unclosedQuotationMark(_ password: String) {
        #expect(throws: ToolFailure(.readError, "f: a quotation mark is not closed")) {
            try Self.netrc("machine h login a password \(password)\n")
        }
    }

    /// A tab in a cookie would shift the columns after it.
    @Test func cookiesWithTabsAreNotWritten() throws {
        let texts = [("one", "1", "/"), ("t\two", "2", "/"), ("three", "3\t", "/"), ("four", "4", "/\t\u{301}x")]
        let cookies = try texts.map { name, value, path in
            try #require(HTTPCookie(properties: [.domain: "h", .path: path, .name: name, .value: value]))
        }
        #expect(CookieFile.text(cookies) == "# Netscape HTTP Cookie File\nh\tFALSE\t/\tFALSE\t0\tone\t1\n")
    }
}
