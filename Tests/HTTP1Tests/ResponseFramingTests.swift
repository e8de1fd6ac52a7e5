import LoadingKitHTTP1
import Testing

/// How the end of a response's body is found (RFC 9112 §6.3), and whether the connection lives on (§9.3).
@Suite struct ResponseFramingTests {
    struct Case: Sendable {
        var head: String
        var method = "GET"
        var framing: BodyFraming
        var reuse: Bool

        init(_ head: String, to method: String = "GET", _ framing: BodyFraming, reuse: Bool) {
            self.head = head
            self.method = method
            self.framing = framing
            self.reuse = reuse
        }
    }

    static let cases: [Case] = [
        // Case 1: no body, whatever the fields say.
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", to: "HEAD", .none, reuse: true),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", to: "HEAD", .none, reuse: true),
        Case("HTTP/1.1 200 OK\r\n", to: "HEAD", .none, reuse: true),
        Case("HTTP/1.1 204 No Content\r\n", .none, reuse: true),
        Case("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n", .none, reuse: true),
        Case("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n", .none, reuse: true),
        Case("HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n", .none, reuse: true),
        // Case 2: another protocol follows.
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", to: "CONNECT", .none, reuse: false),
        Case("HTTP/1.1 299 OK\r\nTransfer-Encoding: chunked\r\n", to: "CONNECT", .none, reuse: false),
        Case("HTTP/1.1 407 No\r\nContent-Length: 5\r\n", to: "CONNECT", .length(5), reuse: true),
        Case("HTTP/1.1 101 Switching Protocols\r\nContent-Length: 5\r\n", .none, reuse: false),
        // Cases 4 and 3: chunked, chunked with a length, other codings, HTTP/1.0.
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n", .chunked, reuse: true),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n", .chunked, reuse: true),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", .chunked, reuse: true),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: , chunked ,\r\n", .chunked, reuse: true),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n", .chunked, reuse: false),
        Case("HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n", .chunked, reuse: false),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 5\r\n", .untilClose, reuse: false),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n", .untilClose, reuse: false),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n", .untilClose, reuse: false),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n", .untilClose, reuse: false),
        Case("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n", .untilClose, reuse: false),
        Case(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", .untilClose,
            reuse: false),
        Case("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n", .chunked, reuse: false),
        // Case 6: a length.
        Case("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", .length(0), reuse: true),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n", .length(5), reuse: true),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length: 05\r\n", .length(5), reuse: true),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n", .length(.max), reuse: true),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: foo, CLOSE\r\n", .length(5), reuse: false),
        Case("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: closed\r\n", .length(5), reuse: true),
        Case("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n", .length(5), reuse: false),
        Case("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n", .length(5), reuse: true),
        Case("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: foo, keep-alive\r\n", .length(5), reuse: true),
        Case("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: foo, bar\r\n", .length(5), reuse: false),
        Case("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive, close\r\n", .length(5), reuse: false),
        // Case 8: the rest.
        Case("HTTP/1.1 200 OK\r\n", .untilClose, reuse: false),
        Case("HTTP/1.1 404 Not Found\r\nConnection: keep-alive\r\n", .untilClose, reuse: false),
    ]

    @Test(arguments: cases)
    func framing(_ test: Case) throws {
        let parser = responseParser(to: test.method)
        let transcript = verified(parser, test.head + "\r\n")
        #expect(transcript.framings == [test.framing])
        var again = parser
        var position = 0
        try Array((test.head + "\r\n").utf8).withUnsafeBytes { _ = try again.next($0, &position) }
        #expect(again.allowsReuse == test.reuse)
    }

    static let errors: [(String, HTTP1Error.Kind)] = [
        ("Content-Length: 5, 6", .conflictingContentLength),
        ("Content-Length: 5\r\nContent-Length: 6", .conflictingContentLength),
        ("Content-Length: 6\r\nContent-Length: 5\r\nContent-Length: 6", .conflictingContentLength),
        ("Content-Length:", .malformedContentLength),
        ("Content-Length: 5,", .malformedContentLength),
        ("Content-Length: ,5", .malformedContentLength),
        ("Content-Length: +5", .malformedContentLength),
        ("Content-Length: -5", .malformedContentLength),
        ("Content-Length: 0x5", .malformedContentLength),
        ("Content-Length: 5 5", .malformedContentLength),
        ("Content-Length: 5.0", .malformedContentLength),
        ("Content-Length: 1\r\n 0", .malformedContentLength),
        ("Content-Length: 18446744073709551616", .malformedContentLength),
        ("Content-Length: 99999999999999999999999999", .malformedContentLength),
        ("Transfer-Encoding: chunked, chunked", .invalidTransferEncoding),
        ("Transfer-Encoding: chunked;q=1", .invalidTransferEncoding),
        ("Transfer-Encoding: chunked, gzip, chunked", .invalidTransferEncoding),
    ]

    @Test(arguments: errors.indices)
    func error(_ index: Int) {
        let (fields, kind) = Self.errors[index]
        let transcript = verified(responseParser(), "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n")
        #expect(transcript.error?.kind == kind)
        #expect(transcript.entries.isEmpty)
    }

    @Test func bodies() {
        let length = verified(responseParser(), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        #expect(length.body == Array("hello".utf8))
        #expect(length.entries.last == .end)

        let close = verified(responseParser(), "HTTP/1.1 200 OK\r\n\r\nhello", isClosed: true)
        #expect(close.body == Array("hello".utf8))
        #expect(close.entries.last == .end)

        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
        let chunked = verified(responseParser(), chunks + chunks)
        #expect(chunked.body == Array("hellohello".utf8))
        #expect(chunked.ends == 2)
    }

    @Test func anotherProtocolIsLeftAlone() {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
        let switched = verified(responseParser(), head + "\0not HTTP")
        #expect(switched.ends == 1 && switched.error == nil)
        #expect(switched.consumed == head.utf8.count)
        let tunnel = "HTTP/1.0 200 Connection established\r\n\r\n"
        let connected = verified(responseParser(to: "CONNECT"), tunnel + "HTTP/1.1 200 OK\r\n\r\n")
        #expect(connected.responses.count == 1 && connected.ends == 1)
        #expect(connected.consumed == tunnel.utf8.count)
    }

    @Test func closedEarly() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let cases: [(String, HTTP1Error.ClosedEarly)] = [
            ("H", .inHead), ("HTTP/1.1 200 OK\r\n", .inHead),
            ("HTTP/1.1 100 Continue\r\n\r\n", .beforeFinalResponse),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", .inBody(missing: 2)),
            (chunked, .inChunkedBody), (chunked + "2\r\nhe", .inChunkedBody),
            (chunked + "2\r\nhe\r\n0", .inChunkedBody),
            (chunked + "0\r\n", .inTrailers), (chunked + "0\r\nA: b\r\n", .inTrailers),
        ]
        for (input, place) in cases {
            let transcript = verified(responseParser(), input, isClosed: true)
            #expect(transcript.error == HTTP1Error(.closedEarly(place), offset: transcript.error?.offset ?? -1))
        }
        for input in ["", "\r\n", "HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"] {
            #expect(verified(responseParser(), input, isClosed: true).error == nil)
        }
    }
}
