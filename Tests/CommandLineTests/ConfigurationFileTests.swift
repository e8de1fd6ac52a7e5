import Foundation
import Testing

@testable import loadkit

/// Lines of a file of options: `-K`.
@Suite struct ConfigurationFileTests {
    /// A line, and its arguments; the whole argument where a letter's value is joined to it.
    static let lines: [(String, [String])] = [
        ("", []), ("# user = x", []), ("silent", ["--silent"]), ("-s", ["-s"]), ("  --silent\t", ["--silent"]),
        ("silent # a remark", ["--silent"]), ("next", ["--next"]), ("-:", ["-:"]),
        ("user = ann:secret", ["--user", "ann:secret"]), ("user: ann", ["--user", "ann"]),
        ("user=ann", ["--user", "ann"]), ("user ann", ["--user", "ann"]), ("user : = ann", ["--user", "ann"]),
        ("header = \"A: \\\"b\\t\\\\\"", ["--header", "A: \"b\t\\"]), ("user-agent = \"\"", ["--user-agent", ""]),
        ("url = http://h/ # a remark", ["--url", "http://h/"]),
        ("-dkey=value", ["-dkey=value"]), ("-xproxy:3128", ["-xproxy:3128"]), ("-uann:secret", ["-uann:secret"]),
        ("-bsid=1", ["-bsid=1"]), ("-sSdkey=value", ["-sSdkey=value"]), ("-d key=value", ["-d", "key=value"]),
        ("-d =value", ["-d", "=value"]), ("-sd key=value", ["-sd", "key=value"]), ("-H \"A: b\"", ["-H", "A: b"]),
        ("--data key=value", ["--data", "key=value"]), ("--data =value", ["--data", "=value"]),
        ("--data=key=value", ["--data", "key=value"]), ("--data=\"a b\"", ["--data", "a b"]),
        ("--user-agent: me", ["--user-agent", "me"]),
        // Each mark forms one character with the separator before it.
        ("user=\u{301}ann", ["--user", "\u{301}ann"]), ("header = \"A: b\"\u{301}", ["--header", "A: b"]),
        ("#\u{301}remark", []), ("--data=\u{301}x", ["--data", "\u{301}x"]),
    ]

    @Test(arguments: lines) func line(_ line: String, _ expected: [String]) throws {
        #expect(try ConfigurationFile.arguments(in: line, of: "f") == expected)
    }

    /// A line, and the reason why it is refused.
    static let refusals: [(String, String)] = [
        ("header = \"A: b", "a quotation mark is not closed"), ("user", "--user has no value"),
        ("-d", "-d has no value"), ("user =", "--user has no value"),
        ("silent = yes", "--silent cannot be followed by a value"),
        ("-s yes", "-s cannot be followed by a value"),
        ("-dkey=value rest", "-dkey=value cannot be followed by a value"),
        ("nonsense = 1", "--nonsense cannot be followed by a value"),
    ]

    @Test(arguments: refusals) func refusal(_ line: String, _ expected: String) {
        let failure = #expect(throws: ToolFailure.self) {
            try ConfigurationFile.arguments(in: "silent\n\(line)\nsilent", of: "f")
        }
        #expect(failure?.status == .usage && failure?.reason == "f, line 2: \(expected)")
    }

    /// What a file says means the same as on the command line.
    @Test func joinedValues() throws {
        let file = "-dkey=value\n-xproxy:3128\n-uann:secret\n-bsid=1\n-sSXPUT\n"
        let arguments = try Arguments(["-K", "f", "h"]) { _ in Data(file.utf8) }
        let expected = [
            "--data", "data key=value", "-x", "proxy:3128", "-u", "ann:secret", "-b", "sid=1", "-s", "-S", "-X", "PUT",
            "h",
        ]
        #expect(arguments.requests == [expected])
    }
}
