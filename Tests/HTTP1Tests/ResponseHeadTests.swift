import LoadingKitHTTP1
import Testing

/// Status lines and field lines of responses (RFC 9112 §4, §5).
@Suite struct ResponseHeadTests {
    static let statusLines: [(line: String, status: Int, reason: String)] = [
        ("HTTP/1.1 200 OK\r\n", 200, "OK"),
        ("HTTP/1.1 200 \r\n", 200, ""),
        ("HTTP/1.1 200\r\n", 200, ""),
        ("HTTP/1.1 200\n", 200, ""),
        ("HTTP/1.1 200  Two  spaces \r\n", 200, " Two  spaces "),
        ("HTTP/1.1 999 A\tb \u{e9}\r\n", 999, "A\tb \u{e9}"),
        ("HTTP/1.0 404 Not Found\n", 404, "Not Found"),
        ("HTTP/1.9 500 x\r\n", 500, "x"),
        ("\r\nHTTP/1.1 200 OK\r\n", 200, "OK"),
        ("\n\r\n\nHTTP/1.1 200 OK\r\n", 200, "OK"),
    ]

    @Test(arguments: statusLines.indices)
    func statusLine(_ index: Int) throws {
        let (line, status, reason) = Self.statusLines[index]
        let transcript = verified(responseParser(), line + "\r\n")
        let head = try #require(transcript.responses.first)
        #expect(head.status == status && head.reason == reason && head.fields.isEmpty)
    }

    /// The phrases of RFC 9110 §15 take no memory of their own; a similar one is kept as it is.
    @Test(arguments: [
        (200, "OK"), (201, "Created"), (202, "Accepted"), (206, "Partial Content"), (301, "Moved Permanently"),
        (302, "Found"), (303, "See Other"), (307, "Temporary Redirect"), (308, "Permanent Redirect"),
        (400, "Bad Request"), (401, "Unauthorized"), (403, "Forbidden"), (404, "Not Found"),
        (429, "Too Many Requests"), (500, "Internal Server Error"), (502, "Bad Gateway"),
        (503, "Service Unavailable"), (599, ""),
    ])
    func usualReasons(status: Int, reason: String) throws {
        for text in [reason, "\(reason) then", reason.lowercased()] {
            let transcript = verified(responseParser(), "HTTP/1.1 \(status) \(text)\r\n\r\n")
            let head = try #require(transcript.responses.first)
            #expect(head.status == status && head.reason == text)
        }
    }

    @Test func aVersionIsThatOfAStartLine() {
        #expect(HTTPVersion.http1_0.description == "HTTP/1.0" && HTTPVersion.http2.description == "HTTP/2.0")
    }

    static let malformed: [(line: String, kind: HTTP1Error.Kind, offset: Int)] = [
        ("HTTP/2.0 200 OK\r\n", .unsupportedVersion, 5),
        ("HTTP/0.9 200 OK\r\n", .unsupportedVersion, 5),
        ("HTTP/x.1 200 OK\r\n", .malformedStatusLine, 5),
        ("HTTP/1,1 200 OK\r\n", .malformedStatusLine, 6),
        ("HTTP/1.x 200 OK\r\n", .malformedStatusLine, 7),
        ("HTTP/1.10 200 OK\r\n", .malformedStatusLine, 8),
        ("http/1.1 200 OK\r\n", .malformedStatusLine, 0),
        ("ICY 200 OK\r\n", .malformedStatusLine, 0),
        ("HTTP/1.1  200 OK\r\n", .malformedStatusLine, 9),
        ("HTTP/1.1 099 OK\r\n", .malformedStatusLine, 9),
        ("HTTP/1.1 20 OK\r\n", .malformedStatusLine, 11),
        ("HTTP/1.1 2000 OK\r\n", .malformedStatusLine, 12),
        ("HTTP/1.1 200OK\r\n", .malformedStatusLine, 12),
        ("HTTP/1.1 -20 OK\r\n", .malformedStatusLine, 9),
        ("HTTP/1.1 200 O\0K\r\n", .malformedStatusLine, 14),
        ("HTTP/1.1 200 O\rK\r\n", .malformedStatusLine, 15),
        ("HTTP/1.1 200 O\u{7f}K\r\n", .malformedStatusLine, 14),
        ("HTTP/1.1 200\r OK\r\n", .malformedStatusLine, 13),
        (" HTTP/1.1 200 OK\r\n", .malformedStatusLine, 0),
        ("\rHTTP/1.1 200 OK\r\n", .malformedStatusLine, 1),
        ("\u{16}\u{3}\u{1}", .malformedStatusLine, 0),
    ]

    @Test(arguments: malformed.indices)
    func malformedStatusLine(_ index: Int) {
        let (line, kind, offset) = Self.malformed[index]
        #expect(verified(responseParser(), line + "\r\n").error == HTTP1Error(kind, offset: offset))
    }

