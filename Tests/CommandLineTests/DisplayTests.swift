import Foundation
import LoadingKit
import Testing

@testable import loadkit

/// The display of plain values.
@Suite struct DisplayTests {
    /// Eight columns for eight seconds.
    static let bars: [(ClosedRange<Double>, String)] = [
        (0...8, "████████"),
        (0...1, "█"),
        (0...0.5, "▌"),
        (0...0, "▏"),
        (8...8, "       ▕"),
        (7.5...8, "       ▐"),
        (2...4, "  ██"),
        (2.5...4, "  ▐█"),
        (2.9...4, "  ▕█"),
        (2.25...2.5, "  ▎"),
        (1...2.25, " █▎"),
        (-5...20, "████████"),
    ]

    @Test(arguments: bars) func bar(_ span: ClosedRange<Double>, _ expected: String) {
        #expect(TimeScale(cells: 8, start: 0, end: 8).bar(span.lowerBound, span.upperBound) == expected)
    }

    @Test func barOfNothing() {
        let scale = TimeScale(cells: 0, start: 1, end: 1)
        #expect(["▏", "█", "▕"].contains(scale.bar(1, 1)) && scale.bar(.nan, .infinity).count == 1)
    }

    static let durations: [(Double, String)] = [
        (0, "0 µs"), (-1, "0 µs"), (0.000_047, "47 µs"), (0.000_999_9, "1.00 ms"), (0.001_23, "1.23 ms"),
        (0.009_996, "10.0 ms"), (0.25, "250.0 ms"), (1, "1.00 s"), (75, "75.00 s"),
    ]

    @Test(arguments: durations) func duration(_ seconds: Double, _ expected: String) {
        #expect(TimeScale.duration(seconds) == expected)
    }

    private static let timelines = [
        Timeline(
            title: "GET http://localhost/old", outcome: "302 Found",
            connection: "http/1.1 to 127.0.0.1:80, new connection",
            spans: [.init(phase: .connect, start: 0, end: 0.001), .init(phase: .wait, start: 0.001, end: 0.002)],
            start: 0, end: 0.002),
        Timeline(
            title: "GET http://localhost/new", outcome: "200 OK", connection: "",
            spans: [.init(phase: .receive, start: 0.002, end: 0.004)], start: 0.002, end: 0.004),
    ]

    @Test func waterfall() {
        let expected = """
            GET http://localhost/old → 302 Found           2.00 ms
              http/1.1 to 127.0.0.1:80, new connection
              connect  ████████                            1.00 ms
              wait             ████████                    1.00 ms
            GET http://localhost/new → 200 OK              2.00 ms
              receive                  ████████████████    2.00 ms

            """
        #expect(Waterfall(Self.timelines, Terminal(isTerminal: false, width: 55)).text == expected)
    }

    /// No line is wider than the terminal. Colours do not count.
    @Test(arguments: [1, 40, 41, 60, 80, 200]) func waterfallFits(_ width: Int) {
        var timelines = Self.timelines
        timelines[0].title = "GET http://localhost/\(String(repeating: "long", count: 100))\u{1b}[31m\n"
        let plain = Waterfall(timelines, Terminal(isTerminal: true, width: width)).text
        let coloured = Waterfall(timelines, Terminal(isTerminal: true, width: width, usesColour: true)).text
        let lines = plain.split(separator: "\n").filter { !$0.contains("connection") }
        #expect(lines.count == 5 && lines.allSatisfy { $0.count < max(width, 40) })
        #expect(!plain.contains("\u{1b}") && coloured.contains("\u{1b}[33m"))
        #expect(coloured.replacing(/\u{1b}\[[0-9]+m/, with: "") == plain)
    }

    static let progress: [(ProgressLine, Int, String)] = [
        (
            ProgressLine(label: "http://localhost/a", received: 1_500_000, expected: 3_000_000, seconds: 2), 79,
            "http://loca…ost/a  [━━━━━━      ]   50 %  1.5 MB of 3.0 MB  750 kB/s  0:02 left"
        ),
        (
            ProgressLine(label: "x", received: 999, expected: nil, seconds: 1), 60, "x  999 B  999 B/s  0:01"
        ),
        (
            ProgressLine(label: "x", received: 0, expected: 10, seconds: 0), 30, "  0 %  0 B of 10 B  0 B/s  --:"
        ),
        (
            ProgressLine(label: "x", received: 20, expected: 10, seconds: 1), 45,
            "x  100 %  20 B of 10 B  20 B/s  0:00 left"
        ),
        (
            ProgressLine(label: "x", received: 5, expected: 10, seconds: 1, isBar: true), 25,
            "[━━━━━━━━        ]   50 %"
        ),
        (ProgressLine(label: "x", received: 5, expected: nil, seconds: 1, isBar: true), 25, "x  5 B  5 B/s  0:01"),
    ]

