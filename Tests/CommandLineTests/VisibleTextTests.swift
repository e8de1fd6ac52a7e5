import Foundation
import Testing

@testable import loadkit

/// The display of bytes from other sources: escapes, layout and colours.
@Suite struct VisibleTextTests {
    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Colours as letters in brackets, so that expected texts are readable.
    private static func marked(_ bytes: [UInt8]) -> String {
        let names = [
            "1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "35": "magenta", "36": "cyan",
        ]
        return names.reduce(text(bytes).replacing("\u{1b}[0m", with: ">")) {
            $0.replacing("\u{1b}[\($1.key)m", with: "<\($1.value) ")
        }
    }

    // MARK: Escapes

    /// Bytes, and their display where line breaks stay.
    static let escapes: [([UInt8], String)] = [
        (Array("plain\té\u{1f600}\n".utf8), "plain\té\u{1f600}\n"),
        (Array("a\u{1b}[2Jb\u{1b}]0;title\u{7}".utf8), "a\\u001b[2Jb\\u001b]0;title\\u0007"),
        (Array("\u{9b}31m\u{85}\u{7f}\u{0}".utf8), "\\u009b31m\\u0085\\u007f\\u0000"),
        (Array("over\rwritten\r\nnext\r".utf8), "over\\u000dwritten\r\nnext\\u000d"),
        (Array("a\u{202e}cba\u{2066}x\u{2069}\u{2028}".utf8), "a\\u202ecba\\u2066x\\u2069\\u2028"),
        (Array("\u{5d0}\u{200f}\u{5d1}\u{200d}".utf8), "\u{5d0}\u{200f}\u{5d1}\u{200d}"),
        ([0x61, 0x9b, 0x33, 0x6d, 0xff, 0xc3], "a\\x9b3m\\xff\\xc3"),
        ([0xe2, 0x80, 0x28, 0xf0, 0x9f, 0x1b], "\\xe2\\x80(\\xf0\\x9f\\u001b"),
        // Overlong forms of ESC, and a surrogate.
        ([0xc0, 0x9b, 0xe0, 0x80, 0x9b, 0xed, 0xa0, 0x80], "\\xc0\\x9b\\xe0\\x80\\x9b\\xed\\xa0\\x80"),
        ([], ""),
    ]

    @Test(arguments: escapes) func escape(_ bytes: [UInt8], _ expected: String) {
        #expect(Self.text(VisibleText.escaped(bytes[...])) == expected)
        // In pieces that end at each place, and byte by byte.
        for cut in 0...bytes.count {
            var display = VisibleText()
            let shown = display.receive(bytes[..<cut]) + display.receive(bytes[cut...]) + display.finish()
            #expect(Self.text(shown) == expected, "cut at \(cut)")
        }
        var display = VisibleText()
        #expect(Self.text(bytes.flatMap { display.receive([$0]) } + display.finish()) == expected)
    }

