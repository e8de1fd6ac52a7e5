import Foundation
import LoadingKitCore
import Testing

/// `Range` of requests, and `Content-Range` of responses.
@Suite struct ByteRangeTests {
    @Test func contentRanges() {
        let good: [(String, Range<Int64>, Int64?)] = [
            ("bytes 0-9/100", 0..<10, 100), ("bytes 5-5/*", 5..<6, nil), ("Bytes 90-99/100", 90..<100, 100),
        ]
        for (text, range, total) in good {
            let parsed = HTTPURLResponse.ContentRange(text)
            #expect(parsed?.range == range && parsed?.total == total, "\(text)")
        }
        let bad = [
            "", "bytes", "bytes 0-9", "bytes 9-0/100", "bytes 0-100/100", "bytes */100", "bytes -1-2/3", "bytes 0-9/x",
            "bytes 0-9223372036854775807/*", "lines 0-9/100", "bytes 0-99999999999999999999/*",
        ]
        for text in bad { #expect(HTTPURLResponse.ContentRange(text) == nil, "\(text)") }
    }

    @Test func contentRangesAreWritten() {
        #expect(HTTPURLResponse.ContentRange(0..<10, total: 100).string == "bytes 0-9/100")
        #expect(HTTPURLResponse.ContentRange(5..<6, total: nil).string == "bytes 5-5/*")
    }

    @Test func rangesAreResolved() {
        let table: [(String, Int64, Range<Int64>?)] = [
            ("bytes=0-9", 100, 0..<10), ("Bytes=90-", 100, 90..<100), ("bytes=-10", 100, 90..<100),
            ("bytes=-1000", 100, 0..<100), ("bytes=0-99999999999999999999", 100, 0..<100),
            ("bytes=0-9", .max, 0..<10), ("bytes=0-", .max, 0..<(.max)), ("bytes=100-", 100, nil),
            ("bytes=-0", 100, nil), ("bytes=-1", 0, 0..<0), ("bytes=0-", 0, nil), ("bytes=0-", -1, nil),
            ("bytes=-9223372036854775807", -2, nil),
        ]
        for (field, total, range) in table {
            let parsed = URLRequest.ByteRange(field)
            #expect(parsed != nil && parsed?.resolved(total: total) == range, "\(field) of \(total)")
        }
        for field in ["", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=1-2,4-5", "lines=1-2", "bytes=+1-2"] {
            #expect(URLRequest.ByteRange(field) == nil, "\(field)")
        }
    }

    /// Values that no field gives, but a program can make.
    @Test func rangesThatAreNone() {
        let ranges: [URLRequest.ByteRange] = [
            .from(5, through: 4), .from(-1, through: 4), .from(.min, through: nil), .from(.max, through: .max),
            .suffix(-1), .suffix(.min),
        ]
        for range in ranges {
            for total in [Int64.min, -1, 0, 1, 10, .max] { #expect(range.resolved(total: total) == nil, "\(range)") }
        }
    }
}
