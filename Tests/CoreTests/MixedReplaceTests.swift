import Foundation
import Testing

@testable import LoadingKitCore

@Suite struct MixedReplaceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var boundary = "b"
        let body: String
        /// Fields and bytes of each part.
        let parts: [String]
    }

    static let cases = [
        Case(
            testDescription: "two parts", body: "--b\r\nA: 1\r\n\r\none\r\n--b\r\nA: 2\r\n\r\ntwo\r\n--b--\r\n",
            parts: ["A=1 one", "A=2 two"]),
        Case(
            testDescription: "preamble, epilogue", body: "hello\r\n--b\r\n\r\none\r\n--b--\r\nbye --b\r\n",
            parts: [" one"]),
        Case(
            testDescription: "bare line feeds", body: "--b\nA: 1\n\none\n--b\n\ntwo\n--b--", parts: ["A=1 one", " two"]),
        Case(
            testDescription: "a boundary with its hyphens", boundary: "--b", body: "--b\r\n\r\none\r\n--b--",
            parts: [" one"]),
        Case(testDescription: "no end", body: "--b\r\n\r\none\r\n--b\r\n\r\ntwo", parts: [" one", " two"]),
        Case(testDescription: "empty parts", body: "--b\r\n\r\n\r\n--b\r\n\r\n\r\n--b--", parts: [" ", " "]),
        Case(
            testDescription: "what looks like a delimiter", body: "--b\r\n\r\n-- b \r\n-b \r\n--\r\n--b--",
            parts: [" -- b \r\n-b \r\n--"]),
        Case(testDescription: "spaces behind a delimiter", body: "--b \t\r\n\r\none\r\n--b--", parts: [" one"]),
        Case(testDescription: "no parts", body: "nothing", parts: []),
    ]

    @Test(arguments: cases) func partsAreFound(_ test: Case) throws {
        let bytes = Array(test.body.utf8)
        for size in 1...bytes.count {
            var reader = try #require(MixedReplaceReader("multipart/x-mixed-replace; boundary=\"\(test.boundary)\""))
            var parts: [String] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { reader.append($0) }
                try Self.read(&reader, &parts)
            }
            reader.finish()
            try Self.read(&reader, &parts)
            #expect(parts == test.parts, "in pieces of \(size)")
        }
    }

    private static func read(_ reader: inout MixedReplaceReader, _ parts: inout [String]) throws {
        while let event = try reader.next() {
            switch event {
            case .part(let fields): parts.append(fields.map { "\($0)=\($1)" }.joined() + " ")
            case .data(let data): parts[parts.count - 1] += String(decoding: data, as: UTF8.self)
            }
        }
    }

    @Test func otherTypesAreNotTakenApart() {
        for type in [nil, "text/html", "multipart/mixed; boundary=b", "multipart/x-mixed-replace", "garbage"] {
            #expect(MixedReplaceReader(type).map { _ in true } == nil, "\(type ?? "none")")
        }
    }

    @Test func aHeadWithoutEndIsAnError() throws {
        var reader = try #require(MixedReplaceReader("multipart/x-mixed-replace; boundary=b"))
        Array("--b\r\n".utf8).withUnsafeBytes { reader.append($0) }
        [UInt8](repeating: 0x61, count: 100_000).withUnsafeBytes { reader.append($0) }
        #expect(throws: LoadFailure.self) { try reader.next() }
    }
}
