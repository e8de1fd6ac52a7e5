import LoadingKitHTTP1
import Testing

/// Bodies that are read past the parser, straight into the caller's memory.
@Suite struct DirectBodyTests {
    /// Feeds `input`, but reads the body directly wherever that is allowed, `most` bytes at a time.
    private func readDirectly(_ parser: ResponseParser, _ input: String, most: Int) throws -> Transcript {
        var parser = parser
        var transcript = Transcript()
        let bytes = Array(input.utf8)
        try bytes.withUnsafeBytes { bytes in
            var position = 0
            while position < bytes.count || transcript.entries.isEmpty {
                let direct = min(parser.directBodyBytes, most, bytes.count - position)
                if direct > 0 {
                    transcript.append(body: Array(bytes[position..<position + direct]))
                    position += direct
                    if parser.didReadBody(direct) { transcript.entries.append(.end) }
                    continue
                }
                guard let event = try parser.next(bytes, &position) else { break }
                switch Step(event) {
                case .entry(let entry): transcript.entries.append(entry)
                case .body(let range): transcript.append(body: Array(bytes[range]))
                }
            }
            while let event = try parser.next(bytes, &position) {
                if case .entry(let entry) = Step(event) { transcript.entries.append(entry) }
            }
        }
        transcript.consumed = bytes.count
        return transcript
    }

    static let messages = [
        "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nuntil the connection is closed",
    ]

    @Test(arguments: messages)
    func sameAsThroughTheParser(_ message: String) throws {
        let whole = Transcript(responseParser(), Array(message.utf8))
        for most in [1, 2, 3, 100] {
            #expect(try readDirectly(responseParser(), message, most: most) == whole, "\(most)")
        }
    }

    @Test func onlyInABody() throws {
        var parser = responseParser()
        var sizes: [Int] = []
        for byte in "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".utf8 {
            try [byte].withUnsafeBytes { input in
                var position = 0
                while let _ = try parser.next(input, &position) {}
            }
            if sizes.last != parser.directBodyBytes { sizes.append(parser.directBodyBytes) }
        }
        #expect(sizes == [0, 3, 2, 1, 0])
    }

    /// A chunk whose size was the end of the input is read directly, whole or in part; the parser reads what follows it.
    @Test(arguments: [[5], [2, 3], [1, 1, 1, 1, 1], [2], []])
    func aChunkIsReadDirectly(_ reads: [Int]) throws {
        var parser = responseParser()
        func feed(_ text: String) throws -> [Step] {
            try Array(text.utf8).withUnsafeBytes { input in
                var position = 0
                var steps: [Step] = []
                while let event = try parser.next(input, &position) { steps.append(Step(event)) }
                return steps
            }
        }
        _ = try feed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n")
        var left = 5
        for count in reads {
            #expect(parser.directBodyBytes == left)
            let isComplete = parser.didReadBody(count)
            #expect(!isComplete)
            left -= count
        }
        #expect(parser.directBodyBytes == left)
        let rest = try feed(String(repeating: "x", count: left) + "\r\n0\r\n\r\n")
        #expect(rest.contains { if case .entry(.end) = $0 { true } else { false } })
        #expect(parser.directBodyBytes == 0)
    }

    /// A server reads a request's body as a client reads a response's.
    @Test func aRequestsBodyIsReadDirectly() throws {
        var parser = RequestParser()
        try Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n".utf8).withUnsafeBytes { input in
            var position = 0
            while let _ = try parser.next(input, &position) {}
        }
        #expect(parser.directBodyBytes == 3)
        #expect(throws: HTTP1Error.self) {
            var copy = parser
            _ = try copy.finish()
        }
        let areComplete = [parser.didReadBody(1), parser.didReadBody(2)]
        #expect(areComplete == [false, true])
        #expect(parser.directBodyBytes == 0)
        let end = try parser.finish()
        #expect(end == nil)
    }

    /// More than there may be, or less than nothing, is taken as what there may be.
    @Test func countsThatCannotBe() throws {
        var parser = responseParser()
        var results = [parser.didReadBody(5)]
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n".utf8)
        try head.withUnsafeBytes { input in
            var position = 0
            _ = try parser.next(input, &position)
        }
        #expect(parser.directBodyBytes == .max)
        for count in [-1, .max, .max] { results.append(parser.didReadBody(count)) }
        #expect(parser.directBodyBytes == 1)
        results.append(parser.didReadBody(2))
        #expect(results == [false, false, false, false, true])
        #expect(parser.directBodyBytes == 0)
    }
}