    static let fieldLines: [(lines: String, name: String, value: String)] = [
        ("A:b\r\n", "A", "b"),
        ("A: b\r\n", "A", "b"),
        ("A:\t b \t\r\n", "A", "b"),
        ("A: b\n", "A", "b"),
        ("A:\r\n", "A", ""),
        ("A: \t \r\n", "A", ""),
        ("A: b  c\r\n", "A", "b  c"),
        ("A: :b:\r\n", "A", ":b:"),
        ("!#$%&'*+-.^_`|~09az: x\r\n", "!#$%&'*+-.^_`|~09az", "x"),
        (
            "A-Name-Of-More-Than-Thirty-Two-Bytes-In-Length: x\r\n", "A-Name-Of-More-Than-Thirty-Two-Bytes-In-Length",
            "x"
        ),
        ("content-LENGTH: 7\r\n", "content-LENGTH", "7"),
        ("A: \u{e9}\r\n", "A", "\u{e9}"),
        // RFC 9112 §5.1: a user agent removes it.
        ("A \t: b\r\n", "A", "b"),
        // RFC 9112 §5.2: spaces, as many as there were bytes.
        ("A: b\r\n c\r\n", "A", "b   c"),
        ("A: b \t\r\n\t c \r\n", "A", "b      c"),
        ("A: b\n c\n", "A", "b  c"),
        ("A:\r\n c\r\n", "A", "c"),
        ("A: b\r\n \r\n", "A", "b"),
        ("A: b\r\n \r\n\tc\r\n", "A", "b      c"),
        ("A:\r\n \r\n c\r\n d\r\n", "A", "c   d"),
    ]

    @Test(arguments: fieldLines.indices)
    func fieldLine(_ index: Int) throws {
        let (lines, name, value) = Self.fieldLines[index]
        let before = "HTTP/1.1 200 OK\r\nServer: s\r\n"
        let head = try #require(verified(responseParser(), before + lines + "Via: v\r\n\r\n").responses.first)
        #expect(head.fields.map(\.name) == ["Server", name, "Via"])
        #expect(head.fields.map(\.value) == ["s", value, "v"])
        #expect(head.fields.map(\.known) == [.server, KnownField(name: name), .via])
    }

    static let badLines: [(lines: String, kind: HTTP1Error.Kind, offset: Int)] = [
        (" A: b\r\n", .invalidFieldName, 0),
        (": b\r\n", .invalidFieldName, 0),
        ("A\r\n", .invalidFieldName, 1),
        ("A b: c\r\n", .invalidFieldName, 2),
        ("A\0: b\r\n", .invalidFieldName, 1),
        ("\0\r\n", .invalidFieldName, 0),
        ("A(b): c\r\n", .invalidFieldName, 1),
        ("A\u{e9}: c\r\n", .invalidFieldName, 1),
        ("A-Name-Of-Sixteen+@: c\r\n", .invalidFieldName, 18),
        ("\rA: b\r\n", .invalidFieldName, 1),
        ("A: b\rc\r\n", .invalidFieldValue, 5),
        ("A: b\r\r\n", .invalidFieldValue, 5),
        ("A: b\0c\r\n", .invalidFieldValue, 4),
        ("A: \0\r\n", .invalidFieldValue, 3),
        ("A: b\u{1b}c\r\n", .invalidFieldValue, 4),
        ("A: b\u{7f}\r\n", .invalidFieldValue, 4),
        ("A: more than sixteen bytes of it\u{b}\r\n", .invalidFieldValue, 32),
        ("A: b\r\n \0\r\n", .invalidFieldValue, 7),
    ]

    @Test(arguments: badLines.indices)
    func badFieldLine(_ index: Int) {
        let (lines, kind, offset) = Self.badLines[index]
        let before = "HTTP/1.1 200 OK\r\n"
        let transcript = verified(responseParser(), before + lines + "\r\n")
        #expect(transcript.error == HTTP1Error(kind, offset: before.utf8.count + offset))
        #expect(transcript.entries.isEmpty)
    }

    /// A byte that no token has, put into a well-known name, is an error, and not another way to write the name. (White space
    /// before the colon is removed.)
    @Test func noByteIsTakenForAnother() {
        for name in ["Content-Length", "Server", "Access-Control-Allow-Credentials"] {
            for byte in (0...255 as ClosedRange<UInt8>) where byte != 0x09 && (byte > 0x7F || byte < 0x20) {
                for place in [0, 7 % name.utf8.count, name.utf8.count] {
                    var line = Array(name.utf8)
                    line.insert(byte, at: place)
                    let bytes = Array("HTTP/1.1 200 OK\r\n".utf8) + line + Array(": 1\r\n\r\n".utf8)
                    #expect(Transcript(responseParser(), bytes).responses.first?.fields.contains(name: name) != true)
                }
            }
        }
    }

