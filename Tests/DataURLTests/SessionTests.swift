import Foundation
import LoadingKit
import TestSupport
import Testing

/// `data:` URLs through a session, as programs load them.
@Suite struct SessionTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let url: String
        var type: String? = "text/plain"
        var charset: String? = nil
        let body: [UInt8]
        var testDescription: String { String(url.prefix(60)) }

        init(_ url: String, _ type: String? = "text/plain", charset: String? = nil, _ body: [UInt8]) {
            (self.url, self.type, self.charset, self.body) = (url, type, charset, body)
        }

        init(_ url: String, _ type: String? = "text/plain", charset: String? = nil, _ body: String) {
            self.init(url, type, charset: charset, Array(body.utf8))
        }
    }

    private static let cases = [
        Case("data:,hello", charset: "us-ascii", "hello"),
        Case("data:,", charset: "us-ascii", ""),
        Case("DATA:text/html;charset=UTF-8,%3Cp%3E", "text/html", charset: "utf-8", "<p>"),
        Case("data:text/plain;charset=\u{e9},x", charset: "%c3%a9", "x"),
        Case("data:image/gif;base64,R0lGODdh", "image/gif", "GIF87a"),
        Case("data:image/gif;base64,R0lG\nODdh", "image/gif", "GIF87a"),
        Case("data:;base64,QUI", charset: "us-ascii", "AB"),
        Case("data:application/octet-stream,%00%ff%FE", "application/octet-stream", [0, 255, 254]),
        Case("data:,a b#c", charset: "us-ascii", "a b"),
        Case("data:,a?b=c&d", charset: "us-ascii", "a?b=c&d"),
        Case("data:,\u{20ac}", charset: "us-ascii", "\u{20ac}"),
        Case("data:;charset=utf-8,a,b;c", charset: "utf-8", "a,b;c"),
        Case("data:nonsense,x", charset: "us-ascii", "x"),
        Case("data://host/,x", charset: "us-ascii", "x"),
        Case("data:,/../a/./b", charset: "us-ascii", "/../a/./b"),
    ]

    private static let session = URLSession(configuration: .ephemeral)

    @Test(arguments: cases) private func loads(_ test: Case) async throws {
        let url = try #require(URL(string: test.url))
        let (data, response) = try await withTimeout { try await Self.session.data(from: url) }
        #expect(Array(data) == test.body)
        #expect(response.mimeType == test.type && response.textEncodingName == test.charset)
        #expect(response.url == url && response.expectedContentLength == Int64(test.body.count))
        #expect(!(response is HTTPURLResponse))
    }

    @Test(arguments: ["data:", "data:text/html", "data:text/html;base64", "data:;base64,A", "data:;base64,\u{20ac}AA"])
    func refuses(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let error = await #expect(throws: URLError.self) {
            try await withTimeout { try await Self.session.data(from: url) }
        }
        #expect(error?.code == .badURL && error?.failingURL == url)
        let reason = (error?.userInfo[NSUnderlyingErrorKey] as? any Error)?.localizedDescription ?? ""
        #expect(reason == "this is not a valid data: URL: it has no comma, or its base64 is invalid")
    }

    /// Not what a browser gives, as Foundation's `URL(string:)` encodes more than the URL Standard: spaces, which
    /// then stand in the type as `%20`; and where anything is to be encoded, every `%` as well.
    private static let encodedOtherwise: Set = [
        "data:text/plain ,X", "data:text/html  ,X", "data:text / html,X",
        "data: ,%FF", "data:\u{c},%FF", "data:\u{0},%FF", "data:; base64,WA", "data:;  base64,WA",
        "data:  ;charset=x   ;  base64,WA", "data:;base64 ,WA", "data:;base64   ,WA",
    ]

    @Test(.requires(.dataURLs)) func theWebsTests() async throws {
        let data = try Data(contentsOf: ConformanceTable.dataURLs.url("data-urls.json"))
        let json = try JSONSerialization.jsonObject(with: data)
        for test in try #require(json as? [[Any]]) {
            let input = try #require(test.first as? String)
            guard let url = URL(string: input) else {
                #expect(test[1] is NSNull, "\(input)")
                continue
            }
            let loaded = try? await withTimeout { try await Self.session.data(from: url) }
            let essence = (test[1] as? String)?.prefix { $0 != ";" }.lowercased()
            let body = (test.last as? [Any])?.compactMap { ($0 as? NSNumber)?.uint8Value }
            let isSame = loaded?.1.mimeType == essence && loaded.map { Array($0.0) } == body
            #expect(isSame != Self.encodedOtherwise.contains(input), "\(input): \(loaded as Any)")
        }
    }

    @Test func aLargeBody() async throws {
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) })
        let url = try #require(URL(string: "data:application/x-large;base64,\(body.base64EncodedString())"))
        let (data, _) = try await withTimeout { try await Self.session.data(from: url) }
        #expect(data == body)
    }
}