    @Test(arguments: progress) func progressLine(_ line: ProgressLine, _ width: Int, _ expected: String) {
        let text = line.text(width: width)
        #expect(text.count <= width)
        #expect(text == expected)
    }

    @Test(arguments: [-1, 0, 1, 10, 30, 79, 300]) func progressLineFits(_ width: Int) {
        for expected in [nil, 0, 5, Int64.max] {
            let line = ProgressLine(label: "http://localhost/\u{7}", received: .max, expected: expected, seconds: 1e-9)
            #expect(line.text(width: width).count <= max(width, 0))
        }
    }

    static let amounts: [(Int64, String)] = [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (9_940, "9.9 kB"), (9_960, "10 kB"), (999_400, "999 kB"),
        (999_600, "1.0 MB"), (3_210_000_000, "3.2 GB"), (Int64.max, "9223372 TB"),
    ]

    /// The terminal may have less room than the lines' margins.
    @Test(arguments: [(1, " …"), (8, " …"), (9, "a …"), (80, "a text")])
    func demoLineFits(_ width: Int, _ expected: String) {
        let printer = DemoPrinter(Terminal(isTerminal: true, width: width))
        #expect(printer.beginning(of: Data("a text".utf8)) == expected)
    }

    @Test(arguments: amounts) func amount(_ bytes: Int64, _ expected: String) {
        #expect(Amount.bytes(bytes) == expected)
    }

    static let clocks: [(Double, String)] = [
        (0, "0:00"), (6.6, "0:07"), (754, "12:34"), (3723, "1:02:03"), (-1, "--:--"), (.infinity, "--:--"),
        (.nan, "--:--"), (1e300, "--:--"),
    ]

    @Test(arguments: clocks) func clock(_ seconds: Double, _ expected: String) {
        #expect(Amount.clock(seconds) == expected)
    }

    @Test func plainText() {
        let shortened = [("abcdef", 6), ("abcdef", 5), ("abcdef", 1), ("abcdef", 0), ("abcdef", -1)]
        #expect(shortened.map { Columns.shortened($0, to: $1) } == ["abcdef", "abc…f", "a", "", ""])
    }

    @Test func colour() {
        #expect(Terminal.allowsColour([:]) && Terminal.allowsColour(["NO_COLOR": ""]))
        #expect(!Terminal.allowsColour(["NO_COLOR": "0"]) && !Terminal.allowsColour(["TERM": "dumb"]))
    }

    @Test func chosenColour() {
        for (choice, expected) in [
            (ColourChoice.auto, [true, false]), (.always, [true, true]), (.never, [false, false]),
        ] {
            #expect([true, false].map { Terminal(isTerminal: $0, usesColour: $0).with(choice).usesColour } == expected)
        }
    }

    @Test func heads() throws {
        let url = try #require(URL(string: "http://localhost:8080/a%20b?c#d"))
        let lines = [
            "GET / HTTP/1.1", "b: 2", "Authorization: Digest secret", "authorization: secret", "cookie: secret",
            "A: 1\u{1b}",
        ]
        let shown = """
            > GET / HTTP/1.1
            > b: 2
            > Authorization: Digest (not shown)
            > authorization: (not shown)
            > cookie: (not shown)
            > A: 1\\u001b
            >

            """
        #expect(MessageText.sent(lines) == shown)
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 404, httpVersion: nil, headerFields: ["b": "2", "A": "1"]))
        #expect(ResponseHead(response).bytes == "HTTP/1.1 404 Not Found\r\nA: 1\r\nb: 2\r\n\r\n")
        #expect(ResponseHead(response, reason: "").bytes.hasPrefix("HTTP/1.1 404\r\n"))
        #expect(ResponseHead(response).verbose() == "< HTTP/1.1 404 Not Found\n< A: 1\n< b: 2\n<\n")
    }
}
