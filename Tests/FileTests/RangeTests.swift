import Foundation
import LoadingKit
import TestSupport
import Testing

/// The `Range` field (RFC 9110 §14.1.2).
@Suite struct RangeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test func parts() async throws {
        let file = try folder.write("0123456789", to: "digits")
        let parts = [
            ("bytes=0-3", "0123"), ("bytes=4-", "456789"), ("bytes=-3", "789"), ("bytes=9-9", "9"), ("bytes=0-0", "0"),
            ("bytes=0-", "0123456789"), ("bytes=3-99", "3456789"), ("bytes=-99", "0123456789"), ("BYTES=2-2", "2"),
            ("bytes=8-18446744073709551616", "89"), ("bytes=-18446744073709551616", "0123456789"),
            ("bytes=8-9223372036854775807", "89"), ("bytes=0008-0009", "89"),
        ]
        for (range, text) in parts {
            let (data, response) = try await Loading.load(file, range: range)
            #expect(String(decoding: data, as: UTF8.self) == text, "\(range)")
            #expect(response.expectedContentLength == Int64(text.utf8.count), "\(range)")
        }
    }

    /// Malformed ones, those of other units, and several (RFC 9110 §14.2 allows it).
    @Test func ignored() async throws {
        let file = try folder.write("0123456789", to: "digits")
        let ranges = [
            "bytes=5-2", "bytes=a-b", "bytes=", "bytes=-", "bytes=1-2,4-5", "bytes=1-2, ", "items=0-3", "bytes 0-3",
            "bytes=--1", "bytes=+1-3", "bytes=1-+3", "0-3", "bytes=1-2-3", "bytes=1", "bytes=\u{661}-", "bytes=0x1-",
            "bytes=1.0-2",
        ]
        for range in ranges { #expect(try await Loading.text(file, range: range) == "0123456789", "\(range)") }
    }

    @Test func unsatisfiable() async throws {
        let file = try folder.write("0123456789", to: "digits")
        let ranges = [
            "bytes=11-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-", "bytes=9223372036854775807-",
        ]
        for range in ranges {
            let (code, words) = await Loading.failure(file, range: range)
            #expect(code == .resourceUnavailable, "\(range)")
            #expect(words == "the range lies behind the end of the file, which has 10 bytes")
        }
        let empty = try folder.write("", to: "empty")
        #expect(await Loading.failure(empty, range: "bytes=0-").code == .resourceUnavailable)
        #expect(try await Loading.text(empty, range: "bytes=-5") == "")
        try await Loading.waitUntilClosed(folder.url)
    }

    /// The rest of a file of which everything is there.
    @Test func fromTheEnd() async throws {
        let file = try folder.write("0123456789", to: "digits")
        let (data, response) = try await Loading.load(file, range: "bytes=10-")
        #expect(data.isEmpty && response.expectedContentLength == 0)
    }

    /// Over several of the pieces that are read, and far into a file that is larger than a number of 32 bits.
    @Test func ofLargeFiles() async throws {
        let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let file = try folder.write(bytes, to: "file")
        #expect(try await Loading.load(file, range: "bytes=100-900000").data == bytes[100...900_000])
        #expect(try await Loading.load(file, range: "bytes=-300000").data == bytes.suffix(300_000))
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 1 << 33)
        try handle.seek(toOffset: 1 << 33)
        try handle.write(contentsOf: Data("end".utf8))
        try handle.close()
        #expect(try await Loading.load(file, range: "bytes=8589934591-").data == Data("\0end".utf8))
    }
}
