import LoadingKitHTTP1
import Testing

/// Requests, as a server must read them (RFC 9112 §3).
@Suite struct RequestParserTests {
    static let lines: [(line: String, method: String, target: String)] = [
        ("GET / HTTP/1.1\r\n", "GET", "/"),
        ("GET /a?b=c%20d HTTP/1.1\r\n", "GET", "/a?b=c%20d"),
        ("GET //a/../\"<>[]^{|}\\ HTTP/1.1\r\n", "GET", "//a/../\"<>[]^{|}\\"),
        ("M-SEARCH http://h/ HTTP/1.1\r\n", "M-SEARCH", "http://h/"),
        ("OPTIONS * HTTP/1.1\r\n", "OPTIONS", "*"),
        ("OPTIONS /x HTTP/1.1\r\n", "OPTIONS", "/x"),
        ("CONNECT h:443 HTTP/1.1\r\n", "CONNECT", "h:443"),
        ("CONNECT [::1]:443 HTTP/1.1\r\n", "CONNECT", "[::1]:443"),
        ("\r\nGET / HTTP/1.1\r\n", "GET", "/"),
        ("\nGET / HTTP/1.0\r\n", "GET", "/"),
    ]

    @Test(arguments: lines.indices)
    func requestLine(_ index: Int) throws {
        let (line, method, target) = Self.lines[index]
        let transcript = verified(RequestParser(), line + "Host: h\r\n\r\n")
        let head = try #require(transcript.requests.first)
        #expect(head.method == method && head.target == target)
        #expect(transcript.framings == [.none] && transcript.ends == 1)
    }