    /// Nothing but line breaks, tabs and visible characters remains, whatever comes.
    @Test func everyByteIsSafe() {
        for first in UInt8.min...UInt8.max {
            for second in [0x00, 0x1b, 0x41, 0x80, 0x9b, 0xa0, 0xe2, 0xff] as [UInt8] {
                let shown = Self.text(VisibleText.escaped([first, second, first]))
                #expect(
                    shown.unicodeScalars.allSatisfy {
                        $0 == "\n" || $0 == "\t" || $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value)
                    })
            }
        }
    }

    @Test func lines() {
        #expect(
            PlainText.line("a\u{1b}[31m\nb\tc\u{9b}d\re\u{202e}\r\nf") == "a\\u001b[31m b c\\u009bd\\u000de\\u202e f")
    }

    // MARK: JSON

    /// JSON, and its layout without colours; nil where the text is not JSON.
    static let json: [(String, String?)] = [
        (
            #"{"b":1.0,"a":[true,null,{"x":-0e+10}],"b":"é\u0041\"\/"}"#,
            """
            {
              "b": 1.0,
              "a": [
                true,
                null,
                {
                  "x": -0e+10
                }
              ],
              "b": "é\\u0041\\"\\/"
            }

            """
        ),
        ("[]", "[]\n"), (" { \n } \r\n", "{}\n"), ("[{},[ ]]", "[\n  {},\n  []\n]\n"),
        ("12345678901234567890.50", "12345678901234567890.50\n"), (#""a""#, "\"a\"\n"), (" true ", "true\n"),
        ("\"a\u{202e}\u{9b}\"", "\"a\\u202e\\u009b\"\n"),
        ("", nil), ("{", nil), ("[1,]", nil), ("[1 2]", nil), (#"{"a":1,}"#, nil), (#"{"a"}"#, nil), ("{a:1}", nil),
        ("01", nil), ("1.", nil), (".5", nil), ("1e", nil), ("+1", nil), ("-", nil), ("[1}", nil), ("tru", nil),
        ("NaN", nil), (#""\x""#, nil), (#""\u12g4""#, nil), (#""a"#, nil), ("\"a\nb\"", nil), ("1 2", nil), ("]", nil),
        ("{} {}", nil), ("'a'", nil), ("\u{feff}{}", nil),
    ]

    @Test(arguments: json) func jsonLayout(_ input: String, _ expected: String?) {
        let bytes = Array(input.utf8)
        #expect(JSONLayout.text(bytes, usesColour: false).map(Self.text) == expected)
        #expect(JSONLayout.text(bytes + [0xff], usesColour: false) == nil)
        let shown = ScreenBody.Format.json.display(bytes, usesColour: true)
        if expected == nil { #expect(shown == VisibleText.escaped(bytes[...])) }
    }

    @Test func jsonColours() {
        let shown = JSONLayout.text(Array(#"{"a":["b",1,null]}"#.utf8), usesColour: true) ?? []
        #expect(
            Self.marked(shown)
                == "{\n  <cyan \"a\">: [\n    <green \"b\">,\n    <yellow 1>,\n    <magenta null>\n  ]\n}\n")
    }

    /// Deep nesting takes neither the stack nor all memory.
    @Test func deepDocuments() {
        let brackets = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
        #expect(JSONLayout.text(brackets + brackets.map { _ in UInt8(ascii: "]") }, usesColour: false) == nil)
        let (open, close) = (String(repeating: "<a>", count: 20_000), String(repeating: "</a>", count: 20_000))
        #expect(MarkupText(Array((open + close).utf8), isHTML: false).laidOut(usesColour: false) == nil)
    }

    // MARK: XML and HTML

    /// XML, and its layout; nil where a layout would change its meaning.
    static let xml: [(String, String?)] = [
        (
            "<?xml version=\"1.0\"?><a><!-- c --><b c=\"d>\">e &amp; f</b><g/><h> </h><i></i></a>",
            """
            <?xml version="1.0"?>
            <a>
              <!-- c -->
              <b c="d>">e &amp; f</b>
              <g/>
              <h> </h>
              <i></i>
            </a>

            """
        ),
        ("<a>\n<b> <![CDATA[<x>]]> </b>\n\n  <c/>\n</a>\n", "<a>\n  <b> <![CDATA[<x>]]> </b>\n  <c/>\n</a>\n"),
        (
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a><b>x</b></a>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]>\n<a>\n  <b>x</b>\n</a>\n"
        ),
        ("<a>text <b>bold</b></a>", nil), ("<a><b/>tail</a>", nil), ("<a xml:space='preserve'> <b/> </a>", nil),
        ("<a><b></a></b>", nil), ("<a>", nil), ("</a>", nil), ("<a/>text", nil), ("text", nil), ("", nil),
        ("<a><!-- x", nil), ("<a b='", nil), ("a < b", nil), ("<a>x<!-- c --></a>", nil),
    ]

    @Test(arguments: xml) func xmlLayout(_ input: String, _ expected: String?) {
        let markup = MarkupText(Array(input.utf8), isHTML: false)
        #expect(markup.laidOut(usesColour: false).map(Self.text) == expected)
        #expect(Self.text(markup.painted(usesColour: false)) == input)
        #expect(Self.text(markup.painted(usesColour: true)).replacing(/\u{1b}\[[0-9]+m/, with: "") == input)
    }

    static let html: [(String, String)] = [
        (
            "<!doctype html>\n<p class=x id='y' hidden>Hi <br/>you</p>\n",
            "<magenta <!doctype html>>\n<cyan <p> <yellow class>=<green x> <yellow id>=<green 'y'> <yellow hidden><cyan >>Hi "
                + "<cyan <br><cyan />>you<cyan </p><cyan >>\n"
        ),
        (
            "<script>if (a < b) { \"</p>\" }</script><!-- c -->1 < 2",
            "<cyan <script><cyan >>if (a < b) { \"</p>\" }<cyan </script><cyan >><dim <!-- c -->>1 < 2"
        ),
        ("<a href=\"\u{1b}[31m\">", "<cyan <a> <yellow href>=<green \"\\u001b[31m\"><cyan >>"),
    ]

    @Test(arguments: html) func htmlColours(_ input: String, _ expected: String) {
        #expect(Self.marked(ScreenBody.Format.html.display(Array(input.utf8), usesColour: true)) == expected)
    }

    // MARK: Heads

    static let heads: [(String, String)] = [
        ("HTTP/1.1 200 OK", "HTTP/1.1 <green 200 OK>"), ("HTTP/2 404", "HTTP/2 <red 404>"),
        ("HTTP/1.1 302 Found", "HTTP/1.1 <yellow 302 Found>"),
        ("GET http://a:1/ HTTP/1.1", "<bold GET http://a:1/ HTTP/1.1>"),
        ("A: b: c\u{1b}", "<cyan A>: b: c\\u001b"), (":method: GET", "<cyan :method>: GET"), ("", ""),
    ]

    @Test(arguments: heads) func head(_ line: String, _ expected: String) {
        let terminal = Terminal(isTerminal: true, usesColour: true)
        #expect(Self.marked(Array(MessageText.line(line, terminal).utf8)) == expected)
        #expect(MessageText.line(line, .plain) == PlainText.line(line))
    }

    // MARK: Binary bodies

    static let bodies: [([UInt8], String?, Bool)] = [
        (Array("text".utf8), nil, false), (Array("text\u{1b}[0m\r\n".utf8), "application/octet-stream", false),
        ([0x61, 0], "text/plain", true), ([0x61, 0xe9], "text/plain", false), ([0x61, 0xe9, 0x62], nil, true),
        ([0x61, 0xc3], nil, false), ([1, 2, 3], nil, true), ([1, 2, 3], "application/json", false),
        (Array("<svg/>".utf8), "image/svg+xml", false),
        (Array("%PDF-1.4\n%".utf8) + [0xe2, 0xe3], "application/pdf", true),
        ([], nil, false), ([UInt8](repeating: 0x61, count: 2000) + [0], nil, false),
    ]

    @Test(arguments: bodies) func binary(_ start: [UInt8], _ type: String?, _ expected: Bool) {
        // A NUL behind the searched bytes is a control character as others.
        let isBinary = BinaryBody.isBinary(start, type: start.count > 2000 ? "text/plain" : type)
        #expect(isBinary == expected)
    }

    private static let png: [UInt8] =
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8) + [
            0, 0, 2, 128, 0, 0, 1, 224,
        ]
    private static let jpeg: [UInt8] = [
        0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc4, 0, 3, 0, 0xff, 0xc2, 0, 17, 8, 1, 0, 2, 1, 3,
    ]

    static let images: [([UInt8], String)] = [
        (png, "a PNG image of 640 × 480 pixels, 9 bytes"), (Array(png.prefix(20)), "a PNG image, 9 bytes"),
        (Array("GIF89a".utf8) + [1, 2, 3, 0], "a GIF image of 513 × 3 pixels, 9 bytes"),
        (jpeg, "a JPEG image of 513 × 256 pixels, 9 bytes"), (Array(jpeg.prefix(18)), "a JPEG image, 9 bytes"),
        ([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0xff, 0xc0], "a JPEG image, 9 bytes"),
        (Array("RIFF1234WEBP".utf8), "a WebP image, 9 bytes"),
        ([0, 0, 0, 32] + Array("ftypavif".utf8), "an AVIF image, 9 bytes"),
        ([0, 1], "binary (x/y, 9 bytes)"), ([], "binary (x/y, 9 bytes)"),
    ]

    @Test(arguments: images) func image(_ start: [UInt8], _ expected: String) {
        #expect(BinaryBody.name(start, type: "x/y", length: 9) == expected)
        // Every beginning has a name.
        for count in 0...start.count {
            #expect(!BinaryBody.name(Array(start.prefix(count)), type: nil, length: -1).isEmpty)
        }
    }

    /// A body in pieces is displayed as a whole one.
    @Test func pieces() throws {
        let terminal = Terminal(isTerminal: true)
        for (type, text, expected) in [
            ("application/json", "{\"a\":\n1}", "{\n  \"a\": 1\n}\n"),
            ("application/json", "{\"a\":\u{7}", "{\"a\":\\u0007"),
            ("text/html", "<p>é\u{1b}</p>", "<p>é\\u001b</p>"), ("text/plain", "{\"a\":1}\r\n", "{\"a\":1}\r\n"),
            ("application/problem+json", "[1]", "[\n  1\n]\n"), ("image/svg+xml", "<a><b/></a>", "<a>\n  <b/>\n</a>\n"),
        ] {
            var screen = ScreenBody(type: type, length: -1, terminal)
            var shown = Data()
            for byte in text.utf8 { shown += try screen.receive(Data([byte])) }
            shown += screen.finish()
            #expect(String(decoding: shown, as: UTF8.self) == expected)
        }
        // A long document is displayed as it comes.
        var screen = ScreenBody(type: "application/json", length: -1, terminal)
        let long = Data("[\"\(String(repeating: "x", count: 1 << 22))\u{1b}\"]".utf8)
        #expect(String(decoding: try screen.receive(long), as: UTF8.self).hasSuffix("x\\u001b\"]"))
        #expect(screen.finish().isEmpty)
        // Bytes that are not text can also come later.
        var late = ScreenBody(type: "text/plain", length: -1, terminal)
        #expect(try late.receive(Data("text\n".utf8)) == Data("text\n".utf8))
        #expect(throws: ToolFailure.self) { try late.receive(Data([0x61, 0])) }
        // A pipe whose colours the user has forced gets binary bodies unchanged.
        var pipe = ScreenBody(type: nil, length: -1, Terminal(isTerminal: false, usesColour: true))
        #expect(try pipe.receive(Data([0, 0x1b, 1])) == Data([0, 0x1b, 1]))
    }
}
