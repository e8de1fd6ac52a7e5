import LoadingKitHTTP1
import Testing

/// What is written is read back as the same, or refused.
@Suite struct WriterTests {
    private func fields(_ pairs: [(String, String)]) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in pairs { fields.append(name: name, value: value) }
        return fields
    }

    static let requests: [(method: String, target: String, fields: [(String, String)])] = [
        ("GET", "/", [("Host", "h")]),
        ("PATCH", "/a?b=c&d=%20", [("Host", "h:80"), ("X", ""), ("Accept", "a/b, c/d;q=0.1"), ("accept", "*/*")]),
        ("OPTIONS", "*", [("host", "[::1]:8080"), ("X-Emoji", "\u{1F600} \u{e9}")]),
        ("CONNECT", "h:443", [("HOST", "h:443"), ("User-Agent", "a\tb")]),
        ("GET", "http://h/\u{7e}", [("Host", "h"), ("Cookie", String(repeating: "c=d; ", count: 999) + "e")]),
    ]

    @Test(arguments: requests.indices)
    func requestRoundTrip(_ index: Int) throws {
        let (method, target, pairs) = Self.requests[index]
        for version in [HTTPVersion.http1_0, .http1_1] {
            var output = Array("before".utf8)
            try RequestWriter().writeHead(
                method: method, target: target, version: version, fields: fields(pairs), into: &output)
            let transcript = Transcript(RequestParser(), Array(output.dropFirst(6)))
            let head = RequestHead(version: version, method: method, target: target, fields: fields(pairs))
            #expect(transcript.requests == [head] && transcript.error == nil)
        }
    }

    @Test(arguments: [100, 200, 204, 404, 999])
    func responseRoundTrip(_ status: Int) throws {
        for reason in ["", "OK", "Not \u{e9}t\u{e9}"] {
            let head = ResponseHead(
                status: status, reason: reason, fields: fields([("Server", "s"), ("Content-Length", "0")]))
            var output: [UInt8] = []
            try ResponseWriter().write(head, into: &output)
            #expect(Transcript(responseParser(), output).responses == [head])
        }
    }

    static let refusedRequests: [(method: String, target: String, kind: HTTP1Error.Kind)] = [
        ("", "/", .malformedRequestLine), ("G T", "/", .malformedRequestLine), ("G\r\n", "/", .malformedRequestLine),
        ("G\u{e9}", "/", .malformedRequestLine), ("GET", "", .malformedRequestLine),
        ("GET", "/ HTTP/1.1\r\nX: y", .malformedRequestLine), ("GET", "/\u{e9}", .malformedRequestLine),
        ("GET", "/\0", .malformedRequestLine), ("GET", "/\u{7f}", .malformedRequestLine),
    ]

    @Test func refusedRequestLines() {
        for (method, target, kind) in Self.refusedRequests {
            var output = Array("before".utf8)
            #expect(throws: HTTP1Error(kind)) {
                try RequestWriter().writeHead(method: method, target: target, fields: HTTPFields(), into: &output)
            }
            #expect(output == Array("before".utf8))
        }
        var output: [UInt8] = []
        #expect(throws: HTTP1Error(.unsupportedVersion)) {
            try RequestWriter().writeHead(
                method: "GET", target: "/", version: HTTPVersion(major: 2, minor: 0), fields: HTTPFields(),
                into: &output)
        }
    }

    static let refusedFields: [(name: String, value: String, kind: HTTP1Error.Kind)] = [
        ("X", "a\rb", .invalidFieldValue), ("X", "a\nb", .invalidFieldValue), ("X", "a\0b", .invalidFieldValue),
        ("X", "a\r\nEvil: 1", .invalidFieldValue), ("X", "\u{1b}", .invalidFieldValue),
        ("X", "\u{7f}", .invalidFieldValue), ("Server", "1\r\n", .invalidFieldValue),
        ("", "a", .invalidFieldName), ("X ", "a", .invalidFieldName), ("X:", "a", .invalidFieldName),
        ("X\r\nEvil", "a", .invalidFieldName), ("\u{e9}", "a", .invalidFieldName),
        ("Content\rLength", "a", .invalidFieldName),
    ]

    @Test func refusedFields() {
        for (name, value, kind) in Self.refusedFields {
            let fields = fields([("Host", "h"), (name, value)])
            var output = Array("before".utf8)
            #expect(throws: HTTP1Error(kind)) {
                try RequestWriter().writeHead(method: "GET", target: "/", fields: fields, into: &output)
            }
            #expect(throws: HTTP1Error(kind)) {
                try ResponseWriter().writeHead(status: 200, fields: fields, into: &output)
            }
            #expect(throws: HTTP1Error(kind)) { try ChunkWriter.writeLast(trailers: fields, into: &output) }
            #expect(output == Array("before".utf8))
        }
    }

    @Test func refusedStatusLines() {
        let cases: [(Int, String, HTTPVersion)] = [
            (99, "", .http1_1), (1000, "", .http1_1), (-1, "", .http1_1), (200, "a\r\nb", .http1_1),
            (200, "", HTTPVersion(major: 1, minor: 10)),
        ]
        for (status, reason, version) in cases {
            var output: [UInt8] = []
            #expect(throws: HTTP1Error.self) {
                try ResponseWriter().writeHead(
                    status: status, reason: reason, version: version, fields: HTTPFields(), into: &output)
            }
            #expect(output.isEmpty)
        }
    }

    @Test func chunkHeaders() {
        for (count, text) in [
            (1, "1\r\n"), (10, "a\r\n"), (4096, "1000\r\n"), (Int.max, "7fffffffffffffff\r\n"), (0, ""), (-1, ""),
        ] {
            var output: [UInt8] = []
            ChunkWriter.writeHeader(count: count, into: &output)
            #expect(String(decoding: output, as: UTF8.self) == text)
        }
    }
}
