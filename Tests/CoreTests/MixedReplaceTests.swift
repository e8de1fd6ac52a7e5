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
        Case(
            testDescription: "a delimiter that begins like itself", boundary: "--a--ab",
            body: "--a--a--a--ab\r\n\r\n--a--a--a--a\r\n--a--ab\r\n\r\n\r\n\n--a--ab--",
            parts: [" --a--a--a--a", " \r\n"]),
        Case(
            testDescription: "line breaks that are not a delimiter's", body: "--b\r\n\r\n\r\n\r\r\n\none\n\r\n--b--",
            parts: [" \r\n\r\r\n\none\n"]),
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

    /// However the body comes, and however many parts have come before.
    @Test func noByteIsLookedAtTwice() throws {
        let head = "--b\r\n" + String(repeating: "X-Field: a value of some length\r\n", count: 100) + "\r\n"
        let body = Array(String(repeating: head + "--\r\n--x\r\n", count: 20).utf8)
        for size in [1, 7, 1000, body.count] {
            var reader = try #require(MixedReplaceReader("multipart/x-mixed-replace; boundary=b"))
            var parts: [String] = []
            for start in stride(from: 0, to: body.count, by: size) {
                body[start..<min(start + size, body.count)].withUnsafeBytes { reader.append($0) }
                try Self.read(&reader, &parts)
            }
            #expect(parts.count == 20 && reader.scannedBytes == body.count, "in pieces of \(size)")
        }
    }

    /// What is held back is what may be a delimiter's beginning, and the line break before it.
    @Test func aPieceIsGivenAsSoonAsItCan() throws {
        var reader = try #require(MixedReplaceReader("multipart/x-mixed-replace; boundary=frame"))
        for (bytes, expected) in [
            ("--frame\r\n\r\n", ""), ("image", "image"), ("one\r\n", "one"), ("--fr", ""), ("ame", ""),
            ("\r\n\r\n", ""),
            ("two--fr", "two"), ("x", "--frx"), ("\r", ""), ("three", "\rthree"),
        ] {
            Array(bytes.utf8).withUnsafeBytes { reader.append($0) }
            var parts = [""]
            try Self.read(&reader, &parts)
            #expect(parts.joined().trimmingPrefix(" ") == expected, "after \(bytes)")
        }
    }

    /// The other fields stay as they are: their order, their names, and each value of a name.
    @Test(arguments: [0, 10]) func aPartHasTheFieldsThatItDoesNotReplace(others: Int) throws {
        let url = try #require(URL(string: "http://h/"))
        let whole = HTTPURLResponse(
            url: url, statusCode: 203, httpVersion: "HTTP/2",
            headerFields: [
                (name: "content-type", value: "multipart/x-mixed-replace; boundary=b"),
                (name: "Set-Cookie", value: "a=1, b"), (name: "x-two", value: "2"),
                (name: "Content-Length", value: "9"), (name: "x-one", value: "1"), (name: "Set-Cookie", value: "c=2"),
                (name: "X-Two", value: "3"),
            ])
        var fields = ["CONTENT-TYPE": "image/png", "X-TWO": "4", "": "5"]
        for index in 0..<others { fields["Y-\(index)"] = "6" }
        let part = try #require(whole.part(fields) as? HTTPURLResponse)
        let expected =
            ["Set-Cookie: a=1, b", "x-one: 1", "Set-Cookie: c=2", "CONTENT-TYPE: image/png", "X-TWO: 4"]
            + (0..<others).map { "Y-\($0): 6" }
        #expect(part.headerFields.map { "\($0.name): \($0.value)" } == expected)
        #expect(part.url == url && part.statusCode == 203 && part.httpVersion == "HTTP/2")
        #expect(part.mimeType == "image/png" && part.expectedContentLength == -1)
        #expect(whole.part(["content-length": "7"]).expectedContentLength == 7)
    }

    @Test func aHeadOfTooManyFieldsIsAnError() throws {
        for count in [1000, 1001] {
            var reader = try #require(MixedReplaceReader("multipart/x-mixed-replace; boundary=b"))
            let fields = (0..<count).map { "a\($0):1\r\n" }.joined()
            Array("--b\r\n\(fields)\r\n".utf8).withUnsafeBytes { reader.append($0) }
            if count == 1000 {
                #expect(try reader.next() != nil)
            } else {
                #expect(throws: LoadFailure.self) { try reader.next() }
            }
        }
    }

    @Test func aHeadWithoutEndIsAnError() throws {
        var reader = try #require(MixedReplaceReader("multipart/x-mixed-replace; boundary=b"))
        Array("--b\r\n".utf8).withUnsafeBytes { reader.append($0) }
        [UInt8](repeating: 0x61, count: 100_000).withUnsafeBytes { reader.append($0) }
        #expect(throws: LoadFailure.self) { try reader.next() }
    }
}
