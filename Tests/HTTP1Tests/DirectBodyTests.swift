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
