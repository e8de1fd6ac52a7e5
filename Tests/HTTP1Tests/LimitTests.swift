import LoadingKitHTTP1
import Testing

/// What a peer may send, to the byte.
@Suite struct LimitTests {
    /// Limits small enough to be met in a test.
    private func limits(_ change: (inout HTTP1Limits) -> Void) -> HTTP1Limits {
        var limits = HTTP1Limits()
        change(&limits)
        return limits
    }

    @Test func defaults() {
        let limits = HTTP1Limits()
        #expect(limits.headBytes == 256 * 1024 && limits.fieldCount == 1000 && limits.interimResponses == 32)
    }

    @Test func headBytes() {
        let head = "HTTP/1.1 200 OK\r\nA: bcd\r\nContent-Length: 0\r\n\r\n"
        let count = head.utf8.count
        #expect(verified(responseParser(limits: limits { $0.headBytes = count }), head).error == nil)
        for less in 0..<count {
            let transcript = verified(responseParser(limits: limits { $0.headBytes = less }), head)
            #expect(transcript.error == HTTP1Error(.headTooLarge, offset: less))
        }
        // Empty lines are not part of the head.
        #expect(verified(responseParser(limits: limits { $0.headBytes = count }), "\r\n" + head).error == nil)
    }

    @Test func trailersCountAsTheHeadDoes() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = "1\r\na\r\n0\r\n"
        let trailers = "A: b\r\n\r\n"
        let count = head.utf8.count + trailers.utf8.count
        #expect(verified(responseParser(limits: limits { $0.headBytes = count }), head + chunk + trailers).error == nil)
        let larger = verified(responseParser(limits: limits { $0.headBytes = count - 1 }), head + chunk + trailers)
        #expect(larger.error?.kind == .headTooLarge)
        #expect(verified(responseParser(limits: limits { $0.fieldCount = 2 }), head + chunk + trailers).error == nil)
        let more = verified(responseParser(limits: limits { $0.fieldCount = 1 }), head + chunk + trailers)
        #expect(more.error?.kind == .tooManyFields)
    }

    @Test func fieldCount() {
        let head = "HTTP/1.1 204 No\r\nA: b\r\nA: b\r\nA: b\r\n\r\n"
        #expect(verified(responseParser(limits: limits { $0.fieldCount = 3 }), head).error == nil)
        let transcript = verified(responseParser(limits: limits { $0.fieldCount = 2 }), head)
        #expect(transcript.error == HTTP1Error(.tooManyFields, offset: 29))
    }

    @Test func startLine() {
        let response = "HTTP/1.1 204 No Content\r\n\r\n"
        #expect(verified(responseParser(limits: limits { $0.startLineBytes = 23 }), response).error == nil)
        #expect(
            verified(responseParser(limits: limits { $0.startLineBytes = 22 }), response).error
                == HTTP1Error(.startLineTooLong, offset: 22))
        let request = "GET /abc HTTP/1.1\r\nHost: h\r\n\r\n"
        #expect(verified(RequestParser(limits: limits { $0.startLineBytes = 17 }), request).error == nil)
        for less in 0..<8 {
            let transcript = verified(RequestParser(limits: limits { $0.startLineBytes = less }), request)
            #expect(transcript.error == HTTP1Error(.startLineTooLong, offset: less))
        }
    }

    @Test func interimResponses() {
        let interim = "HTTP/1.1 102 Processing\r\n\r\n"
        let final = "HTTP/1.1 204 No Content\r\n\r\n"
        let parser = responseParser(limits: limits { $0.interimResponses = 2 })
        #expect(verified(parser, interim + interim + final + interim + interim + final).error == nil)
        #expect(verified(parser, interim + interim + interim).error?.kind == .tooManyInterimResponses)
    }

    @Test func emptyLines() {
        let head = "HTTP/1.1 204 No Content\r\n\r\n"
        let parser = responseParser(limits: limits { $0.leadingEmptyLineBytes = 4 })
        #expect(verified(parser, "\r\n\r\n" + head).error == nil)
        #expect(verified(parser, "\r\n\n\r\n" + head).error?.kind == .malformedStatusLine)
        let requests = RequestParser(limits: limits { $0.leadingEmptyLineBytes = 4 })
        #expect(verified(requests, "\r\n\r\n\n").error?.kind == .malformedRequestLine)
    }

    @Test func chunkExtensions() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let parser = responseParser(limits: limits { $0.chunkExtensionBytes = 3 })
        #expect(verified(parser, head + "1;ab\r\na\r\n0;ab\r\n\r\n").error == nil)
        #expect(verified(parser, head + "1;abc\r\n").error?.kind == .chunkExtensionTooLong)
    }

    /// A limit of nothing, or less, lets nothing through, and nothing else happens.
    @Test(arguments: [Int.min, -1, 0])
    func limitsOfNothing(_ number: Int) {
        let head = "HTTP/1.1 204 No Content\r\nA: b\r\n\r\n"
        let changes: [(inout HTTP1Limits) -> Void] = [
            { $0.headBytes = number }, { $0.fieldCount = number }, { $0.startLineBytes = number },
        ]
        for change in changes {
            #expect(verified(responseParser(limits: limits(change)), head).error != nil)
        }
    }

    @Test func limitsOfEverything() {
        let all = limits {
            $0.headBytes = .max
            $0.fieldCount = .max
            $0.startLineBytes = .max
            $0.interimResponses = .max
            $0.leadingEmptyLineBytes = .max
            $0.chunkExtensionBytes = .max
        }
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\na\r\n0\r\nA: b\r\n\r\n"
        #expect(verified(responseParser(limits: all), "\r\n" + chunked).ends == 1)
    }
}
