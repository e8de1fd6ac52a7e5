import Foundation
import LoadingKitDataURL
import TestSupport
import Testing

/// The web platform's tests of `data:` URLs and of forgiving base64; every case.
@Suite struct ConformanceTests {
    @Test(.requires(.dataURLs)) func dataURLs() throws {
        let cases = try Self.cases("data-urls.json")
        #expect(cases.count == 78)
        for test in cases {
            let input = try #require(test.first as? String)
            // That is no URL at all, as its port is no number: what makes URLs refuses it.
            if input == "data://test:test/,X" {
                #expect(URL(string: input) == nil && test[1] is NSNull)
                continue
            }
            let data = DataURL(Self.serialized(input))
            #expect(data?.mimeType.serialized == test[1] as? String, "\(input)")
            if test.count > 2 { #expect(data?.body == Self.bytes(test[2]), "\(input)") }
        }
    }

    @Test(.requires(.dataURLs)) func forgivingBase64() throws {
        let cases = try Self.cases("base64.json")
        #expect(cases.count == 80)
        for test in cases {
            let input = try #require(test.first as? String)
            #expect(ForgivingBase64.decode(input.utf8) == Self.bytes(test[1]), "\(input.debugDescription)")
            // The same within a URL.
            let field = input.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(DataURL("data:;base64,\(field)")?.body == Self.bytes(test[1]), "\(input.debugDescription)")
        }
    }

    /// Every text of a few characters that mean something: refused, or no longer than it was.
    @Test func shortTexts() {
        let alphabet = ["%", "A", "4", "=", ",", ";", "base64", "/", "#", " ", "\"", "\u{e9}"]
        var texts = [""]
        var accepted = 0
        for _ in 0..<4 {
            texts = texts.flatMap { text in alphabet.map { text + $0 } }
            let bodies = texts.compactMap { text in DataURL("data:" + text).map { (text, $0.body) } }
            #expect(bodies.filter { $1.count > $0.utf8.count }.map(\.0) == [])
            accepted += bodies.count
        }
        #expect((1..<texts.count).contains(accepted))
    }

    private static func cases(_ path: String) throws -> [[Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(contentsOf: ConformanceTable.dataURLs.url(path)))
        return try #require(json as? [[Any]])
    }

    private static func bytes(_ value: Any) -> [UInt8]? {
        (value as? [Any])?.compactMap { ($0 as? NSNumber)?.uint8Value }
    }

    /// As a URL parser leaves an opaque path: what is no printable ASCII is percent-encoded (URL Standard, "C0 control
    /// percent-encode set"). The tests' inputs are what stands in a page.
    private static func serialized(_ input: String) -> String {
        let parts = input.utf8.map { byte in
            (0x20...0x7e).contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return parts.joined()
    }
}
