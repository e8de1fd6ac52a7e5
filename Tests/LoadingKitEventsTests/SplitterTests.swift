import Foundation
import LoadingKit
import LoadingKitEvents
import LoadingKitLoopbackServer
import Testing

/// Lines and records of bodies that a server sends in pieces, cut in every place.
@Suite(.timeLimit(.minutes(5))) struct SplitterTests {
    /// A server that sends the bytes of the query, in two pieces. The query has them in hexadecimal digits, and the size of
    /// the first piece.
    ///
    /// - Parameter staysOpen: whether the response does not end before the client closes the connection.
    private static func serve(
        staysOpen: Bool = false,
        _ body: @Sendable (URLSession, (_ bytes: [UInt8], _ cut: Int) -> URL?) async throws -> Void
    )
        async throws
    {
        let server = try LoopbackServer { request in
            let words = (request.query ?? "").split(separator: "-", omittingEmptySubsequences: false)
            let bytes = stride(from: 0, to: words[0].count, by: 2).compactMap { index -> UInt8? in
                let start = words[0].index(words[0].startIndex, offsetBy: index)
                return UInt8(words[0][start..<words[0].index(start, offsetBy: 2)], radix: 16)
            }
            let cut = Int(words[1]) ?? 0
            return .stream(.chunked) { writer in
                try writer.write(Array(bytes[..<cut]))
                try writer.write(Array(bytes[cut...]))
                if staysOpen { try writer.waitUntilClientCloses() }
            }
        }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        try await body(session) { bytes, cut in
            let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            return URL(string: server.url("/?\(digits)-\(cut)"))
        }
    }

    static let texts: [(String, [String])] = [
        ("", []), ("a", ["a"]), ("a\n", ["a"]), ("\n", [""]), ("a\n\nb", ["a", "", "b"]), ("\r\n\r\n", ["", ""]),
        ("a\rb\r\nc\n\rd", ["a", "b", "c", "", "d"]), ("a\u{0b}b\u{0c}c", ["a", "b", "c"]),
        ("a\u{85}b\u{2028}c\u{2029}d", ["a", "b", "c", "d"]), ("\u{85}\u{2028}", ["", ""]),
        ("é\u{2027}\u{a8}\u{e9}\u{105}", ["é\u{2027}\u{a8}\u{e9}\u{105}"]), ("a\r", ["a"]), ("😀\n😀", ["😀", "😀"]),
    ]

    /// Without the empty ones they are what LoadingKit's own sequence gives.
    @Test(arguments: texts) func linesEndWhereTheyShould(text: String, expected: [String]) async throws {
        try await Self.serve { session, url in
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                let target = try #require(url(bytes, cut))
                let kept = try await session.bytes(from: target).0.lines(keepingEmpty: true)
                #expect(try await kept.reduce(into: []) { $0.append($1) } == expected, "cut at \(cut)")
                let left = try await session.bytes(from: target).0.lines(keepingEmpty: false)
                let apples = try await session.bytes(from: target).0.lines
                let lines = try await left.reduce(into: []) { $0.append($1) }
                #expect(
                    try await apples.reduce(into: []) { $0.append($1) } == lines
                        && lines == expected.filter { $0 != "" })
            }
        }
    }

    @Test func aLineIsAsLongAsTheLimit() async throws {
        try await Self.serve { session, url in
            let bytes = Array("12345\n\n12345\u{2028}123456\n".utf8)
            for cut in 0...bytes.count {
                var lines: [String] = []
                let target = try #require(url(bytes, cut))
                let error = await #expect(throws: LineTooLong.self) {
                    let all = try await session.bytes(from: target).0.lines(keepingEmpty: true, maximumLineSize: 5)
                    for try await line in all { lines.append(line) }
                }
                #expect(error?.limit == 5 && error?.line == 4 && lines == ["12345", "", "12345"])
            }
        }
    }

    /// The largest limits of all: no limits.
    @Test(arguments: [Int.max, .max - 1, .max - 3]) func aLimitMayBeAnyNumber(limit: Int) async throws {
        try await Self.serve { session, url in
            let bytes = Array("a\nbc\u{2028}d".utf8)
            for cut in 0...bytes.count {
                let target = try #require(url(bytes, cut))
                let lines = try await session.bytes(from: target).0.lines(keepingEmpty: true, maximumLineSize: limit)
                #expect(try await lines.reduce(into: []) { $0.append($1) } == ["a", "bc", "d"])
            }
        }
    }

    struct Record: Codable, Sendable, Equatable { var n: Int }

    enum Expected: Sendable {
        case values([Int]), undecodable(after: [Int], record: Int), truncated(after: [Int], record: Int)
    }

    static let recordCases: [(String, JSONRecordFraming, Expected)] = [
        ("", .lines, .values([])), ("{\"n\":1}", .lines, .values([1])),
        ("{\"n\":1}\n{\"n\":2}\r\n\n  \r\n{\"n\":3}\n", .lines, .values([1, 2, 3])),
        ("\u{feff}{\"n\":1}\n", .lines, .values([1])),
        ("{\"n\":1}\n{\"n\":\n{\"n\":3}", .lines, .undecodable(after: [1], record: 2)),
        ("\n{\"n\":1}\n\n[]\n", .lines, .undecodable(after: [1], record: 2)),
        ("", .sequence, .values([])), ("\u{1e}{\"n\":1}\n", .sequence, .values([1])),
        ("\u{1e}{\"n\":1}\n\u{1e}{\n\"n\":2}\n\u{1e}\u{1e}{\"n\":3}", .sequence, .values([1, 2, 3])),
        ("\u{1e}{\"n\":1}\n\u{1e}{\"n\":2\u{1e}{\"n\":3}\n", .sequence, .truncated(after: [1], record: 2)),
        ("{\"n\":1}\n\u{1e}{\"n\":2}\n", .sequence, .truncated(after: [], record: 1)),
        ("\u{1e}{\"n\":1}\n\u{1e}12", .sequence, .truncated(after: [1], record: 2)),
        ("\u{1e}{\"n\":1}\n \n\r\n\u{1e}{\"n\":2}\n\n", .sequence, .values([1, 2])),
        ("\u{1e}{\"n\":1}\n{\"n\":2}\n\u{1e}{\"n\":3}\n", .sequence, .truncated(after: [1], record: 2)),
        ("\u{1e}{\"n\":1}\n2\n", .sequence, .truncated(after: [1], record: 2)),
    ]

    @Test(arguments: recordCases) func recordsAreCutWhereTheyShould(
        text: String, framing: JSONRecordFraming, expected: Expected
    ) async throws {
        try await Self.serve { session, url in
            let bytes = Array(text.utf8)
            for cut in 0...bytes.count {
                var values: [Int] = []
                var failure: JSONRecordError?
                do {
                    let target = try #require(url(bytes, cut))
                    let (all, _) = try await session.lines(of: Record.self, from: target, options: .init(framing))
                    for try await value in all { values.append(value.n) }
                } catch let error as JSONRecordError {
                    failure = error
                }
                switch (expected, failure?.kind) {
                case (.values(let expected), nil): #expect(values == expected)
                case (.undecodable(let expected, let record), .undecodable):
                    #expect(values == expected && failure?.record == record)
                case (.truncated(let expected, let record), .truncated):
                    #expect(values == expected && failure?.record == record)
                default: Issue.record("\(expected): \(values), \(String(describing: failure)), cut at \(cut)")
                }
            }
        }
    }

    /// A record of a text sequence comes with its own end, though there is no other one behind it yet.
    @Test func aRecordDoesNotWaitForTheNextOne() async throws {
        try await Self.serve(staysOpen: true) { session, url in
            let bytes = Array("\u{1e}{\"a\":\"}\\\"\",\n\"n\":1}\n\n \u{1e}\n{\"b\":[\n],\"n\":2}\r\n".utf8)
            for cut in 0...bytes.count {
                var values: [Int] = []
                let (all, _) = try await session.lines(
                    of: Record.self, from: #require(url(bytes, cut)), options: .init(.sequence))
                for try await value in all {
                    values.append(value.n)
                    if values.count == 2 { break }
                }
                #expect(values == [1, 2], "cut at \(cut)")
            }
        }
    }

    @Test func malformedRecordsMayBePassedOver() async throws {
        try await Self.serve { session, url in
            let bytes = Array("{\"n\":1}\n[}\n{\"n\":3}\n\"x\"\n".utf8)
            let skipped = Recorder<Int>()
            var options = JSONRecordOptions()
            options.didSkip = { skipped.append($0.record) }
            let (all, _) = try await session.lines(of: Record.self, from: #require(url(bytes, 3)), options: options)
            #expect(try await all.reduce(into: []) { $0.append($1.n) } == [1, 3] && skipped.snapshot == [2, 4])
            // As bytes, nothing is looked at.
            let (data, _) = try await session.lines(of: Data.self, from: #require(url(bytes, 3)))
            let texts = try await data.reduce(into: []) { $0.append(String(decoding: $1, as: UTF8.self)) }
            #expect(texts == ["{\"n\":1}", "[}", "{\"n\":3}", "\"x\""])
        }
    }

    /// The error has as much of a record as shows that it is too long, also where more has arrived: up to a CR LF behind it.
    @Test(arguments: [("{\"n\":10}", "{\"n\":10}"), ("{\"n\":1234567}", "{\"n\":12345")])
    func aRecordIsAsLongAsTheLimit(_ long: String, _ first: String) async throws {
        try await Self.serve { session, url in
            var options = JSONRecordOptions()
            options.maximumRecordSize = 7
            options.didSkip = { _ in }
            let bytes = Array("{\"n\":1}\r\n {\"n\":2}\n\(long)\n".utf8)
            for cut in 0...bytes.count {
                var values: [Int] = []
                let (all, _) = try await session.lines(
                    of: Record.self, from: #require(url(bytes, cut)), options: options)
                let error = await #expect(throws: JSONRecordError.self) {
                    for try await value in all { values.append(value.n) }
                }
                guard case .tooLong(limit: 7) = error?.kind, error?.record == 3, values == [1, 2],
                    error?.firstBytes == Data(first.utf8)
                else {
                    Issue.record("\(values) \(String(describing: error)), cut at \(cut)")
                    continue
                }
            }
        }
    }

    @Test func anErrorStatusAndALostConnectionAreErrors() async throws {
        let server = try LoopbackServer { request in
            if request.path == "/missing" { return .text("no such list", status: 404) }
            if request.path == "/open" {
                var response = ServerResponse.stream(.chunked) { body in
                    try body.write("no such")
                    try body.waitUntilClientCloses()
                }
                response.status = 404
                return response
            }
            return .stream(.length(100)) { body in
                try body.write("{\"n\":1}\n{\"n\"")
                throw CancellationError()
            }
        }
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        // The error does not wait for the end of the body.
        for (path, text) in [("/missing", "no such list"), ("/open", "no such")] {
            let missing = await #expect(throws: JSONRecordsStatusError.self) {
                _ = try await session.lines(of: Record.self, from: #require(URL(string: server.url(path))))
            }
            #expect(missing?.status == 404 && missing?.firstBytes == Data(text.utf8))
        }
        var values: [Int] = []
        let (all, _) = try await session.lines(of: Record.self, from: #require(URL(string: server.url("/half"))))
        let error = await #expect(throws: URLError.self) { for try await value in all { values.append(value.n) } }
        #expect(error?.code == .networkConnectionLost && values == [1])
    }
}
