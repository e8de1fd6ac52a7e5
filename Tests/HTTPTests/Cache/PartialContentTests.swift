import Foundation
import LoadingKitCore
import LoadingKitPrimitives
import Testing

@testable import LoadingKitHTTP

@Suite("Partial content") struct PartialContentTests {
    @Test(
        "is asked for in one range of bytes",
        arguments: [
            ("bytes=0-4", 0..<5 as Range<Int64>?), ("BYTES=2-", 2..<10), ("bytes=-3", 7..<10), ("bytes=-30", 0..<10),
            ("bytes=8-300", 8..<10), ("bytes= 1 - 2 ", 1..<3), ("bytes=10-", nil), ("bytes=-0", nil),
            ("bytes=5-4", nil),
            ("bytes=1-2,4-5", nil), ("lines=1-2", nil), ("bytes", nil), ("bytes=", nil), ("bytes=-", nil),
            ("bytes=a-b", nil), ("bytes=1-2-3", nil), ("bytes=+1-2", nil), ("bytes=99999999999999999999-", nil),
            ("bytes=0-9223372036854775807", 0..<10), ("bytes=-9223372036854775807", 0..<10),
        ])
    func ranges(_ field: String, _ range: Range<Int64>?) {
        #expect(ByteRange(field)?.resolved(total: 10) == range)
        _ = ByteRange(field)?.resolved(total: .max)
        #expect(ByteRange(field)?.resolved(total: 0)?.isEmpty != false)
    }

    @Test(
        "says what it is",
        arguments: [
            ("bytes 0-4/10", ContentRange(0..<5, total: 10)), ("Bytes 3-4/*", ContentRange(3..<5, total: nil)),
            ("bytes 0-4/4", nil), ("bytes 4-3/10", nil), ("bytes */10", nil), ("bytes 0-4", nil), ("0-4/10", nil),
            ("bytes 0-9223372036854775807/*", nil), ("bytes 0-1/x", nil), ("items 0-1/2", nil), ("", nil),
        ])
    func contentRange(_ field: String, _ range: ContentRange?) {
        #expect(ContentRange(field) == range)
        if let range, range.total != nil { #expect(range.string == field) }
    }

    struct Case: Sendable {
        let answer: PartialContent.Answer?
        let request: [String]
        var fields = ["ETag: \"a\"", "Last-Modified: \(date(-50))"]
        var part: CacheMetadata.Part?
    }

    private static func part(_ range: Range<Int>, _ content: Range<Int64>) -> PartialContent.Answer {
        .part(range, ContentRange(content, total: 10))
    }

    @Test(
        "is cut out of what is stored",
        arguments: [
            Case(answer: part(2..<5, 2..<5), request: ["Range: bytes=2-4"]),
            Case(answer: nil, request: []), Case(answer: nil, request: ["Range: bytes=10-"]),
            Case(answer: nil, request: ["Range: bytes=1-2, 4-5"]),
            Case(answer: nil, request: ["Range: bytes=2-4"], fields: ["Content-Encoding: gzip"]),
            Case(answer: part(2..<5, 2..<5), request: ["Range: bytes=2-4", "If-Range: \"a\""]),
            Case(answer: .whole, request: ["Range: bytes=2-4", "If-Range: \"b\""]),
            Case(answer: .whole, request: ["Range: bytes=2-4", "If-Range: W/\"a\""]),
            Case(answer: part(2..<5, 2..<5), request: ["Range: bytes=2-4", "If-Range: \(date(-50))"]),
            Case(answer: .whole, request: ["Range: bytes=2-4", "If-Range: \(date(-51))"]),
            Case(answer: nil, request: ["Range: bytes=2-4"], part: .init(start: 3, total: 20)),
            Case(
                answer: .part(0..<2, ContentRange(3..<5, total: 20)), request: ["Range: bytes=3-4"],
                part: .init(start: 3, total: 20)),
            Case(answer: nil, request: ["Range: bytes=12-13"], part: .init(start: 3, total: 20)),
            Case(answer: nil, request: ["Range: bytes=3-4", "If-Range: \"b\""], part: .init(start: 3, total: 20)),
            Case(answer: nil, request: ["Range: bytes=-1"], part: .init(start: .max, total: nil)),
        ])
    func answers(_ test: Case) throws {
        let response = try stored(200, test.fields, data: "0123456789", part: test.part)
        #expect(PartialContent.answer(.lines(test.request), response, now: receipt) == test.answer, "\(test)")
    }

    @Test(
        "is put together where no byte is missing",
        arguments: [
            (0, "abc", 3, "def", 0, "abcdef"), (3, "def", 0, "abc", 0, "abcdef"), (0, "abcd", 2, "cdef", 0, "abcdef"),
            (0, "abcdef", 2, "cd", 0, "abcdef"), (2, "c", 2, "cd", 2, "cd"), (0, "abc", 4, "ef", -1, ""),
        ])
    func joining(_ a: Int64, _ first: String, _ b: Int64, _ second: String, _ start: Int64, _ whole: String) {
        let joined = PartialContent.joined((a, Data(first.utf8)), (b, Data(second.utf8)))
        #expect(joined.map { String(decoding: $0.data, as: UTF8.self) } ?? "" == whole)
        #expect(joined?.start ?? -1 == start)
    }

    @Test(
        "belongs together by strong tags alone",
        arguments: [
            (true, "ETag: \"a\"", "ETag: \"a\""), (false, "ETag: \"a\"", "ETag: \"b\""),
            (false, "ETag: W/\"a\"", "ETag: W/\"a\""), (false, "A: b", "A: b"),
        ])
    func sameness(_ same: Bool, _ a: String, _ b: String) {
        #expect(PartialContent.isSameRepresentation(.lines(a), .lines(b)) == same)
    }
}