    /// The client closes its side behind a request whose end was not asked for.
    @Test func aRequestEndsWithTheConnection() throws {
        var parser = RequestParser()
        var position = 0
        let head = try Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8).withUnsafeBytes {
            try parser.next($0, &position)
        }
        guard case .head? = head else { return _ = Issue.record("no head") }
        guard case .end? = try parser.finish() else { return _ = Issue.record("no end") }
        #expect(try parser.finish() == nil)
    }

    static let badLines: [(line: String, kind: HTTP1Error.Kind)] = [
        ("GET /\r\n", .malformedRequestLine),
        ("GET  / HTTP/1.1\r\n", .malformedRequestLine),
        ("GET /  HTTP/1.1\r\n", .malformedRequestLine),
        ("GET / HTTP/1.1 \r\n", .malformedRequestLine),
        ("GET\t/ HTTP/1.1\r\n", .malformedRequestLine),
        (" GET / HTTP/1.1\r\n", .malformedRequestLine),
        ("G(T / HTTP/1.1\r\n", .malformedRequestLine),
        ("GET /\u{e9} HTTP/1.1\r\n", .malformedRequestLine),
        ("GET /\0 HTTP/1.1\r\n", .malformedRequestLine),
        ("GET / http/1.1\r\n", .malformedRequestLine),
        ("GET / HTTP/1.1\rX", .malformedRequestLine),
        ("GET / HTTP/11\r\n", .malformedRequestLine),
        ("GET / HTTP/2.0\r\n", .unsupportedVersion),
        ("PRI * HTTP/2.0\r\n", .unsupportedVersion),
        ("GET a HTTP/1.1\r\n", .invalidTarget),
        ("GET * HTTP/1.1\r\n", .invalidTarget),
        ("GET h:80 HTTP/1.1\r\n", .invalidTarget),
        ("GET /a#b HTTP/1.1\r\n", .invalidTarget),
        ("GET http:// HTTP/1.1\r\n", .invalidTarget),
        ("GET 1http://h HTTP/1.1\r\n", .invalidTarget),
        ("OPTIONS ** HTTP/1.1\r\n", .invalidTarget),
        ("CONNECT / HTTP/1.1\r\n", .invalidTarget),
        ("CONNECT h HTTP/1.1\r\n", .invalidTarget),
        ("CONNECT h: HTTP/1.1\r\n", .invalidTarget),
        ("CONNECT :80 HTTP/1.1\r\n", .invalidTarget),
        ("CONNECT u@h:80 HTTP/1.1\r\n", .invalidTarget),
        ("CONNECT h:8a HTTP/1.1\r\n", .invalidTarget),
    ]

    @Test(arguments: badLines.indices)
    func badRequestLine(_ index: Int) {
        let (line, kind) = Self.badLines[index]
        let transcript = verified(RequestParser(), line + "Host: h\r\n\r\n")
        #expect(transcript.error?.kind == kind)
        #expect(transcript.entries.isEmpty)
    }

    /// RFC 9112 §2.2 lets a recipient take a bare LF for a line's end. Where another one before it does not, the two read
    /// other requests.
    static let bareLineFeeds: [(request: String, kind: HTTP1Error.Kind)] = [
        ("GET / HTTP/1.1\nHost: h\r\n\r\n", .malformedRequestLine),
        ("GET / HTTP/1.1\nHost: h\n\n", .malformedRequestLine),
        ("GET / HTTP/1.1\r\nHost: h\n\r\n", .invalidFieldValue),
        ("GET / HTTP/1.1\r\nHost: h\nA: b\r\n\r\n", .invalidFieldValue),
        ("GET / HTTP/1.1\r\nHost:\n\r\n", .invalidFieldValue),
        ("GET / HTTP/1.1\r\nHost: h\r\n\n", .invalidFieldName),
        ("GET / HTTP/1.1\r\n\n", .invalidFieldName),
        ("GET / HTTP/1.1\r\nHost: h\r\nA\n: b\r\n\r\n", .invalidFieldName),
    ]

    @Test(arguments: bareLineFeeds.indices)
    func bareLineFeed(_ index: Int) {
        let (request, kind) = Self.bareLineFeeds[index]
        let transcript = verified(RequestParser(), request)
        #expect(transcript.error?.kind == kind)
        #expect(transcript.entries.isEmpty)
        // A user agent takes it for a line's end.
        #expect(verified(responseParser(), "HTTP/1.1 200 OK\nContent-Length: 0\n\n").ends == 1)
    }

    /// The trailers' lines, too.
    static let bareLineFeedsInTrailers: [(trailers: String, kind: HTTP1Error.Kind)] = [
        ("\n", .invalidFieldName),
        ("A: b\n\r\n", .invalidFieldValue),
        ("A: b\r\nC: d\n\r\n", .invalidFieldValue),
        ("A:\n\r\n", .invalidFieldValue),
        ("A: b\r\n\n", .invalidFieldName),
        ("A\n: b\r\n\r\n", .invalidFieldName),
    ]

    @Test(arguments: bareLineFeedsInTrailers.indices)
    func bareLineFeedInTrailers(_ index: Int) {
        let (trailers, kind) = Self.bareLineFeedsInTrailers[index]
        let request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        let transcript = verified(RequestParser(), request + trailers)
        #expect(transcript.error?.kind == kind && transcript.ends == 0)
        // A user agent takes it for a line's end, where it may be one.
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        #expect(verified(responseParser(), response + trailers).ends == (trailers.hasPrefix("A\n") ? 0 : 1))
    }

    static let badFields: [(fields: String, kind: HTTP1Error.Kind)] = [
        ("", .invalidHost),
        ("Host: a\r\nHost: a\r\n", .invalidHost),
        ("Host: a b\r\n", .invalidHost),
        ("Host: a/b\r\n", .invalidHost),
        ("Host: u@h\r\n", .invalidHost),
        ("Host: a\u{e9}\r\n", .invalidHost),
        ("Host : h\r\n", .invalidFieldName),
        ("Host: h\r\n x\r\n", .obsoleteLineFolding),
        ("Host: h\r\nTransfer-Encoding : chunked\r\n", .invalidFieldName),
        ("Host: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", .lengthAndTransferEncoding),
        ("Host: h\r\nTransfer-Encoding: x\r\nContent-Length: 5\r\n", .lengthAndTransferEncoding),
        ("Host: h\r\nTransfer-Encoding: gzip\r\n", .invalidTransferEncoding),
        ("Host: h\r\nTransfer-Encoding: identity\r\n", .invalidTransferEncoding),
        ("Host: h\r\nTransfer-Encoding: chunked, identity\r\n", .invalidTransferEncoding),
        ("Host: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .invalidTransferEncoding),
        ("Host: h\r\nTransfer-Encoding:\r\n", .invalidTransferEncoding),
        ("Host: h\r\nTransfer-Encoding: \u{b}chunked\r\n", .invalidFieldValue),
        ("Host: h\r\nContent-Length: 5, 6\r\n", .conflictingContentLength),
        ("Host: h\r\nContent-Length: +5\r\n", .malformedContentLength),
        ("Host: h\r\nContent-Length: 5 \u{b}\r\n", .invalidFieldValue),
    ]

    @Test(arguments: badFields.indices)
    func badField(_ index: Int) {
        let (fields, kind) = Self.badFields[index]
        let transcript = verified(RequestParser(), "POST / HTTP/1.1\r\n\(fields)\r\n")
        #expect(transcript.error?.kind == kind)
        #expect(transcript.entries.isEmpty)
    }

    @Test func version1_0() {
        #expect(verified(RequestParser(), "GET / HTTP/1.0\r\n\r\n").ends == 1)
        let chunked = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(verified(RequestParser(), chunked).error?.kind == .invalidTransferEncoding)
    }

    @Test func requestsOneAfterTheOther() {
        let first = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
        let second = "PUT /2 HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ndef\r\n0\r\n\r\n"
        let third = "GET /3 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        let transcript = verified(RequestParser(), first + second + third)
        #expect(transcript.requests.map(\.target) == ["/1", "/2", "/3"])
        #expect(transcript.body == Array("abcdef".utf8))
        #expect(transcript.ends == 3)
        #expect(verified(RequestParser(), third + first).error?.kind == .unexpectedBytes)
    }

    @Test func closedEarly() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"
        #expect(verified(RequestParser(), "", isClosed: true).error == nil)
        #expect(verified(RequestParser(), "GET", isClosed: true).error?.kind == .closedEarly(.inHead))
        let missing = verified(RequestParser(), head + "a", isClosed: true)
        #expect(missing.error?.kind == .closedEarly(.inBody(missing: 2)))
        #expect(verified(RequestParser(), head + "abc", isClosed: true).error == nil)
    }
}
