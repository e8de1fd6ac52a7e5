import LoadingKitHTTP1
import Testing

/// Chunked bodies and trailer sections (RFC 9112 §7.1).
@Suite struct ChunkedBodyTests {
    static let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    static let request = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

    static let bodies: [(chunks: String, body: String)] = [
        ("0\r\n\r\n", ""),
        ("1\r\na\r\n0\r\n\r\n", "a"),
        ("00A\r\n0123456789\r\n000\r\n\r\n", "0123456789"),
        ("a\r\n0123456789\r\n0\r\n\r\n", "0123456789"),
        ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
        ("1;\r\na\r\n0;x\r\n\r\n", "a"),
        ("1;a=b;c=\"d e\"\r\na\r\n0\r\n\r\n", "a"),
        ("1;\u{e9}\t\r\na\r\n0\r\n\r\n", "a"),
    ]

    @Test(arguments: bodies.indices)
    func body(_ index: Int) {
        let (chunks, body) = Self.bodies[index]
        for transcript in [
            verified(responseParser(), Self.response + chunks), verified(RequestParser(), Self.request + chunks),
        ] {
            #expect(transcript.body == Array(body.utf8))
            #expect(transcript.ends == 1 && transcript.error == nil)
        }
    }

    /// A piece of the input ends behind a chunk's size, and begins within the end of the chunk before.
    @Test func aSizeIsTheEndOfAPiece() throws {
        var parser = responseParser()
        var (body, ends) = ([UInt8](), 0)
        for piece in [Self.response + "1\r\na\r", "\n2\r\n", "bc\r\n0\r\n\r\n"] {
            var position = 0
            try Array(piece.utf8).withUnsafeBytes { input in
                while let event = try parser.next(input, &position) {
                    if case .body(let range) = event { body += input[range] }
                    if case .end = event { ends += 1 }
                }
            }
        }
        #expect(body == Array("abc".utf8) && ends == 1)
    }

    static let errors: [(chunks: String, kind: HTTP1Error.Kind, offset: Int)] = [
        ("\r\n", .invalidChunkSize, 0),
        ("g\r\n", .invalidChunkSize, 0),
        ("-1\r\n", .invalidChunkSize, 0),
        ("+1\r\n", .invalidChunkSize, 0),
        (" 1\r\n", .invalidChunkSize, 0),
        ("0x1\r\n", .invalidChunkSize, 1),
        ("1_0\r\n", .invalidChunkSize, 1),
        (";a\r\n", .invalidChunkSize, 0),
        ("1\na\r\n0\r\n\r\n", .invalidChunkSize, 1),
        ("1\r\r\na\r\n", .invalidChunkSize, 2),
        ("1\ra", .invalidChunkSize, 2),
        ("1;a\nb\r\n", .invalidChunkSize, 3),
        ("1;a\rb\r\n", .invalidChunkSize, 4),
        ("1;a\0b\r\n", .invalidChunkSize, 3),
        ("1\0\r\n", .invalidChunkSize, 1),
        ("10000000000000000\r\n", .chunkSizeOverflow, 16),
        ("fffffffffffffffff\r\n", .chunkSizeOverflow, 16),
        (String(repeating: "0", count: 65), .chunkSizeOverflow, 64),
        ("1\r\nab\r\n", .missingChunkEnd, 4),
        ("1\r\na\n0\r\n\r\n", .missingChunkEnd, 4),
        ("1\r\na\r0\r\n\r\n", .missingChunkEnd, 5),
        ("0\r\n: a\r\n\r\n", .invalidFieldName, 3),
        ("0\r\n a\r\n\r\n", .invalidFieldName, 3),
        ("0\r\nA: \0\r\n\r\n", .invalidFieldValue, 6),
        ("0\r\n\rA", .invalidFieldName, 4),
    ]

    @Test(arguments: errors.indices)
    func error(_ index: Int) {
        let (chunks, kind, offset) = Self.errors[index]
        #expect(
            verified(responseParser(), Self.response + chunks).error
                == HTTP1Error(kind, offset: Self.response.utf8.count + offset))
        #expect(
            verified(RequestParser(), Self.request + chunks).error
                == HTTP1Error(kind, offset: Self.request.utf8.count + offset))
    }

    /// Old servers pad their sizes; a client has no reason to.
    @Test func spaceAfterASize() {
        for chunks in ["1  \r\na\r\n0\t\r\n\r\n", "1 ;x\r\na\r\n0 \r\n\r\n"] {
            #expect(verified(responseParser(), Self.response + chunks).body == [UInt8(ascii: "a")])
            #expect(verified(RequestParser(), Self.request + chunks).error?.kind == .invalidChunkSize)
        }
        #expect(verified(responseParser(), Self.response + "1 1\r\n").error?.kind == .invalidChunkSize)
    }

    @Test func theLargestChunk() {
        let transcript = verified(responseParser(), Self.response + "ffffffffffffffff\r\nabc")
        #expect(transcript.body == Array("abc".utf8) && transcript.error == nil)
    }

    @Test func trailers() throws {
        let section = "0\r\nChecksum: 1\r\nContent-Length: 9\r\nHost: h\r\nchecksum:2\n\r\n"
        let transcript = verified(responseParser(), Self.response + section)
        let trailers = try #require(transcript.trailers.first)
        #expect(trailers.map(\.name) == ["Checksum", "checksum"])
        #expect(trailers[name: "CHECKSUM"] == "1, 2")
        #expect(transcript.entries.last == .end)
        let strict = section.replacing("2\n", with: "2\r\n")
        #expect(verified(RequestParser(), Self.request + strict).trailers == [trailers])
    }

    @Test func trailersThatAreAllDropped() {
        let transcript = verified(responseParser(), Self.response + "0\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(transcript.trailers.isEmpty && transcript.ends == 1)
    }

    @Test func continuedTrailers() {
        let section = "0\r\nA: b\r\n c\r\n\r\n"
        #expect(verified(responseParser(), Self.response + section).trailers.first?[name: "a"] == "b   c")
        #expect(verified(RequestParser(), Self.request + section).error?.kind == .obsoleteLineFolding)
    }
}