    /// The same for a byte in the place of another: only the other case of a letter leaves the name what it is.
    @Test(arguments: ["TE", "Content-Length", "Connection", "HTTP2-Settings", "Access-Control-Allow-Credentials"])
    func noByteStandsForAnother(_ name: String) {
        for place in 0...name.utf8.count {
            for byte in UInt8.min...UInt8.max {
                var line = Array("\(name):".utf8)
                line[place] = byte
                let isSame = String(decoding: line, as: UTF8.self).lowercased() == "\(name):".lowercased()
                let head = Array("HTTP/1.1 200 OK\r\n".utf8) + line + Array(" 1\r\nServer: x\r\n\r\n".utf8)
                let read = Transcript(responseParser(to: "HEAD"), head).responses.first
                #expect((read?.fields.contains(name: name) == true) == isSame, "\(byte) at \(place)")
            }
        }
    }

    /// A value may have any byte but controls, wherever it is in the line, and of those a tab.
    @Test func bytesOfValues() {
        for byte in UInt8.min...UInt8.max {
            for length in [1, 40, 63, 64, 200] {
                var value = [UInt8](repeating: UInt8(ascii: "v"), count: length + 2)
                value[1 + length / 2] = byte
                let head = Array("HTTP/1.1 200 OK\r\nX-A: ".utf8) + value + Array("\r\nServer: x\r\n\r\n".utf8)
                let transcript = Transcript(responseParser(to: "HEAD"), head)
                let read = transcript.responses.first?.fields
                if byte == 0x09 || byte >= 0x20 && byte != 0x7F {
                    #expect(read?.count == 2 && read?.withBytes(at: 0) { _, bytes, _ in Array(bytes) } == value)
                } else {
                    // A bare LF ends the line, and what follows is no field.
                    let kind = byte == 0x0A ? HTTP1Error.Kind.invalidFieldName : .invalidFieldValue
                    #expect(transcript.error?.kind == kind && read == nil)
                }
            }
        }
    }

    /// A parser is a value: what its copy reads does not change what it has read, or reads.
    @Test func copiesReadForThemselves() throws {
        func read(_ name: String, with parser: inout ResponseParser) throws -> ResponseHead? {
            var first: ResponseHead?
            try Array("HTTP/1.1 200 OK\r\n\(name): \(name)\r\nContent-Length: 0\r\n\r\n".utf8).withUnsafeBytes {
                bytes in
                var position = 0
                while let event = try parser.next(bytes, &position) {
                    if case .head(let head, _) = event { first = head }
                }
            }
            return first
        }
        var parser = ResponseParser()
        _ = try read("A", with: &parser)
        var copy = parser
        let ours = try read("B", with: &parser)
        let theirs = try read("C", with: &copy)
        var changed = ours
        changed?.fields.set(name: "B", value: "D")
        let next = try read("E", with: &parser)
        #expect([ours, theirs, changed, next].map { $0?.fields.first?.value } == ["B", "C", "D", "E"])
    }

    /// What has been handed over does not change when the memory it is in could be used again.
    @Test func headsThatAreKeptStay() throws {
        var parser = ResponseParser()
        var heads: [ResponseHead] = []
        for number in 0..<60 {
            let lines = (0..<number).map { "Field-\($0): \(number)\r\n" }.joined()
            let text = "HTTP/1.1 200 Reason \(number)\r\nContent-Length: 0\r\n\(lines)\r\n"
            try Array(text.utf8).withUnsafeBytes { bytes in
                var position = 0
                while let event = try parser.next(bytes, &position) {
                    // Every third one is let go.
                    if case .head(let head, .length(0)) = event, number % 3 > 0 { heads.append(head) }
                }
            }
        }
        for (head, number) in zip(heads, (0..<60).filter { $0 % 3 > 0 }) {
            let expected = ["Content-Length": "0"].map { "\($0)=\($1)" } + (0..<number).map { "Field-\($0)=\(number)" }
            #expect(head.fields.map { "\($0.name)=\($0.value)" } == expected)
            #expect(head.reason == "Reason \(number)")
        }
        #expect(heads.count == 40)
    }

    @Test func interimResponses() {
        let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        let transcript = verified(responseParser(), interim + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(transcript.responses.map(\.status) == [100, 103, 200])
        #expect(transcript.ends == 1)
        #expect(transcript.framings == [.length(0)])
    }

    @Test func bytesAfterTheLastMessage() {
        let last = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\na"
        #expect(verified(responseParser(), last).error == nil)
        #expect(verified(responseParser(), last + "\r\n").error?.kind == .unexpectedBytes)
    }

    @Test func anErrorStays() {
        var parser = responseParser()
        let input = Array("HTTP/1.1 200 OK\r\n\r \nHTTP/1.1 200 OK\r\n\r\n".utf8)
        input.withUnsafeBytes { input in
            var position = 0
            #expect(throws: HTTP1Error.self) { try parser.next(input, &position) }
            position = 20
            #expect(throws: HTTP1Error.self) { try parser.next(input, &position) }
        }
        #expect(throws: HTTP1Error.self) { try parser.finish() }
    }
}
